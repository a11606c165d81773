// Chains and loops at random, with all that a schedule and a form may be, against the same in double precision: on every
// instruction set that this processor has, and on another processor's.
#include "backends/generated/chains/chain.h"
#include "backends/generated/rows.h"
#include "backends/generated/tile_arguments.h"
#include "expressions/f64_functions.h"
#include "tests/backends/images.h"
#include "tests/backends/kernels.h"

#define TRIALS 24   // of each kind, for each instruction set
#define SEED_OF_CHAINS 21
#define SEED_OF_LOOPS 23
#define ALLOWED 4e-6f   // of the largest value on the way

// --- chains ----------------------------------------------------------------------------------------------------------

struct chain_trial {
    struct arena arena;
    struct chain_definition d;
    struct loop epilogues[CHAIN_STAGES];
    struct tile_image operands[CHAIN_STAGES][2];
    float *w[CHAIN_STAGES], *packed[CHAIN_STAGES], *bias[CHAIN_STAGES], *scale[CHAIN_STAGES], *x, *y, *scratch;
    const float *addresses[CHAIN_STAGES][2];
    int64_t *numbers[CHAIN_STAGES + 1];
    size_t n_numbers[CHAIN_STAGES + 1];
    double *wanted, largest;
    int64_t n_x, n_y;
    int parts;
};

// relu(sum + bias), or its half
static const struct instruction code[] = {{INSTRUCTION_APPLY, FN_ADD, 0, 1, 0, 0},
                                          {INSTRUCTION_APPLY, FN_RELU, VALUE_OF_INSTRUCTION | 0, 0, 0, 0}};
static struct loop_access accesses[2] = {{.dtype = DTYPE_F32}, {.dtype = DTYPE_F32}};
static struct loop_result results[1] = {{VALUE_OF_INSTRUCTION | 1, {.dtype = DTYPE_F32}}};

// A window whose results are as many as another stage reads.
static void choose_window_before(struct tile_definition *d, int i, struct random *random)
{
    int64_t *size = i ? &d->width : &d->height, result = i ? d->result_width : d->result_height;
    d->window.kernel[i] = one_to(random, 3);
    d->window.stride[i] = one_to(random, 2);
    d->window.dilation[i] = one_to(random, 2);
    d->window.pad[i] = (int64_t)random_below(random, 3);
    *size = (result - 1) * d->window.stride[i] + (d->window.kernel[i] - 1) * d->window.dilation[i] + 1 -
            d->window.pad[i] - (int64_t)random_below(random, 3);
    *size = *size < 1 ? 1 : *size;
}

static enum layout_of_image random_layout(int64_t channels, int64_t lanes, bool may_be_rows, struct random *random)
{
    bool is_other = random_below(random, 2);
    return is_other && channels % lanes == 0 ? BLOCKS : is_other && may_be_rows ? ROWS : LAST;
}

static int first_stage(const struct chain_trial *t)
{
    return t->d.has[CHAIN_FIRST] ? CHAIN_FIRST : CHAIN_MIDDLE;
}

static int last_stage(const struct chain_trial *t)
{
    return t->d.has[CHAIN_LAST] ? CHAIN_LAST : t->d.has[CHAIN_MIDDLE] ? CHAIN_MIDDLE : CHAIN_FIRST;
}

static void choose_images(struct chain_trial *t, struct random *random)
{
    struct tile_definition *first = &t->d.stages[first_stage(t)], *last = &t->d.stages[last_stage(t)];
    int64_t from = first->groups * first->channels, to = last->groups * last->results, lanes = first->lanes;
    bool is_dense = t->d.has[CHAIN_FIRST];
    first->source = image_of(random_layout(from, lanes, is_dense, random), lanes, from, first->height, first->width);
    last->target =
        image_of(random_layout(to, lanes, false, random), lanes, to, last->result_height, last->result_width);
    t->n_x = source_entries(first);
    t->n_y = target_entries(last);
}

// Numbers that channels are multiplied by, for each image, or the same for all.
static void choose_scale(struct tile_definition *d, struct random *random)
{
    d->reading.is_scaled = random_below(random, 2);
    d->reading.scale_image = random_below(random, 2) ? d->channels : 0;
}

static void choose_stages(struct chain_trial *t, const struct machine *machine, struct random *random)
{
    struct tile_definition *s = t->d.stages, *m = &s[CHAIN_MIDDLE];
    int64_t most = 3 * machine->lanes;
    *m =
        (struct tile_definition){.lanes = machine->lanes, .registers = machine->registers, .images = one_to(random, 2)};
    m->channels = m->results = 1;
    m->groups = machine->lanes + (int64_t)random_below(random, (uint64_t)most);
    choose_window(m, 0, random);
    choose_window(m, 1, random);
    s[CHAIN_FIRST] = definition_of(machine, m->images, one_to(random, most), m->groups, m->height, m->width);
    s[CHAIN_LAST] =
        definition_of(machine, m->images, m->groups, machine->lanes + (int64_t)random_below(random, (uint64_t)most),
                      m->result_height, m->result_width);
    uint64_t which = random_below(random, 4);
    t->d.has[CHAIN_FIRST] = which != 1;
    t->d.has[CHAIN_MIDDLE] = which != 3;
    t->d.has[CHAIN_LAST] = which < 2;
    t->d.wanted = (struct chain_schedule){(int)random_below(random, 15), random_below(random, 2) ? 2 : 0,
                                          (int)random_below(random, 28)};
    if (random_below(random, 2))
        for (int i = 0; i < 2; i++)
            choose_window_before(&s[CHAIN_FIRST], i, random);
    choose_scale(&s[CHAIN_FIRST], random);
    choose_scale(&s[CHAIN_LAST], random);
    for (int i = 0; i < CHAIN_STAGES; i++) {
        s[i].epilogue.has_relu = random_below(random, 2);
        t->operands[i][1] = (struct tile_image){0, machine->lanes, 0, 0, 1};
        t->epilogues[i] = (struct loop){.rank = 4,
                                        .n_operands = 2,
                                        .n_instructions = 2,
                                        .n_results = 1,
                                        .operands = accesses,
                                        .instructions = (struct instruction *)code,
                                        .results = results};
        s[i].epilogue.operands = t->operands[i];
        s[i].epilogue.loop = random_below(random, 2) ? &t->epilogues[i] : NULL;
    }
}

// [image][channel][row][column]
static double *stage_of(struct chain_trial *t, int stage, const double *from)
{
    const struct tile_definition *d = &t->d.stages[stage];
    int64_t pixels = d->height * d->width, channels = d->groups * d->channels;
    double *scaled = arena_array(&t->arena, double, (size_t)source_entries(d));
    double *to = arena_array(&t->arena, double, (size_t)target_entries(d));
    for (int64_t i = 0; i < source_entries(d); i++) {
        int64_t c = i / pixels % channels, n = i / pixels / channels;
        scaled[i] = from[i] * (d->reading.is_scaled ? t->scale[stage][n * d->reading.scale_image + c] : 1);
    }
    for (int64_t i = 0; i < target_entries(d); i++) {
        double size, sum = sum_at(d, scaled, t->w[stage], i, &size);
        sum = d->epilogue.has_relu ? fmax(0, sum) : sum;
        to[i] = d->epilogue.loop ? fmax(0, sum + t->bias[stage][result_of(d, i)]) : sum;
        t->largest = fmax(t->largest, size);
    }
    return to;
}

static void compute_wanted(struct chain_trial *t)
{
    const struct tile_definition *first = &t->d.stages[first_stage(t)], *last = &t->d.stages[last_stage(t)];
    double *values = arena_array(&t->arena, double, (size_t)t->n_x);
    for (int64_t i = 0; i < t->n_x; i++)
        values[i] = t->x[place_in_source(first, i)];
    for (int i = 0; i < CHAIN_STAGES; i++)
        if (t->d.has[i])
            values = stage_of(t, i, values);
    t->wanted = arena_array(&t->arena, double, (size_t)t->n_y);
    for (int64_t i = 0; i < t->n_y; i++)
        t->wanted[place_in_target(last, i)] = values[i];
}

static void give_values(struct chain_trial *t, struct random *random)
{
    int misplaced = (int)random_below(random, 16);   // entries behind a multiple of 64 bytes
    t->x = random_floats(&t->arena, t->n_x + 16, random) + misplaced;
    t->y = random_floats(&t->arena, t->n_y + 16, random) + 15 - misplaced;
    for (int i = 0; i < CHAIN_STAGES; i++) {
        const struct tile_definition *d = &t->d.stages[i];
        if (!t->d.has[i])
            continue;
        const int64_t each = weights_of_result(d) / d->channels;
        const int64_t strides[4] = {weights_of_result(d), each, d->window.kernel[1], 1};
        t->w[i] = random_floats(&t->arena, all_weights(d), random);
        t->bias[i] = random_floats(&t->arena, d->groups * d->results, random);
        t->scale[i] = random_floats(&t->arena, d->images * d->channels, random);
        t->packed[i] = random_floats(&t->arena, (int64_t)tile_weights_floats(d, &t->d.schedules[i]), random);
        tile_pack(d, &t->d.schedules[i], t->w[i], strides, t->packed[i], 0, tile_weight_groups(d, &t->d.schedules[i]));
        t->n_numbers[i] = tile_n_numbers(d, &t->d.schedules[i]);
        t->numbers[i] = arena_array(&t->arena, int64_t, t->n_numbers[i]);
        tile_list_numbers(d, &t->d.schedules[i], t->numbers[i]);
        t->addresses[i][0] = t->scale[i];
        t->addresses[i][1] = t->bias[i];
    }
    t->n_numbers[CHAIN_STAGES] = CHAIN_N_NUMBERS;
    t->numbers[CHAIN_STAGES] = arena_array(&t->arena, int64_t, CHAIN_N_NUMBERS);
    chain_list_numbers(&t->d, t->numbers[CHAIN_STAGES]);
    t->scratch = random_floats(&t->arena, (int64_t)chain_scratch_floats(&t->d), random);
}

// False: it is not of this form.
static bool chain_trial_init(struct chain_trial *t, const struct machine *machine, struct random *random)
{
    memset(t, 0, sizeof *t);
    choose_stages(t, machine, random);
    choose_images(t, random);
    t->parts = (int)one_to(random, 3);
    return chain_complete(&t->d);
}

static void check_chain(struct place *at, struct chain_trial *t, const struct text *text, struct random *random)
{
    struct kernel_call c = {text, .parts = t->parts, .n_scratch = chain_scratch_floats(&t->d), .n_y = t->n_y};
    const void *weights[CHAIN_STAGES], *operands[CHAIN_STAGES], *numbers[CHAIN_STAGES + 1];
    give_values(t, random);
    compute_wanted(t);
    double *allowed = arena_array(&t->arena, double, (size_t)t->n_y);
    for (int64_t i = 0; i < t->n_y; i++)
        allowed[i] = (double)ALLOWED * (1 + t->largest);
    for (int i = 0; i < CHAIN_STAGES; i++) {
        const struct tile_definition *d = &t->d.stages[i];
        weights[i] = give(&c, FLOATS, t->packed[i], t->d.has[i] ? tile_weights_floats(d, &t->d.schedules[i]) : 0);
        give(&c, FLOATS, t->scale[i], (size_t)(d->images * d->channels));
        give(&c, FLOATS, t->bias[i], (size_t)(d->groups * d->results));
        operands[i] = give(&c, ADDRESSES, t->addresses[i], 2);
    }
    for (int i = 0; i <= CHAIN_STAGES; i++)
        numbers[i] = give(&c, INTEGERS, t->numbers[i], t->n_numbers[i]);
    GIVE(c, give(&c, FLOATS, t->x, (size_t)t->n_x), give(&c, ADDRESSES, weights, CHAIN_STAGES), t->y,
         give(&c, ADDRESSES, operands, CHAIN_STAGES), give(&c, ADDRESSES, numbers, CHAIN_STAGES + 1));
    c.y = t->y;
    c.scratch = t->scratch;
    c.wanted = t->wanted;
    c.allowed = allowed;
    check_call(at, &c);
}

TEST_OF_KERNELS(chains_compute_their_stages)
{
    int n = trials_at(at, TRIALS);
    for (int i = 0; i < n; i++) {
        TEXT(text);
        struct chain_trial t;
        struct random random = random_of_trial(at, SEED_OF_CHAINS, i);
        if (chain_trial_init(&t, at->machine, &random)) {
            chain_print(&text, &t.d);
            if (!is_collected(at, &text))
                check_chain(at, &t, &text, &random);
        }
        arena_free(&t.arena);
    }
    assert_true(8 * at->n_met > n);
}

// --- loops -----------------------------------------------------------------------------------------------------------

#define MOST_OPERANDS 3
#define MOST_CODE 8
struct loop_trial {
    struct arena arena;
    struct loop loop;
    struct step step;
    struct loop_access operands[MOST_OPERANDS];
    struct loop_result result;
    struct instruction code[MOST_CODE];
    float *memory[MOST_OPERANDS + 1];
    int64_t n_results;
};

// Functions that keep values small.
static const enum scalar_function functions[] = {FN_ADD,  FN_SUB, FN_MUL,     FN_MAX,  FN_MIN, FN_NEG,
                                                 FN_RELU, FN_ABS, FN_SIGMOID, FN_TANH, FN_ERF};

static uint16_t random_value(const struct loop_trial *t, int first, int end, struct random *random)
{
    int n = first ? 0 : t->loop.n_operands, i = (int)random_below(random, (uint64_t)(n + end - first));
    return i < n ? (uint16_t)i : (uint16_t)(VALUE_OF_INSTRUCTION | (first + i - n));
}

static void choose_code(struct loop_trial *t, struct random *random)
{
    struct loop *l = &t->loop;
    int before = l->n_reduced ? (int)random_below(random, 3) : 1 + (int)random_below(random, MOST_CODE - 1);
    int all = l->n_reduced ? before + 1 + (int)random_below(random, 3) : before, reduction = l->n_reduced ? before : -1;
    for (int i = 0; i < all; i++) {
        int first = reduction >= 0 && i > reduction ? reduction : 0;
        struct instruction *at = &t->code[i];
        *at = (struct instruction){.kind = INSTRUCTION_APPLY,
                                   .fn = (uint8_t)functions[random_below(random, COUNT_OF(functions))]};
        at->a = random_value(t, first, i, random);
        at->b = random_value(t, first, i, random);
        if (first == 0 && i != reduction && random_below(random, 6) == 0)
            *at = (struct instruction){.kind = INSTRUCTION_CONSTANT, .constant = random_unit(random) - 0.5};
        if (i == reduction)
            *at = (struct instruction){
                .kind = INSTRUCTION_REDUCE, .fn = random_below(random, 2) ? FN_ADD : FN_MAX, .a = at->a};
    }
    l->n_instructions = all;
    t->result.value = (uint16_t)(VALUE_OF_INSTRUCTION | (all - 1));
}

static int64_t choose_strides(struct loop_access *a, const struct loop *l, int rank, bool may_stay,
                              struct random *random)
{
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        a->stride[i] = may_stay && random_below(random, 3) == 0 ? 0 : stride;
        stride *= a->stride[i] ? l->dim[i] : 1;
    }
    return stride;
}

static void loop_trial_init(struct loop_trial *t, struct random *random)
{
    struct loop *l = &t->loop;
    memset(t, 0, sizeof *t);
    l->n_reduced = random_below(random, 2);
    l->rank = (int)one_to(random, 3);
    t->step = (struct step){.n_loops = 1, .loops = l, .n_shared = l->n_reduced ? (int)random_below(random, 2) : 0};
    for (int i = 0; i < l->rank + l->n_reduced; i++)
        l->dim[i] = i == l->rank + l->n_reduced - 1 ? one_to(random, 70) : one_to(random, 5);
    l->n_operands = (int)one_to(random, MOST_OPERANDS);
    l->n_results = 1;
    l->operands = t->operands;
    l->results = &t->result;
    l->instructions = t->code;
    for (int i = 0; i < l->n_operands; i++) {
        t->operands[i] = (struct loop_access){.memory = (memory_id)i, .dtype = DTYPE_F32};
        int64_t n = choose_strides(&t->operands[i], l, l->rank + l->n_reduced, true, random);
        t->memory[i] = random_floats(&t->arena, n, random);
    }
    t->result.to = (struct loop_access){.memory = MOST_OPERANDS, .dtype = DTYPE_F32};
    t->n_results = choose_strides(&t->result.to, l, l->rank, false, random);
    t->memory[MOST_OPERANDS] = random_floats(&t->arena, t->n_results, random);
    choose_code(t, random);
}

// Values of instructions from one on, at a place.
static void run_code(const struct loop_trial *t, int from, int end, const int64_t *place, double *values,
                     double *largest)
{
    const struct loop *l = &t->loop;
    for (int i = from; i < end; i++) {
        const struct instruction *at = &l->instructions[i];
        const uint16_t names[2] = {at->a, at->b};
        double operands[2];
        for (int k = 0; k < 2; k++) {
            int64_t offset = 0;
            for (int axis = 0; !(names[k] & VALUE_OF_INSTRUCTION) && axis < l->rank + l->n_reduced; axis++)
                offset += place[axis] * l->operands[names[k]].stride[axis];
            operands[k] = names[k] & VALUE_OF_INSTRUCTION ? values[names[k] & ~VALUE_OF_INSTRUCTION]
                                                          : t->memory[names[k]][offset];
        }
        if (at->kind == INSTRUCTION_CONSTANT)
            values[i] = (double)(float)at->constant;
        else if (at->kind == INSTRUCTION_APPLY)
            values[i] = f64_apply((enum scalar_function)at->fn, operands[0], operands[1], 0);
        else
            values[i] = at->fn == FN_ADD ? values[i] + operands[0] : fmax(values[i], operands[0]);
        *largest = fmax(*largest, fabs(values[i]));
    }
}

static void go_to(const struct loop *l, int first, int n, int64_t index, int64_t *place)
{
    for (int axis = first + n - 1; axis >= first; index /= l->dim[axis--])
        place[axis] = index % l->dim[axis];
}

// Sums are as far off as their terms are large together.
static double value_at(const struct loop_trial *t, int64_t index, double *ret_largest)
{
    const struct loop *l = &t->loop;
    int64_t place[LOOP_MAX_RANK] = {0}, n = l->n_reduced ? l->dim[l->rank] : 0;
    double values[MOST_CODE] = {0}, largest = 1;
    int reduction = 0;
    go_to(l, 0, l->rank, index, place);
    while (l->n_reduced && l->instructions[reduction].kind != INSTRUCTION_REDUCE)
        reduction++;
    if (l->n_reduced)
        values[reduction] = l->instructions[reduction].fn == FN_ADD ? 0 : -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        place[l->rank] = i;
        run_code(t, 0, reduction, place, values, &largest);
        run_code(t, reduction, reduction + 1, place, values, &largest);
    }
    run_code(t, l->n_reduced ? reduction + 1 : 0, l->n_instructions, place, values, &largest);
    *ret_largest = largest * (double)(1 + n);
    return values[t->result.value & ~VALUE_OF_INSTRUCTION];
}

static void check_loop(struct place *at, struct loop_trial *t, const struct text *text, const struct rows_kernel *k,
                       int parts)
{
    const float *addresses[MOST_OPERANDS + 1];
    struct kernel_call c = {text, .parts = parts, .y = t->memory[MOST_OPERANDS], .n_y = t->n_results};
    double *wanted = arena_array(&t->arena, double, t->n_results);
    double *allowed = arena_array(&t->arena, double, t->n_results);
    for (size_t i = 0; i < k->accesses.count && i <= MOST_OPERANDS; i++)
        addresses[i] = t->memory[k->accesses.items[i].memory];
    for (int64_t i = 0; i < t->n_results; i++) {
        double largest;
        wanted[i] = value_at(t, i, &largest);
        allowed[i] = (double)ALLOWED * largest;
    }
    GIVE(c, addresses, k->numbers.list.items);
    c.wanted = wanted;
    c.allowed = allowed;
    check_call(at, &c);
}

TEST_OF_KERNELS_HERE(loops_compute_their_code)
{
    int n = 2 * trials_at(at, TRIALS);
    for (int i = 0; i < n; i++) {
        TEXT(text);
        struct loop_trial t;
        struct random random = random_of_trial(at, SEED_OF_LOOPS, i);
        loop_trial_init(&t, &random);
        struct rows_kernel k FREED_BY(rows_kernel_free) = {0};
        if (rows_print(&text, &t.step, at->machine->lanes, &k) && !is_collected(at, &text))
            check_loop(at, &t, &text, &k, (int)one_to(&random, 3));
        arena_free(&t.arena);
    }
    assert_true(4 * at->n_met > n);
}
