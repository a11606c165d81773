// The identity of a step, as words to be hashed and as text: the same facts in the same order. Memories are numbered in
// the order in which the step mentions them; places in memory do not matter, nor do strides of axes of size 1.
#include "backends/planning/plan_text.h"

#include "backends/limits.def"
#include "backends/planning/plan_memory.h"
#include "core/memory/hash.h"
#include "core/text/text.h"
#include "operators/operator.h"
#include <stdlib.h>
#include <string.h>

#define MAX_KNOWN 256
struct numbering {
    int n;
    memory_id known[MAX_KNOWN];
};

static int number_of(struct numbering *numbers, memory_id memory)
{
    for (int i = 0; i < numbers->n; i++)
        if (numbers->known[i] == memory)
            return i;
    if (numbers->n < MAX_KNOWN)
        numbers->known[numbers->n] = memory;
    return numbers->n < MAX_KNOWN ? numbers->n++ : MAX_KNOWN;
}

// --- words -----------------------------------------------------------------------------------------------------------

static int64_t stride_that_matters(int64_t dim, int64_t stride)
{
    return dim == 1 ? 0 : stride;
}

static void encode_strides(struct words *w, int n, const int64_t *dim, const int64_t *stride)
{
    for (int i = 0; i < n; i++)
        vec_push(&w->list, stride_that_matters(dim[i], stride[i]));
}

static void encode_view(struct words *w, const struct plan *plan, struct numbering *numbers, const struct view *v)
{
    vec_push(&w->list, (int64_t)v->block << 48 | (int64_t)v->block_axis << 40 | number_of(numbers, v->memory) << 16 |
                           plan_keeps(plan, v->memory) << 12 | v->dtype << 4 | v->rank);
    words_add(w, (uint32_t)v->rank, v->dim);
    encode_strides(w, v->rank, v->dim, v->stride);
}

static void encode_access(struct words *w, const struct plan *plan, struct numbering *numbers,
                          const struct loop_access *a, int rank, const int64_t *dim)
{
    vec_push(&w->list, (int64_t)a->block << 48 | (int64_t)a->block_variable << 40 |
                           number_of(numbers, a->memory) << 16 | plan_keeps(plan, a->memory) << 12 | a->dtype << 4);
    encode_strides(w, rank, dim, a->stride);
}

static void encode_instruction(struct words *w, const struct instruction *i)
{
    vec_push(&w->list,
             (int64_t)i->kind << 56 | (int64_t)i->fn << 48 | (int64_t)i->a << 32 | (int64_t)i->b << 16 | i->c);
    if (i->kind == INSTRUCTION_CONSTANT)
        vec_push(&w->list, real_to_bits(i->constant));
}

static void encode_loop(struct words *w, const struct plan *plan, struct numbering *numbers, const struct loop *l)
{
    int rank = l->rank + l->n_reduced;
    vec_push(&w->list, (int64_t)l->rank << 48 | (int64_t)l->n_reduced << 40 | l->n_operands << 24 |
                           l->n_instructions << 8 | l->n_results);
    words_add(w, (uint32_t)rank, l->dim);
    for (int i = 0; i < l->n_operands; i++)
        encode_access(w, plan, numbers, &l->operands[i], rank, l->dim);
    for (int i = 0; i < l->n_instructions; i++)
        encode_instruction(w, &l->instructions[i]);
    for (int i = 0; i < l->n_results; i++) {
        vec_push(&w->list, l->results[i].value);
        encode_access(w, plan, numbers, &l->results[i].to, l->rank, l->dim);
    }
}

void step_encode(const struct plan *plan, const struct step *s, struct words *ret_words)
{
    struct numbering numbers = {.n = 0};
    vec_clear(&ret_words->list);
    vec_push(&ret_words->list, (int64_t)hash_string(s->kernel->name));
    vec_push(&ret_words->list, (int64_t)s->n_operands << 40 | s->n_results << 24 | s->n_loops << 8 | s->n_shared);
    for (int i = 0; i < s->n_parts; i++)
        if (s->parts[i].node != NO_NODE)
            words_add_operation(ret_words, &plan->graph->nodes.items[s->parts[i].node]);
    if (!s->n_parts && s->node != NO_NODE && (s->n_operands || s->n_results))
        words_add_operation(ret_words, &plan->graph->nodes.items[s->node]);
    for (int i = 0; i < s->n_operands; i++)
        encode_view(ret_words, plan, &numbers, &s->operands[i]);
    for (int i = 0; i < s->n_results; i++)
        encode_view(ret_words, plan, &numbers, &s->results[i]);
    for (int i = 0; i < s->n_loops; i++)
        encode_loop(ret_words, plan, &numbers, &s->loops[i]);
}

// --- text ------------------------------------------------------------------------------------------------------------

static void print_numbers(struct text *out, const char *open, const char *separator, const char *close, int n,
                          const int64_t *numbers)
{
    text_add(out, open);
    for (int i = 0; i < n; i++) {
        text_add(out, i ? separator : "");
        text_add_int(out, numbers[i]);
    }
    text_add(out, close);
}

static void print_strides(struct text *out, int n, const int64_t *dim, const int64_t *stride)
{
    int64_t shown[LOOP_MAX_RANK];
    for (int i = 0; i < n; i++)
        shown[i] = stride_that_matters(dim[i], stride[i]);
    print_numbers(out, "/", ",", "", n, shown);
}

static void print_memory(struct text *out, const struct plan *plan, struct numbering *numbers, memory_id memory,
                         enum dtype dtype)
{
    text_add(out, plan_keeps(plan, memory) ? " w" : " m");
    text_add_int(out, number_of(numbers, memory));
    text_add(out, ":");
    text_add(out, dtype_name(dtype));
}

static void print_view(struct text *out, const struct plan *plan, struct numbering *numbers, const struct view *v)
{
    print_memory(out, plan, numbers, v->memory, v->dtype);
    print_numbers(out, "[", "x", "]", v->rank, v->dim);
    if (view_has_layout(v, LAYOUT_ROWS))
        return;
    if (view_has_layout(v, LAYOUT_CHANNELS_LAST))
        text_add(out, "/last");
    else
        print_strides(out, v->rank, v->dim, v->stride);
    if (v->block)
        text_printf(out, "b%d@%d", v->block, v->block_axis);
}

static void print_value(struct text *out, uint16_t value)
{
    text_add(out, value & VALUE_OF_INSTRUCTION ? "%" : "$");
    text_add_int(out, value & ~VALUE_OF_INSTRUCTION);
}

static void print_instruction(struct text *out, const struct instruction *i)
{
    text_add(out, " ");
    if (i->kind == INSTRUCTION_CONSTANT) {
        text_add_real(out, i->constant);
        return;
    }
    int arity = i->kind == INSTRUCTION_APPLY ? function_arity((enum scalar_function)i->fn) : 1;
    text_printf(out, "%s%s(", i->kind == INSTRUCTION_REDUCE ? "reduce-" : "",
                function_name((enum scalar_function)i->fn));
    for (int k = 0; k < arity; k++) {
        text_add(out, k ? "," : "");
        print_value(out, k == 0 ? i->a : k == 1 ? i->b : i->c);
    }
    text_add(out, ")");
}

static void print_loop(struct text *out, const struct plan *plan, struct numbering *numbers, const struct loop *l)
{
    int rank = l->rank + l->n_reduced;
    print_numbers(out, " {[", "x", "]", l->rank, l->dim);
    if (l->n_reduced)
        print_numbers(out, " reduce[", "x", "]", l->n_reduced, l->dim + l->rank);
    for (int i = 0; i < l->n_operands; i++) {
        print_memory(out, plan, numbers, l->operands[i].memory, l->operands[i].dtype);
        print_strides(out, rank, l->dim, l->operands[i].stride);
        if (l->operands[i].block)
            text_printf(out, "b%d@%d", l->operands[i].block, l->operands[i].block_variable);
    }
    for (int i = 0; i < l->n_instructions; i++)
        print_instruction(out, &l->instructions[i]);
    text_add(out, " ->");
    for (int i = 0; i < l->n_results; i++) {
        text_add(out, " ");
        print_value(out, l->results[i].value);
        print_memory(out, plan, numbers, l->results[i].to.memory, l->results[i].to.dtype);
        print_strides(out, l->rank, l->dim, l->results[i].to.stride);
    }
    text_add(out, "}");
}

static void print_node(struct text *out, const struct node *n)
{
    text_printf(out, " %s", n->op->name);
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        if (n->attributes[i].count == 0)
            continue;
        text_printf(out, " :%s ", n->op->attributes[i].name);
        attribute_print(out, &n->op->attributes[i], &n->attributes[i]);
    }
}

// --- keys ------------------------------------------------------------------------------------------------------------
//
// What an element-wise loop costs depends on what it reads, computes and writes, hardly on the order: a search that
// moves additions about meets thousands of loops that differ in nothing else. Of sums and the like with many terms not
// even the numbers matter much, but for the cost of one access or instruction: those of about the same length share
// that.

#define LONG_UNITS 12   // of accesses and instructions

static bool is_elementwise(const struct loop *l)
{
    return ALL(int, i, l->n_instructions, l->instructions[i].kind != INSTRUCTION_REDUCE) && l->n_reduced == 0;
}

static bool is_made_of(const struct loop *l, uint64_t functions)
{
    return ALL(int, i, l->n_instructions,
               l->instructions[i].kind == INSTRUCTION_APPLY && functions >> l->instructions[i].fn & 1);
}

// A library may run some epilogues faster than others that compute the same in another order, but not sums.
static bool is_without_order(const struct step *s)
{
    bool is_loop = s->n_operands == 0 && s->n_results == 0;
    return s->n_loops == 1 && is_elementwise(&s->loops[0]) &&
           (is_loop || is_made_of(&s->loops[0], UINT64_C(1) << FN_ADD));
}

static int units_of(const struct loop *l)
{
    return l->n_operands + l->n_instructions + l->n_results;
}

static bool is_long(const struct step *s)
{
    const uint64_t cheap = UINT64_C(1) << FN_ADD | UINT64_C(1) << FN_SUB | UINT64_C(1) << FN_MUL |
                           UINT64_C(1) << FN_MAX | UINT64_C(1) << FN_MIN;
    return s->n_operands == 0 && s->n_results == 0 && units_of(&s->loops[0]) >= LONG_UNITS &&
           is_made_of(&s->loops[0], cheap);
}

static void print_access(struct text *out, const struct plan *plan, const struct loop_access *a, int rank,
                         const int64_t *dim)
{
    text_printf(out, "%s:%s", plan_keeps(plan, a->memory) ? "w" : "m", dtype_name(a->dtype));
    print_strides(out, rank, dim, a->stride);
    if (a->block)
        text_printf(out, "b%d@%d", a->block, a->block_variable);
}

COMPARISON(compare_texts, struct text, strcmp(x->chars, y->chars))

// Sorted, and those alike once, with their number if that is wanted. Takes the texts.
static void print_sorted(struct text *out, struct text *texts, int n, bool has_numbers)
{
    if (n)
        qsort(texts, (size_t)n, sizeof *texts, compare_texts);
    for (int i = 0, alike = 1; i < n; i++, alike++) {
        if (i + 1 < n && compare_texts(&texts[i], &texts[i + 1]) == 0)
            continue;
        text_add(out, " ");
        if (alike > 1 && has_numbers)
            text_printf(out, "%d x ", alike);
        text_add(out, texts[i].chars);
        alike = 0;
    }
    for (int i = 0; i < n; i++)
        text_free(&texts[i]);
    memset(texts, 0, (size_t)n * sizeof *texts);
}

static void print_loop_without_order(struct text *out, const struct plan *plan, const struct loop *l, bool has_numbers)
{
    LOCAL_ZEROS(struct text, texts, units_of(l) + 1);
    print_numbers(out, " sorted {[", "x", "]", l->rank, l->dim);
    for (int i = 0; i < l->n_operands; i++)
        print_access(&texts[i], plan, &l->operands[i], l->rank, l->dim);
    print_sorted(out, texts, l->n_operands, has_numbers);
    for (int i = 0; i < l->n_instructions; i++)
        if (l->instructions[i].kind == INSTRUCTION_CONSTANT)
            text_add_real(&texts[i], l->instructions[i].constant);
        else
            text_add(&texts[i], function_name((enum scalar_function)l->instructions[i].fn));
    print_sorted(out, texts, l->n_instructions, has_numbers);
    text_add(out, " ->");
    for (int i = 0; i < l->n_results; i++)
        print_access(&texts[i], plan, &l->results[i].to, l->rank, l->dim);
    print_sorted(out, texts, l->n_results, has_numbers);
    text_add(out, "}");
}

static void print_range_of(struct text *out, int units)
{
    double low = LONG_UNITS;
    while (low * GROWTH_OF_RANGES <= units)
        low *= GROWTH_OF_RANGES;
    text_printf(out, " each of %.0f", low);
}

static void print_step(struct text *out, const struct plan *plan, const struct step *s, bool is_key)
{
    struct numbering numbers = {.n = 0};
    text_add(out, s->kernel->name);
    for (int i = 0; i < s->n_parts; i++)
        if (s->parts[i].node != NO_NODE)
            print_node(out, &plan->graph->nodes.items[s->parts[i].node]);
    if (!s->n_parts && s->node != NO_NODE && (s->n_operands || s->n_results))
        print_node(out, &plan->graph->nodes.items[s->node]);
    for (int i = 0; i < s->n_operands; i++)
        print_view(out, plan, &numbers, &s->operands[i]);
    if (s->n_results)
        text_add(out, " ->");
    for (int i = 0; i < s->n_results; i++)
        print_view(out, plan, &numbers, &s->results[i]);
    if (s->n_shared)
        text_printf(out, " shared %d", s->n_shared);
    for (int i = 0; i < s->n_loops; i++)
        if (is_key && is_without_order(s))
            print_loop_without_order(out, plan, &s->loops[i], !is_long(s));
        else
            print_loop(out, plan, &numbers, &s->loops[i]);
}

void step_print(struct text *out, const struct plan *plan, const struct step *s)
{
    print_step(out, plan, s, false);
}

void step_print_line(struct text *out, const struct plan *plan, const struct step *s)
{
    bool has_choice = s->way.choice && *s->way.choice;
    step_print(out, plan, s);
    if (has_choice)
        text_printf(out, " by %s", s->way.choice);
    if (has_choice && s->way.error > 0)
        text_printf(out, ", error %.1e", s->way.error);
    text_add(out, "   ;");
    for (node_id n = s->origin.first_node; n != NO_NODE; n = plan->next_node[n])
        text_printf(out, " %s", plan->graph->nodes.items[n].op->name);
    text_add(out, s->origin.first_node == NO_NODE ? " copy\n" : "\n");
}

int step_print_key(struct text *out, const struct plan *plan, const struct step *s)
{
    print_step(out, plan, s, true);
    if (!is_without_order(s) || !is_long(s))
        return 1;
    print_range_of(out, units_of(&s->loops[0]));
    return units_of(&s->loops[0]);
}

void plan_print(struct text *out, const struct plan *plan)
{
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct step *s = &plan->steps.items[i];
        text_printf(out, "%zu%s ", i, s->is_constant ? " (once)" : "");
        step_print_line(out, plan, s);
    }
}
