// Instructions stand in the order in which they use one another, so that each is a line.
#include "backends/generated/loop_text.h"

#include "backends/planning/plan.h"
#include "core/text/text.h"
#include <stdio.h>

const struct loop_access *loop_access_at(const struct loop *l, int i)
{
    return i < l->n_operands ? &l->operands[i] : &l->results[i - l->n_operands].to;
}

void loop_text_name(uint16_t value, char ret_name[VALUE_NAME_SIZE])
{
    bool is_instruction = value & VALUE_OF_INSTRUCTION;
    snprintf(ret_name, VALUE_NAME_SIZE, "%c%d", is_instruction ? 't' : 'x', value & ~VALUE_OF_INSTRUCTION);
}

int loop_text_reduction(const struct loop *l)
{
    return FIRST_OF(int, i, l->n_instructions, l->instructions[i].kind == INSTRUCTION_REDUCE);
}

static void add_instruction(struct text *text, const struct dialect *d, const struct loop *l, int number)
{
    text_printf(text, "const %s t%d = ", d->type, number);
    d->add_value(text, l, &l->instructions[number]);
    text_add(text, ";\n");
}

void loop_text_add(struct text *text, const struct dialect *d, const struct loop *l)
{
    for (int i = 0; i < loop_text_reduction(l); i++)
        add_instruction(text, d, l, i);
}

void loop_text_add_behind(struct text *text, const struct dialect *d, const struct loop *l)
{
    int reduction = loop_text_reduction(l);
    for (int i = 0; i < l->n_instructions; i++)
        if (i > reduction || (i < reduction && l->instructions[i].kind == INSTRUCTION_CONSTANT))
            add_instruction(text, d, l, i);
}
