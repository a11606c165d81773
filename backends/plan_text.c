// What a step is, as words to be hashed and as text: the same facts in the same order. Memories are numbered in the
// order in which the step mentions them; places in memory do not matter.
#include "backends/plan.h"
#include "core/arena.h"
#include "core/hash.h"
#include "core/text.h"
#include "operators/operator.h"
#include <inttypes.h>
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

static bool is_kept(const struct plan *plan, memory_id memory)
{
    enum memory_place place = plan->memory.items[memory].place;
    return place == MEMORY_WEIGHT || place == MEMORY_CONSTANT;
}

// --- words -----------------------------------------------------------------------------------------------------------

static void spell_numbers(struct words *w, int n, const int64_t *numbers)
{
    for (int i = 0; i < n; i++)
        vec_push(&w->list, numbers[i]);
}

static void spell_view(struct words *w, const struct plan *plan, struct numbering *numbers, const struct view *v)
{
    vec_push(&w->list, number_of(numbers, v->memory) << 16 | is_kept(plan, v->memory) << 12 | v->dtype << 4 | v->rank);
    spell_numbers(w, v->rank, v->dim);
    spell_numbers(w, v->rank, v->stride);
}

static void spell_access(struct words *w, const struct plan *plan, struct numbering *numbers,
                         const struct loop_access *a, int rank)
{
    vec_push(&w->list, number_of(numbers, a->memory) << 16 | is_kept(plan, a->memory) << 12 | a->dtype << 4);
    spell_numbers(w, rank, a->stride);
}

static void spell_instruction(struct words *w, const struct instruction *i)
{
    vec_push(&w->list,
             (int64_t)i->kind << 56 | (int64_t)i->fn << 48 | (int64_t)i->a << 32 | (int64_t)i->b << 16 | i->c);
    if (i->kind == INSTRUCTION_CONSTANT)
        vec_push(&w->list, real_to_bits(i->constant));
}

static void spell_loop(struct words *w, const struct plan *plan, struct numbering *numbers, const struct loop *l)
{
    int rank = l->rank + l->n_reduced;
    vec_push(&w->list, (int64_t)l->rank << 48 | (int64_t)l->n_reduced << 40 | l->n_operands << 24 |
                           l->n_instructions << 8 | l->n_results);
    spell_numbers(w, rank, l->dim);
    for (int i = 0; i < l->n_operands; i++)
        spell_access(w, plan, numbers, &l->operands[i], rank);
    for (int i = 0; i < l->n_instructions; i++)
        spell_instruction(w, &l->instructions[i]);
    for (int i = 0; i < l->n_results; i++) {
        vec_push(&w->list, l->results[i].value);
        spell_access(w, plan, numbers, &l->results[i].to, l->rank);
    }
}

static void spell_node(struct words *w, const struct graph *g, node_id node)
{
    const struct node *n = &g->nodes.items[node];
    vec_push(&w->list, n->op->id);
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        vec_push(&w->list, n->attributes[i].count);
        spell_numbers(w, (int)n->attributes[i].count, n->attributes[i].ints);
    }
}

void step_spell(const struct plan *plan, const struct step *s, struct words *ret_words)
{
    struct numbering numbers = {.n = 0};
    vec_clear(&ret_words->list);
    vec_push(&ret_words->list, (int64_t)hash_string(s->kernel->name));
    vec_push(&ret_words->list, (int64_t)s->n_operands << 40 | s->n_results << 24 | s->n_loops << 8 | s->n_shared);
    if (s->node != NO_NODE && (s->n_operands || s->n_results))
        spell_node(ret_words, plan->graph, s->node);
    for (int i = 0; i < s->n_operands; i++)
        spell_view(ret_words, plan, &numbers, &s->operands[i]);
    for (int i = 0; i < s->n_results; i++)
        spell_view(ret_words, plan, &numbers, &s->results[i]);
    for (int i = 0; i < s->n_loops; i++)
        spell_loop(ret_words, plan, &numbers, &s->loops[i]);
}

// --- text ------------------------------------------------------------------------------------------------------------

static void print_numbers(struct text *out, const char *open, const char *separator, const char *close, int n,
                          const int64_t *numbers)
{
    text_add(out, open);
    for (int i = 0; i < n; i++)
        text_printf(out, "%s%" PRId64, i ? separator : "", numbers[i]);
    text_add(out, close);
}

static void print_memory(struct text *out, const struct plan *plan, struct numbering *numbers, memory_id memory,
                         enum dtype dtype)
{
    text_printf(out, " %s%d:%s", is_kept(plan, memory) ? "w" : "m", number_of(numbers, memory), dtype_name(dtype));
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
        print_numbers(out, "/", ",", "", v->rank, v->stride);
}

static void print_value(struct text *out, uint16_t value)
{
    if (value & VALUE_OF_INSTRUCTION)
        text_printf(out, "%%%d", value & ~VALUE_OF_INSTRUCTION);
    else
        text_printf(out, "$%d", value);
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
        print_numbers(out, "/", ",", "", rank, l->operands[i].stride);
    }
    for (int i = 0; i < l->n_instructions; i++)
        print_instruction(out, &l->instructions[i]);
    text_add(out, " ->");
    for (int i = 0; i < l->n_results; i++) {
        text_add(out, " ");
        print_value(out, l->results[i].value);
        print_memory(out, plan, numbers, l->results[i].to.memory, l->results[i].to.dtype);
        print_numbers(out, "/", ",", "", l->rank, l->results[i].to.stride);
    }
    text_add(out, "}");
}

static void print_attributes(struct text *out, const struct node *n)
{
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        if (n->attributes[i].count == 0)
            continue;
        text_printf(out, " :%s ", n->op->attributes[i].name);
        attribute_print(out, &n->op->attributes[i], &n->attributes[i]);
    }
}

void step_print(struct text *out, const struct plan *plan, const struct step *s)
{
    struct numbering numbers = {.n = 0};
    text_add(out, s->kernel->name);
    if (s->node != NO_NODE && (s->n_operands || s->n_results)) {
        const struct node *n = &plan->graph->nodes.items[s->node];
        text_printf(out, " %s", n->op->name);
        print_attributes(out, n);
    }
    for (int i = 0; i < s->n_operands; i++)
        print_view(out, plan, &numbers, &s->operands[i]);
    if (s->n_results)
        text_add(out, " ->");
    for (int i = 0; i < s->n_results; i++)
        print_view(out, plan, &numbers, &s->results[i]);
    if (s->n_shared)
        text_printf(out, " shared %d", s->n_shared);
    for (int i = 0; i < s->n_loops; i++)
        print_loop(out, plan, &numbers, &s->loops[i]);
}

void plan_print(struct text *out, const struct plan *plan)
{
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct step *s = &plan->steps.items[i];
        text_printf(out, "%zu%s ", i, s->is_constant ? " (once)" : "");
        step_print(out, plan, s);
        text_add(out, "   ;");
        for (node_id n = s->first_node; n != NO_NODE; n = plan->next_node[n])
            text_printf(out, " %s", plan->graph->nodes.items[n].op->name);
        text_add(out, s->first_node == NO_NODE ? " copy\n" : "\n");
    }
}
