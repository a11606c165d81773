// Weights stand as the sums read them; numbers of tiles come behind those of operands.
#include "backends/generated/tile_arguments.h"

#include "backends/planning/plan.h"
#include <string.h>

// --- weights ---------------------------------------------------------------------------------------------------------
//
//     [group of vectors][row][column][channel][lanes of the group]

static int64_t floats_of_group(const struct tile_definition *d, const struct tile_schedule *s)
{
    return d->reading.is_maximum ? 0 : d->window.kernel[0] * d->window.kernel[1] * d->channels * s->vectors * d->lanes;
}

int64_t tile_weight_groups(const struct tile_definition *d, const struct tile_schedule *s)
{
    return tile_shape_of(d, s).groups;
}

size_t tile_weights_floats(const struct tile_definition *d, const struct tile_schedule *s)
{
    return (size_t)(floats_of_group(d, s) * tile_shape_of(d, s).groups);
}

static int64_t first_result(const struct tile_definition *d, const struct tile_schedule *s, const struct tile_shape *k,
                            int64_t group)
{
    int64_t within = group % k->groups_each * s->vectors * d->lanes, last = k->results - s->vectors * d->lanes;
    return group / k->groups_each * k->results + (within < last || k->is_short ? within : last);
}

// With a pair of channels stand the weights of both, with the first of them.
static float weight_of_lane(const struct tile_definition *d, const struct tile_schedule *s, const struct tile_shape *k,
                            const float *weights, const int64_t stride[4], int64_t channel, int64_t lane)
{
    int64_t first = (int64_t)(s->vectors - 1) * d->lanes;
    if (k->stored < d->lanes)
        return lane < k->stored ? weights[lane * stride[0] + channel * stride[1]] : 0;
    if (k->has_pairs && lane >= first) {
        if (channel % 2)
            return 0;
        channel += (lane - first) % 2;
        lane = first + (lane - first) / 2;
    } else if (k->is_short && lane >= first) {
        lane += k->results - d->lanes - first;
    }
    return weights[lane * stride[0] + channel * stride[1]];
}

void tile_pack(const struct tile_definition *d, const struct tile_schedule *s, const float *weights,
               const int64_t stride[4], float *ret_packed, int64_t first_group, int64_t n_groups)
{
    struct tile_shape k = tile_shape_of(d, s);
    int64_t width = (int64_t)s->vectors * d->lanes;
    for (int64_t group = first_group; group < first_group + n_groups; group++) {
        float *to = ret_packed + group * floats_of_group(d, s);
        const float *from = weights + first_result(d, s, &k, group) * stride[0];
        for (int64_t i = 0; i < d->window.kernel[0]; i++)
            for (int64_t j = 0; j < d->window.kernel[1]; j++)
                for (int64_t c = 0; c < d->channels; c++)
                    for (int64_t lane = 0; lane < width; lane++)
                        *to++ = weight_of_lane(d, s, &k, from + i * stride[2] + j * stride[3], stride, c, lane);
    }
}

// --- numbers ---------------------------------------------------------------------------------------------------------

int tile_number_of_operand(int i)
{
    return TILE_N_NUMBERS + 4 * (i - 1);
}

int tile_number_of_tiles(const struct tile_definition *d)
{
    return tile_number_of_operand(tile_n_operands(d));
}

size_t tile_n_numbers(const struct tile_definition *d, const struct tile_schedule *s)
{
    return (size_t)tile_number_of_tiles(d) + 2 * (size_t)tile_shape_of(d, s).tiles;
}

void tile_list_numbers(const struct tile_definition *d, const struct tile_schedule *s, int64_t *ret_numbers)
{
    struct tile_shape k = tile_shape_of(d, s);
    const struct tile_image *x = &d->source, *y = &d->target;
    const int64_t w_row = d->reading.is_maximum ? 0 : d->window.kernel[1] * d->channels * s->vectors;
    const int64_t first[TILE_N_NUMBERS] = {d->images,
                                           d->result_height,
                                           k.tiles,
                                           k.groups,
                                           k.groups_each,
                                           k.results,
                                           s->tiles,
                                           d->height,
                                           k.channel_blocks,
                                           k.channels,
                                           x->image,
                                           x->block,
                                           x->row,
                                           x->lane,
                                           k.source_group,
                                           y->image,
                                           y->block,
                                           y->row,
                                           y->pixel,
                                           floats_of_group(d, s),
                                           x->pixel,
                                           w_row,
                                           d->reading.scale_image};
    memcpy(ret_numbers, first, sizeof first);
    for (int i = 1; i < tile_n_operands(d); i++) {
        const struct tile_image *o = &d->epilogue.operands[i];
        memcpy(ret_numbers + tile_number_of_operand(i), (int64_t[4]){o->image, o->block, o->row, o->pixel},
               4 * sizeof(int64_t));
    }
    for (int64_t i = 0; i < k.tiles; i++) {
        int64_t *tile = ret_numbers + tile_number_of_tiles(d) + 2 * i;
        tile[0] = tile_kind_number(d, &k, i);
        tile[1] = tile_start_of(&k, i);
    }
}
