// Kernels of product, softmax and product against the same in double precision: rows, columns and depths that fill no
// blocks and no vectors, matrices either way, parts; on every instruction set, also on another processor's.
#include "backends/generated/chains/attention.h"
#include "backends/generated/tile_arguments.h"

#include "backends/programs/programs.h"
#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "tests/backends/elsewhere.h"
#include "tests/backends/machines.h"
#include "tests/support/check.h"
#include "tests/support/scoped.h"
#include <math.h>
#include <string.h>

#define ALLOWED 2e-6f   // values are within 1

struct sizes {
    int64_t products, rows, inner, columns, depth;
    bool is_turned;   // k stands by columns
};
static const struct sizes all_sizes[] = {
    {1, 28, 16, 32, 32, false}, {3, 40, 16, 33, 32, false}, {2, 29, 32, 70, 17, true},  {1, 57, 20, 57, 33, true},
    {2, 8, 1, 16, 16, false},   {1, 197, 64, 61, 64, true}, {4, 30, 17, 31, 16, false}, {2, 9, 40, 128, 48, true},
};
struct trial {
    struct sizes sizes;
    struct attention_definition d;
    struct arena arena;
    float *q, *k, *v, *wanted;
    int64_t *lists[ATTENTION_N_LISTS];
    size_t n[ATTENTION_N_LISTS];
};

static float *random_floats(struct arena *arena, int64_t n, struct random *random)
{
    float *floats = arena_alloc(arena, (size_t)(n + 16) * sizeof *floats, 64);
    for (int64_t i = 0; i < n; i++)
        floats[i] = (float)(2 * random_unit(random) - 1);
    return floats;
}

static float entry_of_k(const struct trial *t, int64_t product, int64_t c, int64_t column)
{
    const struct sizes *s = &t->sizes;
    const float *k = t->k + product * s->inner * s->columns;
    return s->is_turned ? k[column * s->inner + c] : k[c * s->columns + column];
}

static void compute_row(struct trial *t, int64_t product, int64_t row)
{
    const struct sizes *s = &t->sizes;
    double scores[256], sum = 0;
    for (int64_t j = 0; j < s->columns; j++) {
        double score = 0;
        for (int64_t c = 0; c < s->inner; c++)
            score += (double)t->q[(product * s->rows + row) * s->inner + c] * entry_of_k(t, product, c, j);
        sum += scores[j] = exp(score);
    }
    for (int64_t x = 0; x < s->depth; x++) {
        double value = 0;
        for (int64_t j = 0; j < s->columns; j++)
            value += scores[j] / sum * t->v[(product * s->columns + j) * s->depth + x];
        t->wanted[(product * s->rows + row) * s->depth + x] = (float)value;
    }
}

static struct tile_definition tile_of(const struct machine *m, int64_t channels, int64_t results)
{
    return (struct tile_definition){.lanes = m->lanes,
                                    .registers = m->registers,
                                    .channels = channels,
                                    .results = results,
                                    .source = {.block = m->lanes, .pixel = channels, .lane = 1},
                                    .target = {.block = m->lanes, .pixel = results, .lane = 1}};
}

static int64_t *add_list(struct trial *t, int list, size_t n)
{
    t->n[list] = n;
    return t->lists[list] = arena_array(&t->arena, int64_t, n + 1);
}

static void list_numbers(struct trial *t)
{
    const struct sizes *s = &t->sizes;
    for (int i = 0; i < 2; i++)
        tile_list_numbers(&t->d.tiles[i], &t->d.schedules[i],
                          add_list(t, ATTENTION_TILES + i, tile_n_numbers(&t->d.tiles[i], &t->d.schedules[i])));
    attention_list_numbers(&t->d, add_list(t, ATTENTION_OWN, attention_n_numbers(&t->d)));
    int64_t *places = add_list(t, ATTENTION_PLACES, (size_t)(4 * s->products));
    for (int64_t i = 0; i < s->products; i++) {
        *places++ = i * s->rows * s->inner;
        *places++ = i * s->inner * s->columns;
        *places++ = i * s->columns * s->depth;
        *places++ = i * s->rows * s->depth;
    }
}

// False: there is no kernel of these sizes.
static bool trial_init(struct trial *t, const struct machine *m, const struct sizes *s)
{
    struct random random = random_seed(5);
    *t = (struct trial){.sizes = *s};
    arena_init(&t->arena);
    t->d = (struct attention_definition){
        .products = s->products,
        .rows = s->rows,
        .tiles = {tile_of(m, s->inner, s->columns), tile_of(m, s->columns, s->depth)},
        .column = {s->is_turned ? s->inner : 1, 1},
        .row = {s->is_turned ? 1 : s->columns, s->depth},
    };
    if (!attention_complete(&t->d))
        return false;
    t->q = random_floats(&t->arena, s->products * s->rows * s->inner, &random);
    t->k = random_floats(&t->arena, s->products * s->inner * s->columns, &random);
    t->v = random_floats(&t->arena, s->products * s->columns * s->depth, &random);
    t->wanted = arena_array(&t->arena, float, s->products * s->rows * s->depth);
    for (int64_t i = 0; i < s->products * s->rows; i++)
        compute_row(t, i / s->rows, i % s->rows);
    list_numbers(t);
    return true;
}

static void run_kernel(struct trial *t, attention_run_fn *run, int parts, float *y)
{
    const float *none[1] = {NULL}, *const * operands[] = {none, none};
    for (int part = 0; part < parts; part++) {
        float *scratch = arena_alloc(&t->arena, attention_scratch_floats(&t->d) * sizeof *scratch, 64);
        run(t->q, t->k, t->v, y, operands, (const int64_t *const *)t->lists, scratch, part, parts);
    }
}

static void expect_trial(struct programs *service, struct trial *t)
{
    TEXT(text);
    attention_print(&text, &t->d);
    programs_expect(service, text.chars);
}

static void check_trial(struct programs *service, struct trial *t)
{
    TEXT(text);
    struct program program;
    struct error error = {0};
    attention_run_fn *run;
    int64_t n = t->sizes.products * t->sizes.rows * t->sizes.depth;
    attention_print(&text, &t->d);
    const char *chars = text.chars;
    if (!programs_find(service, chars, &program, &error))
        fail_msg("%s", error.message);
    void *address = program_function(&program, "run");
    memcpy(&run, &address, sizeof run);
    for (int parts = 1; parts <= 3; parts++) {
        float *y = arena_array(&t->arena, float, n + 1);
        y[n] = 77;
        run_kernel(t, run, parts, y);
        for (int64_t i = 0; i < n; i++)
            assert_true(fabsf(y[i] - t->wanted[i]) <= ALLOWED);
        assert_true(y[n] == 77);
    }
}

static struct sizes random_sizes(struct random *random)
{
    int64_t n[5];
    static const uint64_t most[5] = {3, 90, 70, 200, 90};
    for (int i = 0; i < 5; i++)
        n[i] = 1 + (int64_t)random_below(random, most[i]);
    return (struct sizes){n[0], n[1], n[2], n[3], n[4], random_below(random, 2) == 0};
}

static int visit_trials(struct programs *service, const struct machine *m, int seed,
                        void (*visit)(struct programs *service, struct trial *t))
{
    struct random random = random_seed((uint64_t)seed);
    int n = 0;
    for (size_t k = 0; k < COUNT_OF(all_sizes) + (size_t)n_trials(0); k++) {
        struct trial t;
        struct sizes sizes = k < COUNT_OF(all_sizes) ? all_sizes[k] : random_sizes(&random);
        if (trial_init(&t, m, &sizes)) {
            visit(service, &t);
            n++;
        }
        arena_free(&t.arena);
    }
    return n;
}

static void kernels_compute_attention(void **state)
{
    struct machine machines[4];
    int n, n_checked = 0;
    list_machines(machines, &n);
    for (int i = 0; i < n && machines[i].is_here; i++) {
        struct programs *service = open_service(&machines[i]);
        visit_trials(service, &machines[i], i, expect_trial);
        n_checked += visit_trials(service, &machines[i], i, check_trial);
        programs_close(service);
    }
    assert_true(n_checked >= (int)COUNT_OF(all_sizes) || n == 0);
}

static void add_trial(struct text *text, struct trial *t, size_t number)
{
    const struct sizes *s = &t->sizes;
    long long n = (long long)(s->products * s->rows * s->depth);
    text_printf(text, "#undef NAMED\n#define NAMED(name) trial_%zu_##name\n", number);
    attention_print(text, &t->d);
    add_floats(text, "q", t->q, (size_t)(s->products * s->rows * s->inner));
    add_floats(text, "k", t->k, (size_t)(s->products * s->inner * s->columns));
    add_floats(text, "v", t->v, (size_t)(s->products * s->columns * s->depth));
    add_floats(text, "wanted", t->wanted, (size_t)n);
    for (int i = 0; i < ATTENTION_N_LISTS; i++) {
        TEXT(name);
        text_printf(&name, "list_%d", i);
        add_integers(text, name.chars, t->lists[i], t->n[i]);
    }
    text_printf(text,
                "static float NAMED(y)[%lld], NAMED(scratch)[%zu] __attribute__((aligned(64)));\n"
                "int NAMED(fails)(void)\n{\nint n_false = 0;\n"
                "const float *none[1] = {0}, *const *operands[] = {none, none};\n"
                "const I *const lists[] = {NAMED(list_0), NAMED(list_1), NAMED(list_2), NAMED(list_3)};\n"
                "for (int part = 0; part < 2; part++)\n"
                "NAMED(run)(NAMED(q), NAMED(k), NAMED(v), NAMED(y), operands, lists, NAMED(scratch), part, 2);\n"
                "for (int i = 0; i < %lld; i++)\n"
                "n_false += !(__builtin_fabsf(NAMED(y)[i] - NAMED(wanted)[i]) <= %gf);\nreturn n_false;\n}\n",
                n, attention_scratch_floats(&t->d), n, (double)ALLOWED);
}

static void kernels_run_on_aarch64(void **state)
{
    const struct machine machine = {.lanes = 4, .registers = 32};
    TEXT(text);
    TEXT(calls);
    if (!has_elsewhere())
        skip();
    for (size_t i = 0; i < COUNT_OF(all_sizes); i++) {
        struct trial t;
        if (trial_init(&t, &machine, &all_sizes[i])) {
            add_trial(&text, &t, i);
            text_printf(&calls, " || trial_%zu_fails()", i);
        }
        arena_free(&t.arena);
    }
    assert_true(calls.count > 0);
    assert_int_equal(run_elsewhere(&text, &calls), 0);
}

RUN_TESTS(TEST(kernels_compute_attention), TEST(kernels_run_on_aarch64))
