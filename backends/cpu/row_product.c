// A row by a matrix of weights: x[1,K] · w[K,N], bound by reading the weights once from memory.
//
// They are packed into panels of columns whose sums stay in the nearest cache, with as many panels as threads at least:
//
//     w =  | panel 0 | panel 1 | panel 2 |      each panel dense, row after row
//
// and a panel is read in several streams at a time (vector_functions.combine_rows). The epilogue runs on the whole row.
#include "backends/cpu/cpu_internal.h"
#include "backends/cpu/loops.h"
#include "core/memory/arena.h"

#define MOST_COLUMNS 4096   // of a panel: 16 KiB of sums
#define LEAST_COLUMNS 64    // that are worth a thread
#define WORTH_THREADS 1e5   // products

struct prepared_row {
    struct view source, target;
    int64_t rows, columns, panel;   // of the weights; columns of a panel, fewer in the last
    int threads;
    bool has_relu;
    const struct vector_functions *vector;
    struct compiled_loops *epilogue;   // or NULL
    float *packed;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t columns_of_panel(int64_t columns, int threads)
{
    int64_t share = (columns + threads - 1) / threads;
    share = (share + LEAST_COLUMNS - 1) / LEAST_COLUMNS * LEAST_COLUMNS;
    return smaller(share, MOST_COLUMNS);
}

static void pack(struct prepared_row *s, const struct view *weights, const float *from)
{
    int64_t along = weights->stride[weights->rank - 1], down = weights->stride[weights->rank - 2];
    float *to = s->packed;
    for (int64_t begin = 0; begin < s->columns; begin += s->panel) {
        int64_t n = smaller(s->panel, s->columns - begin);
        for (int64_t row = 0; row < s->rows; row++, to += n)
            s->vector->load(to, from + row * down + begin * along, along, n);
    }
}

static bool describe_weights_of_row(const void *state, struct packing *ret_packing)
{
    const struct prepared_row *s = state;
    *ret_packing = (struct packing){.rank = 2, .dim = {s->rows, s->columns}, .panel = s->panel};
    return true;
}

// Found packed, or else packed now.
static bool give_weights(struct prepared_row *s, const struct step_request *r)
{
    const struct view *weights = &r->step->operands[CPU_PACKED_OPERAND];
    size_t bytes = (size_t)(s->rows * s->columns) * sizeof *s->packed;
    struct packing packing;
    describe_weights_of_row(s, &packing);
    s->packed = (float *)cpu_find_packed(r, &packing, bytes);
    if (s->packed)
        return true;
    s->packed = arena_alloc(r->arena, bytes, 64);
    if (!cpu_provide_plain(r))
        return false;
    pack(s, weights, (const float *)(const void *)address_of_view(r->memory, weights));
    return true;
}

static void *prepare_row(const struct step_request *r)
{
    struct prepared_row *s = arena_new(r->arena, struct prepared_row);
    const struct step *step = r->step;
    const struct view *weights = &step->operands[1];
    s->source = step->operands[0];
    s->target = step->results[0];
    s->rows = weights->dim[0];
    s->columns = weights->dim[1];
    s->threads = (double)s->rows * (double)s->columns > WORTH_THREADS ? r->backend->threads : 1;
    s->panel = columns_of_panel(s->columns, s->threads);
    s->vector = r->backend->vector;
    s->has_relu = cpu_attribute_int(&r->plan->graph->nodes.items[step->node], ROLE_ACTIVATION) != 0;
    s->epilogue = cpu_compile_epilogue(r, 0);
    return give_weights(s, r) ? s : NULL;
}

static void run_panel(const struct prepared_row *s, const float *x, float *z, int64_t begin)
{
    int64_t n = smaller(s->panel, s->columns - begin);
    s->vector->combine_rows(z + begin, x, s->packed + begin * s->rows, s->rows, n);
    if (s->has_relu)
        s->vector->apply[FN_RELU](z + begin, z + begin, NULL, NULL, n);
}

static bool run_row(void *state, char *const *memory, char *scratch)
{
    const struct prepared_row *s = state;
    const float *x = (const float *)(const void *)address_of_view(memory, &s->source);
    float *z = (float *)(void *)address_of_view(memory, &s->target);
#pragma omp parallel for num_threads(s->threads) schedule(static) if (s->threads > 1)
    for (int64_t begin = 0; begin < s->columns; begin += s->panel)
        run_panel(s, x, z, begin);
    if (s->epilogue)
        loops_run(s->epilogue, memory);
    return true;
}

static int packed_operand_of_row(const void *state)
{
    return 1;
}

static size_t weights_of_row(const void *state, char **ret_weights)
{
    const struct prepared_row *s = state;
    *ret_weights = (char *)s->packed;
    return (size_t)(s->rows * s->columns) * sizeof *s->packed;
}

static bool accepts_any_epilogue(const struct planner *p, const struct step *step, const struct loop *loop)
{
    return true;
}

const struct cpu_kernel cpu_kernel_row = {
    .base = {.name = "row", .accepts_epilogue = accepts_any_epilogue},
    .prepare = prepare_row,
    .run = run_row,
    .weights = weights_of_row,
    .packed_operand = packed_operand_of_row,
    .describe_weights = describe_weights_of_row,
};
