// Makes tapes: computations are unrolled, ranked by what they read, numbered, and cut into runs of one instruction.
#include "expressions/evaluation/tape.h"

#include "core/memory/arena.h"
#include "expressions/evaluation/tape_code.h"
#include "expressions/evaluation/tape_unroll.h"
#include <stdlib.h>

struct ranked {
    const struct value *value;
    uint32_t id;
};

static bool is_computed(const struct value *v)
{
    return v->level > 0;
}

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value->level != y->value->level)
        return x->value->level - y->value->level;
    if (x->value->action != y->value->action)
        return x->value->action - y->value->action;
    if (x->value->fn != y->value->fn)
        return x->value->fn - y->value->fn;
    return x->id < y->id ? -1 : 1;
}

// Operands of one sum for each entry are.
static bool are_in_order(const struct ranked *ranked, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (compare_ranked(&ranked[i - 1], &ranked[i]) > 0)
            return false;
    return true;
}

static void number_constants(struct unrolling *u, struct tape *t, struct arena *arena)
{
    size_t n = u->constants.count;
    uint64_t *constants = arena_array(arena, uint64_t, n);
    for (size_t i = 0; i < n; i++) {
        struct value *v = &u->values.items[u->constants.items[i]];
        v->number = t->first_constant + (uint32_t)i;
        constants[i] = v->constant;
    }
    t->n_constants = (uint32_t)n;
    t->constants = constants;
}

static struct ranked *number_computed(struct unrolling *u, const struct tape *t, uint32_t *ret_n, struct arena *scratch)
{
    struct ranked *ranked = arena_array(scratch, struct ranked, u->values.count + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < u->values.count; i++) {
        if (i < t->first_constant)
            u->values.items[i].number = i;
        if (is_computed(&u->values.items[i]))
            ranked[n++] = (struct ranked){&u->values.items[i], i};
    }
    if (!are_in_order(ranked, n))
        qsort(ranked, n, sizeof *ranked, compare_ranked);
    for (uint32_t i = 0; i < n; i++)
        u->values.items[ranked[i].id].number = t->first_constant + t->n_constants + i;
    *ret_n = n;
    return ranked;
}

static bool belong_together(const struct value *x, const struct value *y)
{
    return x->level == y->level && x->action == y->action && x->fn == y->fn;
}

static void make_run(const struct unrolling *u, const struct ranked *ranked, uint32_t n, struct arena *arena,
                     struct run *ret_run)
{
    const struct value *first = ranked[0].value;
    uint32_t all = 0, *counts = arena_array(arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        all += counts[i] = ranked[i].value->count;
    uint16_t *operands = arena_array(arena, uint16_t, all);
    *ret_run = (struct run){first->action, first->fn, first->number, n, counts, operands};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < ranked[i].value->count; k++)
            *operands++ = (uint16_t)u->values.items[u->operands.items[ranked[i].value->first + k]].number;
}

static void make_runs(const struct unrolling *u, struct tape *t, const struct ranked *ranked, uint32_t n,
                      struct arena *arena)
{
    struct run *runs = arena_array(arena, struct run, n);
    for (uint32_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && belong_together(ranked[first].value, ranked[end].value);)
            end++;
        make_run(u, &ranked[first], end - first, arena, &runs[t->n_runs++]);
    }
    t->runs = runs;
}

static void make_outputs(const struct unrolling *u, struct tape *t, const struct unrolled_output *unrolled,
                         struct arena *arena)
{
    size_t *elements = arena_array(arena, size_t, t->n_outputs);
    const uint16_t **outputs = arena_array(arena, const uint16_t *, t->n_outputs);
    for (int i = 0; i < t->n_outputs; i++) {
        elements[i] = unrolled[i].elements;
        uint16_t *numbers = arena_array(arena, uint16_t, elements[i]);
        for (size_t k = 0; k < elements[i]; k++)
            numbers[k] = (uint16_t)u->values.items[unrolled[i].values[k]].number;
        outputs[i] = numbers;
    }
    t->output_elements = elements;
    t->outputs = outputs;
}

static const struct tape *make_tape(struct unrolling *u, const struct unrolled_output *outputs, struct arena *arena,
                                    struct arena *scratch)
{
    struct tape *t = arena_new(arena, struct tape);
    uint32_t n;
    *t = (struct tape){.key = u->key, .n_inputs = u->d->n_inputs, .n_outputs = u->d->n_outputs};
    for (int i = 0; i < t->n_inputs; i++) {
        t->input_elements[i] = (size_t)type_elements(&u->d->inputs[i]);
        t->first_constant += (uint32_t)t->input_elements[i];
    }
    number_constants(u, t, arena);
    const struct ranked *ranked = number_computed(u, t, &n, scratch);
    t->n_values = t->first_constant + t->n_constants + n;
    make_runs(u, t, ranked, n, arena);
    make_outputs(u, t, outputs, arena);
    return t;
}

const struct tape *tape_make(const struct definition *d, uint64_t key, struct arena *arena)
{
    const struct tape *tape = NULL;
    if (d->is_data_dependent || d->n_inputs > MAX_TAPE_INPUTS)
        return NULL;
    ARENA(scratch);
    struct unrolling u;
    struct unrolled_output *outputs = arena_array(&scratch, struct unrolled_output, d->n_outputs);
    unroll_definition(&u, d, key, &scratch, outputs);
    if (!u.is_too_large)
        tape = make_tape(&u, outputs, arena, &scratch);
    unrolling_free(&u);
    return tape;
}
