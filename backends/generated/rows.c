// Axes are joined first; the last one of each loop is that of vectors. What is left of a row behind whole vectors is
// one more, of which only its entries are read and written.
#include "backends/generated/rows.h"

#include "backends/generated/nest.h"
#include "backends/generated/vector_text.h"
#include "core/memory/arena.h"
#include "core/text/text.h"

struct printing {
    struct text *text;
    struct rows_kernel *kernel;
    struct arena *arena;
    const struct loop *loop;
    int n_shared;
    struct nest shared, outer;   // outer: around the axis of vectors
    int64_t length;              // of that axis
    const int64_t *along;        // distances of every access on it
    bool reduces, is_tail;
};

void rows_kernel_free(struct rows_kernel *k)
{
    vecs_free(k, numbers.list, accesses);
}

// --- forms -----------------------------------------------------------------------------------------------------------

static int n_accesses(const struct loop *l)
{
    return l->n_operands + l->n_results;
}

static struct nest nest_of(const struct printing *p, int first, int n, char letter)
{
    struct nest nest = nest_of_loop(p->loop, first, n, letter, p->arena);
    nest.told = &p->kernel->numbers;
    return nest;
}

// The last axis, or the only one that is reduced, is that of vectors.
static bool find_axes(struct printing *p)
{
    const struct loop *l = p->loop;
    struct nest reduced = nest_of(p, l->rank, l->n_reduced, 'r');
    p->shared = nest_of(p, 0, p->n_shared, 's');
    p->outer = nest_of(p, p->n_shared, l->rank - p->n_shared, 'i');
    p->reduces = l->n_reduced > 0;
    nest_join(&p->outer);
    nest_join(&reduced);
    if (p->reduces ? reduced.n != 1 : p->outer.n == 0)
        return false;
    int last = p->reduces ? 0 : --p->outer.n;
    p->length = (p->reduces ? &reduced : &p->outer)->dim[last];
    p->along = (p->reduces ? &reduced : &p->outer)->stride[last];
    return true;
}

static bool takes_accesses(const struct printing *p)
{
    const struct loop *l = p->loop;
    for (int i = 0; i < n_accesses(l); i++) {
        const struct loop_access *a = loop_access_at(l, i);
        bool may_stay = i < l->n_operands || p->reduces;
        if (a->dtype != DTYPE_F32 || a->block || !(p->along[i] == 1 || (p->along[i] == 0 && may_stay)))
            return false;
    }
    return true;
}

// Behind a reduction there is but one value of a row: no operand or instruction that runs along it.
static bool is_of_row(const struct printing *p, uint16_t value)
{
    int i = value & ~VALUE_OF_INSTRUCTION;
    if (value & VALUE_OF_INSTRUCTION)
        return i >= loop_text_reduction(p->loop) || p->loop->instructions[i].kind == INSTRUCTION_CONSTANT;
    return p->along[i] == 0;
}

static bool takes_what_is_behind(const struct printing *p)
{
    const struct loop *l = p->loop;
    for (int i = loop_text_reduction(l) + 1; i < l->n_instructions; i++) {
        const struct instruction *code = &l->instructions[i];
        bool has_values = code->kind == INSTRUCTION_APPLY, is_binary = has_values && function_arity(code->fn) > 1;
        if ((has_values && !is_of_row(p, code->a)) || (is_binary && !is_of_row(p, code->b)))
            return false;
    }
    return ALL(int, i, l->n_results, is_of_row(p, l->results[i].value));
}

static bool takes_instructions(const struct loop *l)
{
    int reductions = 0;
    EACH(l->instructions, l->n_instructions, code) {
        bool reduces = code->kind == INSTRUCTION_REDUCE;
        reductions += reduces;
        if (reduces ? code->fn != FN_ADD && code->fn != FN_MAX : !vector_text_knows(code))
            return false;
    }
    return reductions == (l->n_reduced > 0);
}

static bool takes_loop(struct printing *p)
{
    return takes_instructions(p->loop) && find_axes(p) && takes_accesses(p) && (!p->reduces || takes_what_is_behind(p));
}

// --- values ----------------------------------------------------------------------------------------------------------

static void print_operands(const struct printing *p, bool is_behind)
{
    for (int i = 0; i < p->loop->n_operands; i++)
        if (p->along[i] == 0)
            text_printf(p->text, "V x%d = ALL(*a%d);\n", i, i);
        else if (!is_behind)
            text_printf(p->text,
                        p->is_tail ? "V x%d = NAMED(load_some)(a%d + i, left);\n" : "V x%d = NAMED(load)(a%d + i);\n",
                        i, i);
}

static void print_map(const struct printing *p)
{
    const struct loop *l = p->loop;
    print_operands(p, false);
    loop_text_add(p->text, &vector_dialect, l);
    for (int i = 0; i < l->n_results; i++) {
        char value[VALUE_NAME_SIZE];
        loop_text_name(l->results[i].value, value);
        text_printf(p->text, p->is_tail ? "NAMED(store_some)(a%d + i, %s, left);\n" : "NAMED(store)(a%d + i, %s);\n",
                    l->n_operands + i, value);
    }
}

static const struct instruction *reduction_of(const struct printing *p)
{
    return &p->loop->instructions[loop_text_reduction(p->loop)];
}

static void print_reduced(const struct printing *p)
{
    const struct instruction *reduce = reduction_of(p);
    char value[VALUE_NAME_SIZE];
    print_operands(p, false);
    loop_text_add(p->text, &vector_dialect, p->loop);
    loop_text_name(reduce->a, value);
    if (p->is_tail)
        text_printf(p->text, "V last = NAMED(first)(%s, left, %s);\n", value,
                    reduce->fn == FN_ADD ? "0" : "-__builtin_inff()");
    text_printf(p->text, reduce->fn == FN_ADD ? "sum = sum + %s;\n" : "sum = NAMED(max)(sum, %s);\n",
                p->is_tail ? "last" : value);
}

// Values computed of the reduction alone: the same in all lanes.
static void print_behind(const struct printing *p)
{
    const struct loop *l = p->loop;
    text_printf(p->text, "V t%d = NAMED(%s_all)(sum);\n", loop_text_reduction(l),
                reduction_of(p)->fn == FN_ADD ? "sum" : "max");
    print_operands(p, true);
    loop_text_add_behind(p->text, &vector_dialect, l);
    for (int i = 0; i < l->n_results; i++) {
        char value[VALUE_NAME_SIZE];
        loop_text_name(l->results[i].value, value);
        text_printf(p->text, "*a%d = %s[0];\n", l->n_operands + i, value);
    }
}

// --- loops -----------------------------------------------------------------------------------------------------------

static int number(const struct printing *p, int64_t value)
{
    vec_push(&p->kernel->numbers.list, value);
    return (int)p->kernel->numbers.list.count - 1;
}

static void open_axis(const struct printing *p, int axis, bool is_parted)
{
    int n = number(p, p->outer.dim[axis]);
    if (is_parted)
        text_printf(p->text, "for (I i%d = n[%d] * part / parts; i%d < n[%d] * (part + 1) / parts; i%d++) {\n", axis, n,
                    axis, n, axis);
    else
        text_printf(p->text, "for (I i%d = 0; i%d < n[%d]; i%d++) {\n", axis, axis, n, axis);
}

// Addresses are those of the beginning of the row, in every access.
static void name_addresses(const struct printing *p)
{
    for (int i = 0; i < n_accesses(p->loop); i++) {
        text_printf(p->text, "float *a%d = addresses[%zu]", i, p->kernel->accesses.count);
        vec_push(&p->kernel->accesses, *loop_access_at(p->loop, i));
        nest_add_offset(&p->shared, p->text, i);
        nest_add_offset(&p->outer, p->text, i);
        text_add(p->text, ";\n");
    }
}

// Along the axis of vectors: whole ones, then the rest. `part` of it where nothing else is parted.
static void print_row(struct printing *p, bool is_parted)
{
    int n = number(p, p->length);
    text_printf(p->text,
                is_parted ? "I whole = n[%d] / LANES, i = whole * part / parts * LANES, end = part + 1 == parts ? "
                            "n[%d] : whole * (part + 1) / parts * LANES;\n"
                          : "I i = 0, end = n[%d];\n",
                n, n);
    if (p->reduces)
        text_add(p->text, reduction_of(p)->fn == FN_ADD ? "V sum = {0};\n" : "V sum = ALL(-__builtin_inff());\n");
    for (int tail = 0; tail < 2; tail++) {
        p->is_tail = tail;
        text_add(p->text, tail ? "if (i < end) {\nI left = end - i;\n" : "for (; i + LANES <= end; i += LANES) {\n");
        (p->reduces ? print_reduced : print_map)(p);
        text_add(p->text, "}\n");
    }
    if (p->reduces)
        print_behind(p);
}

static void print_loop(struct printing *p)
{
    bool is_parted = !p->n_shared;
    text_add(p->text, "{\n");
    for (int i = 0; i < p->outer.n; i++)
        open_axis(p, i, is_parted && i == 0);
    name_addresses(p);
    print_row(p, is_parted && p->outer.n == 0);
    for (int i = 0; i <= p->outer.n; i++)
        text_add(p->text, "}\n");
}

// Shared places are one row of numbers, of which each part has a run.
static void open_shared(struct printing *p)
{
    p->shared = nest_of(p, 0, p->n_shared, 's');
    int n = number(p, nest_places(&p->shared));
    text_printf(p->text, "for (I place = n[%d] * part / parts; place < n[%d] * (part + 1) / parts; place++) {\n", n, n);
    nest_add_places(&p->shared, p->text, "place");
}

// A reduction of everything has nothing that could be parted.
static bool print_loops(struct printing *p, const struct step *step)
{
    for (int i = 0; i < step->n_loops; i++) {
        p->loop = &step->loops[i];
        if (!takes_loop(p) || (p->reduces && !p->n_shared && p->outer.n == 0))
            return false;
        print_loop(p);
    }
    return true;
}

bool rows_print(struct text *text, const struct step *step, int lanes, struct rows_kernel *ret_kernel)
{
    ARENA(arena);
    if (step->n_loops == 0 || (step->n_loops > 1 && step->n_shared == 0))
        return false;
    struct printing p = {
        .text = text, .kernel = ret_kernel, .arena = &arena, .loop = &step->loops[0], .n_shared = step->n_shared};
    vector_text_begin(text, lanes);
    text_add(text, "void NAMED(run)(const void *const *given, float *scratch, int part, int parts)\n{\n"
                   "float *const *addresses = given[0];\nconst I *n = given[1];\n");
    if (p.n_shared)
        open_shared(&p);
    bool is_printed = print_loops(&p, step);
    text_add(text, p.n_shared ? "}\n}\n" : "}\n");
    return is_printed;
}
