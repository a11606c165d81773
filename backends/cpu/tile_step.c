// Rows of pixels that follow each other everywhere, as in products and in most convolutions of 1x1, are one row.
#include "backends/cpu/tile_step.h"

#include "backends/cpu/epilogue.h"
#include "backends/cpu/generated.h"
#include "backends/cpu/step_tensors.h"
#include "backends/planning/plan_memory.h"

// --- the step as a definition ----------------------------------------------------------------------------------------

static bool is_product(const struct step *step)
{
    return step->kernel == &cpu_kernel_linear.base;
}

bool cpu_is_tiled(const struct plan *plan, const struct step *step)
{
    bool is_conv = step->kernel == &cpu_kernel_conv.base && step->results[0].rank == 4;
    return (is_conv || is_product(step)) && plan_keeps(plan, step->operands[1].memory);
}

bool cpu_is_pool(const struct step *step)
{
    return step->kernel == &cpu_kernel_pool.base && step->results[0].rank == 4;
}

static bool image_of(int rank, const int64_t *dim, const int64_t *stride, int block, int block_axis, int lanes,
                     bool is_product, struct tile_image *ret_image)
{
    struct tile_image i = {.lane = block ? 1 : stride[is_product ? rank - 1 : 1]};
    i.block = block ? stride[1] : lanes * i.lane;
    if (block && (is_product || block != lanes || block_axis != 1))
        return false;
    bool is_image = is_product ? view_find_rows(rank, dim, stride, &i.pixel) : rank == 4;
    if (is_image && !is_product) {
        i.image = stride[0];
        i.row = stride[2];
        i.pixel = stride[3];
    }
    *ret_image = i;
    return is_image;
}

static bool image_of_view(const struct view *v, int lanes, bool is_product, struct tile_image *ret_image)
{
    return image_of(v->rank, v->dim, v->stride, v->block, v->block_axis, lanes, is_product, ret_image);
}

static void define_window(struct tile_definition *d, const struct plan *plan, const struct step *step)
{
    const struct node *n = &plan->graph->nodes.items[step->node];
    bool is_pool = cpu_is_pool(step);
    struct onednn_window w =
        cpu_window_of(n, 2, is_pool ? node_attribute(n, ROLE_KERNEL)->ints : step->operands[1].dim + 2);
    d->groups = is_pool ? step->results[0].dim[1] : cpu_attribute_int(n, ROLE_GROUPS);
    for (int i = 0; i < 2; i++) {
        d->window.kernel[i] = w.kernel[i];
        d->window.stride[i] = w.stride[i];
        d->window.dilation[i] = w.dilation[i];
        d->window.pad[i] = w.pad_begin[i];
    }
    d->images = step->results[0].dim[0];
    d->channels = step->operands[0].dim[1] / d->groups;
    d->results = step->results[0].dim[1] / d->groups;
    d->height = step->operands[0].dim[2];
    d->width = step->operands[0].dim[3];
    d->result_height = step->results[0].dim[2];
    d->result_width = step->results[0].dim[3];
}

static void define_product(struct tile_definition *d, const struct step *step)
{
    *d = (struct tile_definition){.lanes = d->lanes,
                                  .registers = d->registers,
                                  .images = 1,
                                  .groups = 1,
                                  .channels = step->operands[1].dim[0],
                                  .results = step->operands[1].dim[1],
                                  .height = 1,
                                  .width = step->operands[0].dim[0],
                                  .result_height = 1,
                                  .result_width = step->operands[0].dim[0],
                                  .window.kernel = {1, 1},
                                  .window.stride = {1, 1},
                                  .window.dilation = {1, 1}};
}

bool cpu_tile_define(struct tile_step *s, const struct cpu_backend *b, const struct plan *plan, const struct step *step)
{
    const struct cpu_machine *machine = b->machine;
    struct tile_definition *d = &s->definition;
    *d = (struct tile_definition){.lanes = machine->lanes, .registers = machine->registers};
    s->source = &step->operands[0];
    s->target = &step->results[0];
    s->threads = b->threads;
    s->is_product = is_product(step);
    if (s->is_product)
        define_product(d, step);
    else
        define_window(d, plan, step);
    d->epilogue.has_relu = cpu_has_activation(plan->graph, step);
    return image_of_view(s->source, d->lanes, is_product(step), &d->source) &&
           image_of_view(s->target, d->lanes, is_product(step), &d->target);
}

bool cpu_tile_define_epilogue(struct tile_step *s, const struct step *step, struct arena *arena)
{
    const struct loop *l = step->n_loops ? &step->loops[0] : NULL;
    bool is_taken = true;
    if (!l)
        return true;
    s->operands = arena_array(arena, struct tile_image, (size_t)l->n_operands);
    s->addresses = arena_array(arena, const float *, (size_t)l->n_operands);
    for (int i = 1; i < l->n_operands && is_taken; i++) {
        const struct loop_access *a = &l->operands[i];
        is_taken = image_of(l->rank, l->dim, a->stride, a->block, a->block_variable, s->definition.lanes,
                            is_product(step), &s->operands[i]);
    }
    s->definition.epilogue.operands = s->operands;
    s->definition.epilogue.loop = s->loop = l;
    if (is_taken && tile_takes_epilogue(&s->definition))
        return true;
    s->definition.epilogue.loop = s->loop = NULL;
    return false;
}

// Entries of a window that lie within the image on an axis, or all.
static int64_t count_entries(const struct tile_definition *d, int axis, int64_t result, bool do_all_count)
{
    int64_t first = result * d->window.stride[axis] - d->window.pad[axis], n = 0;
    for (int64_t i = 0; i < d->window.kernel[axis]; i++) {
        int64_t at = first + i * d->window.dilation[axis];
        n += do_all_count || (at >= 0 && at < (axis ? d->width : d->height));
    }
    return n;
}

static void divide_by_counts(struct tile_step *s, bool do_all_count, struct arena *arena)
{
    static const struct loop_access operands[] = {{.dtype = DTYPE_F32}, {.dtype = DTYPE_F32}};
    static const struct loop_result result = {VALUE_OF_INSTRUCTION, {.dtype = DTYPE_F32}};
    static const struct instruction product = {.kind = INSTRUCTION_APPLY, .fn = FN_MUL, .a = 0, .b = 1};
    static const struct loop by_share = {.rank = 4,
                                         .n_operands = 2,
                                         .n_instructions = 1,
                                         .n_results = 1,
                                         .operands = (struct loop_access *)operands,
                                         .instructions = (struct instruction *)&product,
                                         .results = (struct loop_result *)&result};
    struct tile_definition *d = &s->definition;
    float *shares = arena_array(arena, float, d->result_height * d->result_width);
    for (int64_t i = 0; i < d->result_height * d->result_width; i++)
        shares[i] = 1 / (float)(count_entries(d, 0, i / d->result_width, do_all_count) *
                                count_entries(d, 1, i % d->result_width, do_all_count));
    s->operands = arena_array(arena, struct tile_image, 2);
    s->operands[1] = (struct tile_image){.row = d->result_width, .pixel = 1};
    s->addresses = arena_array(arena, const float *, 2);
    s->addresses[1] = shares;
    d->epilogue.operands = s->operands;
    d->epilogue.loop = &by_share;
}

// --- one row of all --------------------------------------------------------------------------------------------------

static bool are_rows_one(const struct tile_definition *d)
{
    bool are_one = d->source.row == d->width * d->source.pixel && d->target.row == d->width * d->target.pixel;
    for (int i = 1; d->epilogue.loop && i < d->epilogue.loop->n_operands; i++)
        are_one = are_one && d->epilogue.operands[i].row == d->width * d->epilogue.operands[i].pixel;
    return are_one;
}

static bool are_images_one(const struct tile_definition *d)
{
    bool are_one = d->source.image == d->width * d->source.pixel && d->target.image == d->width * d->target.pixel;
    for (int i = 1; d->epilogue.loop && i < d->epilogue.loop->n_operands; i++)
        are_one = are_one && d->epilogue.operands[i].image == d->width * d->epilogue.operands[i].pixel;
    return are_one;
}

static void join_rows(struct tile_definition *d)
{
    if (!tile_is_of_one_pixel(d) || (d->height > 1 && !are_rows_one(d)))
        return;
    d->width = d->result_width = d->height * d->width;
    d->height = d->result_height = 1;
    if (d->images > 1 && are_images_one(d)) {
        d->width = d->result_width = d->images * d->width;
        d->images = 1;
    }
}

bool cpu_tile_define_whole(struct tile_step *s, const struct cpu_backend *b, const struct plan *plan,
                           const struct step *step, struct arena *arena)
{
    const struct node *n = &plan->graph->nodes.items[step->node];
    bool is_pool = cpu_is_pool(step);
    if ((!is_pool && step->operands[CPU_PACKED_OPERAND].block) || !cpu_tile_define(s, b, plan, step))
        return false;
    s->definition.reading.is_maximum = is_pool && operator_find_role(n->op, ROLE_PADDING) < 0;
    if (is_pool && !s->definition.reading.is_maximum)
        divide_by_counts(s, cpu_attribute_int(n, ROLE_PADDING) != 0, arena);
    else
        cpu_tile_define_epilogue(s, step, arena);
    join_rows(&s->definition);
    return true;
}

// --- weights and addresses -------------------------------------------------------------------------------------------

void cpu_tile_weight_distances(const struct step *step, int64_t ret_distances[4])
{
    const struct view *w = &step->operands[CPU_PACKED_OPERAND];
    for (int i = 0; i < 4; i++)
        ret_distances[i] = i >= w->rank ? 0 : w->stride[is_product(step) ? 1 - i : i];
}

void cpu_tile_find_addresses(const struct tile_step *s, char *const *memory)
{
    if (s->scale)
        s->addresses[0] = (const float *)memory[s->scale->memory] + s->scale->offset;
    for (int i = 1; s->loop && i < s->loop->n_operands; i++)
        s->addresses[i] = (const float *)memory[s->loop->operands[i].memory] + s->loop->operands[i].offset;
}
