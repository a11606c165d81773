// Kernels of product, softmax and product against the same in double precision: rows, columns and depths that fill no
// blocks and no vectors, matrices either way, parts; on every instruction set, also on another processor's.
#include "backends/generated/chains/attention.h"
#include "backends/generated/tile_arguments.h"
#include "tests/backends/kernels.h"

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

static void check_trial(struct place *at, struct trial *t, const struct text *text)
{
    const struct sizes *s = &t->sizes;
    int64_t n = s->products * s->rows * s->depth;
    struct kernel_call c = {text, .n_y = n, .wanted = t->wanted, .n_scratch = attention_scratch_floats(&t->d)};
    double *allowed = arena_array(&t->arena, double, n);
    const void *none[1] = {NULL}, *operands[2], *lists[ATTENTION_N_LISTS];
    for (int64_t i = 0; i < n; i++)
        allowed[i] = ALLOWED;
    for (int i = 0; i < ATTENTION_N_LISTS; i++)
        lists[i] = give(&c, INTEGERS, t->lists[i], t->n[i]);
    operands[0] = operands[1] = give(&c, ADDRESSES, none, 1);
    c.y = arena_array(&t->arena, float, n + 1);
    GIVE(c, give(&c, FLOATS, t->q, (size_t)(s->products * s->rows * s->inner)),
         give(&c, FLOATS, t->k, (size_t)(s->products * s->inner * s->columns)),
         give(&c, FLOATS, t->v, (size_t)(s->products * s->columns * s->depth)), c.y, give(&c, ADDRESSES, operands, 2),
         give(&c, ADDRESSES, lists, ATTENTION_N_LISTS));
    c.allowed = allowed;
    c.scratch = arena_alloc(&t->arena, c.n_scratch * sizeof *c.scratch, 64);
    for (c.parts = at->service ? 1 : 3; c.parts <= 3; c.parts++)
        check_call(at, &c);
}

static struct sizes random_sizes(struct random *random)
{
    int64_t n[5];
    static const uint64_t most[5] = {3, 90, 70, 200, 90};
    for (int i = 0; i < 5; i++)
        n[i] = 1 + (int64_t)random_below(random, most[i]);
    return (struct sizes){n[0], n[1], n[2], n[3], n[4], random_below(random, 2) == 0};
}

TEST_OF_KERNELS(kernels_compute_attention)
{
    struct random random = random_seed((uint64_t)at->number);
    for (size_t i = 0; i < COUNT_OF(all_sizes) + (size_t)trials_at(at, 0); i++) {
        struct trial t;
        TEXT(text);
        struct sizes sizes = i < COUNT_OF(all_sizes) ? all_sizes[i] : random_sizes(&random);
        if (trial_init(&t, at->machine, &sizes)) {
            attention_print(&text, &t.d);
            if (!is_collected(at, &text))
                check_trial(at, &t, &text);
        }
        arena_free(&t.arena);
    }
    assert_true(at->n_met >= (int)COUNT_OF(all_sizes));
}
