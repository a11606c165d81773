// Axes are coalesced first; the last one of each loop is that of vectors. What is left of a row behind whole vectors is
// one more, of which only its entries are read and written.
#include "backends/generated/rows.h"

#include "backends/generated/vector_text.h"
#include "core/text/text.h"

#define MOST_AXES 6   // of a loop: their variables are letters

struct printing {
    struct text *text;
    struct rows_kernel *kernel;
    const struct loop *loop;
    int n_shared;
    int first_access;             // of the loop, in the kernel's list
    int axes[LOOP_MAX_RANK], n;   // of the loop behind the shared ones, coalesced: the last variable of each
    int64_t dim[LOOP_MAX_RANK];
    bool is_tail, reduces;
};

void rows_kernel_free(struct rows_kernel *k)
{
    vec_free(&k->numbers);
    vec_free(&k->accesses);
}

// --- forms -----------------------------------------------------------------------------------------------------------

static bool is_known(const struct instruction *i)
{
    return vector_text_knows(i) || (i->kind == INSTRUCTION_REDUCE && (i->fn == FN_ADD || i->fn == FN_MAX));
}

static const struct loop_access *access_at(const struct loop *l, int i)
{
    return i < l->n_operands ? &l->operands[i] : &l->results[i - l->n_operands].to;
}

// Is axis `outer` a row of what `inner` goes through, for all accesses?
static bool are_one(const struct loop *l, int outer, int inner)
{
    for (int i = 0; i < l->n_operands + l->n_results; i++) {
        const struct loop_access *a = access_at(l, i);
        if (a->stride[outer] != a->stride[inner] * l->dim[inner])
            return false;
    }
    return true;
}

// Axes first .. end that have more than one place, neighbours as one where all accesses allow it.
static void add_axes(struct printing *p, int first, int end)
{
    int begin = p->n;
    for (int i = first; i < end; i++) {
        if (p->loop->dim[i] == 1)
            continue;
        bool is_joined = p->n > begin && are_one(p->loop, p->axes[p->n - 1], i);
        int64_t size = p->loop->dim[i] * (is_joined ? p->dim[p->n - 1] : 1);
        p->n += !is_joined;
        p->axes[p->n - 1] = i;
        p->dim[p->n - 1] = size;
    }
}

static bool takes_accesses(const struct printing *p)
{
    const struct loop *l = p->loop;
    int last = p->n ? p->axes[p->n - 1] : -1;
    for (int i = 0; i < l->n_operands + l->n_results; i++) {
        const struct loop_access *a = access_at(l, i);
        int64_t stride = last < 0 ? 0 : a->stride[last];
        bool is_result = i >= l->n_operands;
        if (a->dtype != DTYPE_F32 || a->block || (stride != 1 && (stride != 0 || (is_result && !p->reduces))))
            return false;
    }
    return true;
}

static int reduction_of(const struct loop *l)
{
    int i = 0;
    while (i < l->n_instructions && l->instructions[i].kind != INSTRUCTION_REDUCE)
        i++;
    return i;
}

// Behind a reduction there is but one value of a row: no operand or instruction that runs along it.
static bool is_of_row(const struct loop *l, uint16_t value, int reduction, int last)
{
    int i = value & ~VALUE_OF_INSTRUCTION;
    if (value & VALUE_OF_INSTRUCTION)
        return i >= reduction || l->instructions[i].kind == INSTRUCTION_CONSTANT;
    return l->operands[i].stride[last] == 0;
}

static bool takes_what_is_behind(const struct printing *p)
{
    const struct loop *l = p->loop;
    int at = reduction_of(l), last = p->axes[p->n - 1];
    for (int i = at + 1; i < l->n_instructions; i++) {
        const struct instruction *code = &l->instructions[i];
        bool has_values = code->kind == INSTRUCTION_APPLY, is_binary = has_values && function_arity(code->fn) > 1;
        if ((has_values && !is_of_row(l, code->a, at, last)) || (is_binary && !is_of_row(l, code->b, at, last)))
            return false;
    }
    for (int i = 0; i < l->n_results; i++)
        if (!is_of_row(l, l->results[i].value, at, last))
            return false;
    return true;
}

static bool takes_loop(struct printing *p)
{
    const struct loop *l = p->loop;
    int reductions = 0;
    for (int i = 0; i < l->n_instructions; i++) {
        reductions += l->instructions[i].kind == INSTRUCTION_REDUCE;
        if (!is_known(&l->instructions[i]))
            return false;
    }
    p->reduces = reductions > 0;
    p->n = 0;
    add_axes(p, p->n_shared, l->rank);
    int n_places = p->n;
    add_axes(p, l->rank, l->rank + l->n_reduced);
    return reductions <= 1 && (reductions == 1) == (l->n_reduced > 0) && (!p->reduces || p->n == n_places + 1) &&
           p->n && p->n <= MOST_AXES && takes_accesses(p) && (!p->reduces || takes_what_is_behind(p));
}

// --- places ----------------------------------------------------------------------------------------------------------

static int number(struct printing *p, int64_t value)
{
    vec_push(&p->kernel->numbers, value);
    return (int)p->kernel->numbers.count - 1;
}

// Loops over all axes but the last, with the addresses of accesses at the place: a -> b.
static void open_axis(struct printing *p, int axis, int64_t dim, char letter, bool is_parted)
{
    const struct loop *l = p->loop;
    int n = number(p, dim);
    if (is_parted)
        text_printf(p->text, "for (I %c = n[%d] * part / parts; %c < n[%d] * (part + 1) / parts; %c++) {\n", letter, n,
                    letter, n, letter);
    else
        text_printf(p->text, "for (I %c = 0; %c < n[%d]; %c++) {\n", letter, letter, n, letter);
    for (int i = 0; i < l->n_operands + l->n_results; i++)
        text_printf(p->text, "float *%c%d = %c%d + %c * n[%d];\n", letter, i, letter - 1, i, letter,
                    number(p, access_at(l, i)->stride[axis]));
}

static void print_operands(struct printing *p, char letter)
{
    const struct loop *l = p->loop;
    int last = p->axes[p->n - 1];
    for (int i = 0; i < l->n_operands; i++)
        if (l->operands[i].stride[last] == 0)
            text_printf(p->text, "V x%d = ALL(*%c%d);\n", i, letter, i);
        else if (p->is_tail)
            text_printf(p->text, "V x%d = NAMED(load_some)(%c%d + i, left);\n", i, letter, i);
        else
            text_printf(p->text, "V x%d = NAMED(load)(%c%d + i);\n", i, letter, i);
}

static void print_stores(struct printing *p, char letter)
{
    const struct loop *l = p->loop;
    for (int i = 0; i < l->n_results; i++) {
        char value[VECTOR_NAME_SIZE];
        vector_text_name(l->results[i].value, value);
        if (p->is_tail)
            text_printf(p->text, "NAMED(store_some)(%c%d + i, %s, left);\n", letter, l->n_operands + i, value);
        else
            text_printf(p->text, "NAMED(store)(%c%d + i, %s);\n", letter, l->n_operands + i, value);
    }
}

// --- loops -----------------------------------------------------------------------------------------------------------

static void print_map(struct printing *p, char letter)
{
    print_operands(p, letter);
    for (int i = 0; i < p->loop->n_instructions; i++)
        vector_text_add(p->text, p->loop, i);
    print_stores(p, letter);
}

static void print_reduced(struct printing *p, char letter)
{
    int at = reduction_of(p->loop);
    const struct instruction *reduce = &p->loop->instructions[at];
    char value[VECTOR_NAME_SIZE];
    print_operands(p, letter);
    for (int i = 0; i < at; i++)
        vector_text_add(p->text, p->loop, i);
    vector_text_name(reduce->a, value);
    const char *rest = reduce->fn == FN_ADD ? "0" : "-__builtin_inff()";
    if (p->is_tail)
        text_printf(p->text, "V last = NAMED(first)(%s, left, %s);\n", value, rest);
    text_printf(p->text, reduce->fn == FN_ADD ? "sum = sum + %s;\n" : "sum = NAMED(max)(sum, %s);\n",
                p->is_tail ? "last" : value);
}

// What is computed of the reduction alone: the same in all lanes.
static void print_behind(struct printing *p, char letter)
{
    const struct loop *l = p->loop;
    int at = reduction_of(l), last = p->axes[p->n - 1];
    text_printf(p->text, "V t%d = NAMED(%s_all)(sum);\n", at, l->instructions[at].fn == FN_ADD ? "sum" : "max");
    for (int i = 0; i < l->n_operands; i++)
        if (l->operands[i].stride[last] == 0)
            text_printf(p->text, "V x%d = ALL(*%c%d);\n", i, letter, i);
    for (int i = 0; i < at; i++)
        if (l->instructions[i].kind == INSTRUCTION_CONSTANT)
            vector_text_add(p->text, p->loop, i);
    for (int i = at + 1; i < l->n_instructions; i++)
        vector_text_add(p->text, p->loop, i);
    for (int i = 0; i < l->n_results; i++) {
        char value[VECTOR_NAME_SIZE];
        vector_text_name(l->results[i].value, value);
        text_printf(p->text, "*%c%d = %s[0];\n", letter, l->n_operands + i, value);
    }
}

// Along the last axis: whole vectors, then the rest. `part` of it where nothing else is parted.
static void print_row(struct printing *p, char letter, bool is_parted)
{
    int n = number(p, p->dim[p->n - 1]);
    text_printf(p->text,
                is_parted ? "I whole = n[%d] / LANES, i = whole * part / parts * LANES, end = part + 1 == parts ? "
                            "n[%d] : whole * (part + 1) / parts * LANES;\n"
                          : "I i = 0, end = n[%d];\n",
                n, n);
    if (p->reduces)
        text_add(p->text, p->loop->instructions[reduction_of(p->loop)].fn == FN_ADD
                              ? "V sum = {0};\n"
                              : "V sum = ALL(-__builtin_inff());\n");
    for (int tail = 0; tail < 2; tail++) {
        p->is_tail = tail;
        text_add(p->text, tail ? "if (i < end) {\nI left = end - i;\n" : "for (; i + LANES <= end; i += LANES) {\n");
        if (p->reduces)
            print_reduced(p, letter);
        else
            print_map(p, letter);
        text_add(p->text, "}\n");
    }
    if (p->reduces)
        print_behind(p, letter);
}

// One loop, whose addresses at the shared place have the letter.
static void print_loop(struct printing *p, char letter, bool is_parted)
{
    int outer = p->n - 1;
    text_add(p->text, "{\n");
    for (int i = 0; i < outer; i++)
        open_axis(p, p->axes[i], p->dim[i], (char)++letter, is_parted && i == 0);
    print_row(p, letter, is_parted && outer == 0);
    for (int i = 0; i <= outer; i++)
        text_add(p->text, "}\n");
}

static void name_addresses(struct printing *p)
{
    const struct loop *l = p->loop;
    p->first_access = (int)p->kernel->accesses.count;
    for (int i = 0; i < l->n_operands + l->n_results; i++) {
        vec_push(&p->kernel->accesses, *access_at(l, i));
        text_printf(p->text, "float *a%d = addresses[%d]", i, p->first_access + i);
        for (int s = 0; s < p->n_shared; s++)
            text_printf(p->text, " + shared%d * n[%d]", s, number(p, access_at(l, i)->stride[s]));
        text_add(p->text, ";\n");
    }
}

// Shared places are one row of numbers, of which each part has a run.
static void open_shared(struct printing *p, const struct loop *first)
{
    int64_t places = 1;
    for (int s = 0; s < p->n_shared; s++)
        places *= first->dim[s];
    int n = number(p, places);
    text_printf(p->text, "for (I place = n[%d] * part / parts; place < n[%d] * (part + 1) / parts; place++) {\n", n, n);
    text_add(p->text, "I rest = place;\n");
    for (int s = p->n_shared - 1; s >= 0; s--) {
        int dim = number(p, first->dim[s]);
        text_printf(p->text, "I shared%d = rest %% n[%d];\nrest /= n[%d];\n", s, dim, dim);
    }
}

bool rows_print(struct text *text, const struct step *step, int lanes, struct rows_kernel *ret_kernel)
{
    struct printing p = {.text = text, .kernel = ret_kernel, .n_shared = step->n_shared};
    bool is_reduced_alone = false;
    if (step->n_loops == 0 || (step->n_loops > 1 && step->n_shared == 0))
        return false;
    vector_text_begin(text, lanes);
    text_add(text, "void NAMED(run)(float *const *addresses, const I *n, int part, int parts)\n{\n");
    if (p.n_shared)
        open_shared(&p, &step->loops[0]);
    for (int i = 0; i < step->n_loops; i++) {
        p.loop = &step->loops[i];
        if (!takes_loop(&p))
            return false;
        is_reduced_alone = is_reduced_alone || (p.reduces && !p.n_shared && p.n == 1);
        text_add(text, "{\n");
        name_addresses(&p);
        print_loop(&p, 'a', !p.n_shared);
        text_add(text, "}\n");
    }
    text_add(text, p.n_shared ? "}\n}\n" : "}\n");
    return !is_reduced_alone;
}
