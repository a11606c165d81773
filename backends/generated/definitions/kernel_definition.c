// Kernels from an operator's definition: one for each stage, one thread for each of its entries. Operands and results
// stand in any way, so that layouts cost nothing here; an epilogue is applied to the value before it is stored.
//
// Stages that are no outputs are kept in the scratch memory, unrounded.
#include "backends/generated/definitions/kernel_definition.h"

#include "backends/generated/definitions/definition_text.h"
#include "backends/generated/kernel_loops.h"
#include "backends/generated/kernel_values.h"
#include "core/memory/arena.h"
#include "expressions/elements.h"
#include <inttypes.h>
#include <string.h>

#define THREADS_OF_BLOCK 128
#define MOST_BLOCKS 8192

// --- what a definition needs -----------------------------------------------------------------------------------------

// Whole numbers that are only read to be indices never become reals.
static bool is_read_as_real(const struct definition *d, int64_t tensor)
{
    size_t n_reads = 0, n_indices = 0;
    vec_each(&d->nodes, n) {
        n_reads += n->kind == EXPR_READ && n->value == tensor;
        const struct expr_node *a = n->kind == EXPR_INDEX_OF ? &d->nodes.items[n->a] : NULL;
        n_indices += a && a->kind == EXPR_READ && a->value == tensor;
    }
    return n_reads > n_indices;
}

static enum real_kind real_of(const struct definition *d)
{
    bool is_all_whole = true, is_float = true;
    for (int i = 0; i < d->n_inputs + d->n_stages; i++) {
        enum dtype dtype = definition_tensor(d, i)->dtype;
        is_all_whole = is_all_whole && holds_whole_numbers(dtype);
        is_float = is_float && (fits_single_precision(dtype) || (i < d->n_inputs && !is_read_as_real(d, i)));
    }
    return is_all_whole ? REAL_I64 : is_float ? REAL_F32 : REAL_F64;
}

bool definition_is_in_single_precision(const struct definition *d)
{
    return d->n_stages > 0 && real_of(d) == REAL_F32;
}

static bool has_kernels(const struct definition *d)
{
    return ALL(int, i, d->n_inputs + d->n_stages, dtype_has_numbers(definition_tensor(d, i)->dtype)) && d->n_stages > 0;
}

// --- stages ----------------------------------------------------------------------------------------------------------

// Threads that follow one another write entries that do.
static void add_places(struct definition_text *w, const struct view *result)
{
    int order[MAX_RANK];
    int64_t behind = 1;
    for (int i = 0; i < result->rank; i++) {
        int at = i;
        for (; at > 0 && result->stride[order[at - 1]] < result->stride[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = result->rank - 1; i >= 0; i--) {
        text_printf(&w->k.body, "const index i%d = place / %" PRId64 " %% %" PRId64 ";\n", order[i], behind,
                    result->dim[order[i]]);
        behind *= result->dim[order[i]];
    }
}

static void write_stage(struct definition_text *w, int stage, const struct loop *epilogue)
{
    const struct view *result = &w->views[w->d->n_inputs + stage];
    int64_t places = view_elements(result), blocks = (places + THREADS_OF_BLOCK - 1) / THREADS_OF_BLOCK;
    w->stage = &w->d->stages[stage];
    w->n_names = 0;
    w->k.blocks = blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
    text_printf(&w->k.body, "for (index tile = block; tile < %" PRId64 "; tile += n_blocks)\nTHREADS(t) {\n", blocks);
    text_printf(&w->k.body, "const index place = tile * BLOCK + t;\nif (place < %" PRId64 ") {\n", places);
    add_places(w, result);
    int value = definition_text_value(w, w->stage->body);
    definition_text_store(w, stage, epilogue, value);
    text_add(&w->k.body, "}\n}\n");
    definition_text_leave(w, 0);
}

// Outputs stand where the step's results do, other stages in scratch memory as reals.
static const struct view *place_tensors(const struct definition *d, const struct step *step, enum real_kind real,
                                        struct arena *arena, size_t *ret_scratch_bytes)
{
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_F64, DTYPE_I64};
    struct view *views = arena_array(arena, struct view, d->n_inputs + d->n_stages);
    size_t size = dtype_size(dtypes[real]), used = 0;
    for (int i = 0; i < d->n_inputs; i++)
        views[i] = step->operands[i];
    for (int i = 0; i < d->n_stages; i++) {
        struct type type = type_make(dtypes[real], d->stages[i].type.rank, d->stages[i].type.dim);
        views[d->n_inputs + i] = view_dense(KERNEL_SCRATCH, &type, LAYOUT_ROWS);
        views[d->n_inputs + i].offset = (int64_t)(used / size);
        bool is_output = false;
        for (int o = 0; o < d->n_outputs; o++)
            if (d->outputs[o] == i) {
                views[d->n_inputs + i] = step->results[o];
                is_output = true;
            }
        used += is_output ? 0 : (type_bytes(&type) + 255) / 256 * 256;
    }
    *ret_scratch_bytes = used;
    return views;
}

bool kernels_from_definition(const struct definition *d, const struct step *step, const char *prelude,
                             struct arena *arena, struct generated_kernels *ret_kernels)
{
    if (!has_kernels(d) || (step->n_loops && (d->n_stages != 1 || real_of(d) != REAL_F32)))
        return false;
    enum real_kind real = real_of(d);
    struct definition_text w = {.arena = arena, .d = d, .names = arena_array(arena, int, d->nodes.count + 1)};
    w.views = place_tensors(d, step, real, arena, &ret_kernels->scratch_bytes);
    memset(w.names, 0xff, d->nodes.count * sizeof *w.names);
    for (int i = 0; i < d->n_stages && !w.is_failed; i++) {
        w.k = (struct kernel_text){
            .real = real, .threads = THREADS_OF_BLOCK, .has_wide_index = definition_text_has_wide_index(&w)};
        if (view_elements(&w.views[d->n_inputs + i])) {
            write_stage(&w, i, step->n_loops ? &step->loops[0] : NULL);
            if (!w.is_failed)
                kernels_add(ret_kernels, &w.k, prelude, arena);
        }
        kernel_text_free(&w.k);
    }
    vec_free(&w.in_scope);
    return !w.is_failed;
}
