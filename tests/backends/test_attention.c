// Kernels of product, softmax and product against the same in double precision: rows, columns and depths that fill no
// blocks and no vectors, matrices either way, parts; on every instruction set, also on another processor's.
#include "backends/generated/chains/attention.h"
#include "backends/generated/tile_arguments.h"
#include "tests/backends/elsewhere.h"
#include "tests/backends/parts.h"

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
    float *q, *k, *v;
    double *wanted;
    int64_t *lists[ATTENTION_N_LISTS];
    size_t n[ATTENTION_N_LISTS];
};

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
        double score = SUM_ALL(double, int64_t, c, s->inner,
                               (double)t->q[(product * s->rows + row) * s->inner + c] * entry_of_k(t, product, c, j));
        sum += scores[j] = exp(score);
    }
    for (int64_t x = 0; x < s->depth; x++) {
        double value =
            SUM_ALL(double, int64_t, j, s->columns, scores[j] / sum * t->v[(product * s->columns + j) * s->depth + x]);
        t->wanted[(product * s->rows + row) * s->depth + x] = value;
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
    t->d = (struct attention_definition){.products = s->products, .rows = s->rows};
    t->d.tiles[0] = tile_of(m, s->inner, s->columns);
    t->d.tiles[1] = tile_of(m, s->columns, s->depth);
    t->d.column[0] = s->is_turned ? s->inner : 1;
    t->d.row[0] = s->is_turned ? 1 : s->columns;
    t->d.column[1] = 1;
    t->d.row[1] = s->depth;
    if (!attention_complete(&t->d))
        return false;
    t->q = random_floats(&t->arena, s->products * s->rows * s->inner, &random);
    t->k = random_floats(&t->arena, s->products * s->inner * s->columns, &random);
    t->v = random_floats(&t->arena, s->products * s->columns * s->depth, &random);
    t->wanted = arena_array(&t->arena, double, s->products * s->rows * s->depth);
    for (int64_t i = 0; i < s->products * s->rows; i++)
        compute_row(t, i / s->rows, i % s->rows);
    list_numbers(t);
    return true;
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
    int64_t n = t->sizes.products * t->sizes.rows * t->sizes.depth;
    size_t each = (attention_scratch_floats(&t->d) + 15) / 16 * 16;
    float *y = arena_array(&t->arena, float, n + 1), *scratch = arena_alloc(&t->arena, 3 * each * sizeof *scratch, 64);
    const float *none[1] = {NULL}, *const * operands[] = {none, none};
    const void *given[] = {t->q, t->k, t->v, y, operands, t->lists};
    attention_print(&text, &t->d);
    for (int parts = 1; parts <= 3; parts++) {
        run_in_parts(service, &text, given, scratch, each, parts, y, n);
        for (int64_t i = 0; i < n; i++)
            assert_true(fabs(y[i] - t->wanted[i]) <= ALLOWED);
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

TEST_ON_MACHINES(kernels_compute_attention)
{
    visit_trials(service, m, k, expect_trial);
    int n = visit_trials(service, m, k, check_trial);
    assert_true(n >= (int)COUNT_OF(all_sizes));
}

static void add_trial(struct elsewhere *e, struct trial *t)
{
    const struct sizes *s = &t->sizes;
    size_t n = (size_t)(s->products * s->rows * s->depth);
    double *allowed = arena_array(&t->arena, double, n);
    for (size_t i = 0; i < n; i++)
        allowed[i] = ALLOWED;
    elsewhere_begin_trial(e);
    attention_print(&e->text, &t->d);
    add_floats(e, "q", t->q, (size_t)(s->products * s->rows * s->inner));
    add_floats(e, "k", t->k, (size_t)(s->products * s->inner * s->columns));
    add_floats(e, "v", t->v, (size_t)(s->products * s->columns * s->depth));
    for (int i = 0; i < ATTENTION_N_LISTS; i++) {
        TEXT(name);
        text_printf(&name, "list_%d", i);
        add_integers(e, name.chars, t->lists[i], t->n[i]);
    }
    elsewhere_end_trial(e, n, t->wanted, allowed, attention_scratch_floats(&t->d), 2,
                        "const float *none[1] = {0}, *const *operands[] = {none, none};\n"
                        "const I *const lists[] = {NAMED(list_0), NAMED(list_1), NAMED(list_2), NAMED(list_3)};\n"
                        "const void *given[] = {NAMED(q), NAMED(k), NAMED(v), NAMED(y), operands, lists};\n"
                        "NAMED(run)(given, NAMED(scratch), part, parts);\n");
}

TEST(kernels_run_on_aarch64)
{
    ELSEWHERE(e);
    for (size_t i = 0; i < COUNT_OF(all_sizes); i++) {
        struct trial t;
        if (trial_init(&t, &machine, &all_sizes[i]))
            add_trial(&e, &t);
        arena_free(&t.arena);
    }
    elsewhere_run(&e);
}
