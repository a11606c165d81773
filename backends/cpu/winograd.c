// Convolutions of 3x3 in steps of one by Winograd's algorithm, where the library has it: it multiplies less, and loses
// more digits. Its kernels take images in blocks of 16 channels; an epilogue that they do not apply runs behind them.
#include "backends/cpu/conv.h"
#include "backends/cpu/primitive.h"
#include "backends/cpu/ways.h"
#include <stdio.h>

enum { BLOCK = ONEDNN_WINOGRAD_BLOCK };

static bool is_in_blocks(const struct view *image)
{
    return cpu_tensor_of_image(image, BLOCK).block == BLOCK;
}

static bool takes(const struct plan *plan, const struct step *step)
{
    return cpu_is_conv_of_3x3(plan, step) && is_in_blocks(&step->operands[0]) && is_in_blocks(&step->results[0]);
}

static void list(const struct cpu_backend *b, const struct plan *plan, const struct step *step, choice_list *list)
{
    struct listed_choice c = {.precision = PRECISION_FAST};
    snprintf(c.text, sizeof c.text, "%s", cpu_way_winograd.name);
    if (onednn_block_of_channels() == BLOCK)
        vec_push(list, c);
}

static void *prepare(const struct step_request *r)
{
    return cpu_prepare_conv(r, ONEDNN_WINOGRAD);
}

static const struct cpu_kernel kernel = {
    .base = {.name = "conv"},
    .prepare = prepare,
    .run = cpu_primitive_run,
    .scratch_bytes = cpu_primitive_scratch_bytes,
    .weights = cpu_primitive_weights,
    .packed_operand = cpu_primitive_packed_operand,
    .describe_weights = cpu_primitive_describe_weights,
    .free = cpu_primitive_free,
};
const struct cpu_way cpu_way_winograd = {"winograd", takes, list, &kernel};
