// Images of convolutions, how they stand, and what their sums are in double precision.
#pragma once
#include "backends/generated/tile.h"
#include "tests/backends/machines.h"

enum layout_of_image { LAST, BLOCKS, ROWS };

static inline struct tile_image image_of(enum layout_of_image layout, int64_t lanes, int64_t channels, int64_t height,
                                         int64_t width)
{
    int64_t all = channels * height * width;
    if (layout == LAST)
        return (struct tile_image){all, lanes, width * channels, channels, 1};
    if (layout == BLOCKS)
        return (struct tile_image){all, height * width * lanes, width * lanes, lanes, 1};
    return (struct tile_image){all, lanes * height * width, width, 1, height * width};
}

// Convolutions of one group and windows of one place.
static inline struct tile_definition definition_of(const struct machine *m, int64_t images, int64_t channels,
                                                   int64_t results, int64_t height, int64_t width)
{
    struct tile_definition d = {.lanes = m->lanes, .registers = m->registers, .images = images, .groups = 1};
    d.channels = channels;
    d.results = results;
    d.height = d.result_height = height;
    d.width = d.result_width = width;
    d.window = (struct tile_window){{1, 1}, {1, 1}, {1, 1}};
    return d;
}

static inline int64_t place_in(const struct tile_image *i, int64_t lanes, int64_t n, int64_t c, int64_t row,
                               int64_t column)
{
    return n * i->image + c / lanes * i->block + c % lanes * i->lane + row * i->row + column * i->pixel;
}

// The place of entry `i` of [image][channel][row][column].
static inline int64_t place_in_source(const struct tile_definition *d, int64_t i)
{
    int64_t w = d->width, h = d->height, channels = d->groups * d->channels;
    return place_in(&d->source, d->lanes, i / w / h / channels, i / w / h % channels, i / w % h, i % w);
}

static inline int64_t place_in_target(const struct tile_definition *d, int64_t i)
{
    int64_t w = d->result_width, h = d->result_height, channels = d->groups * d->results;
    return place_in(&d->target, d->lanes, i / w / h / channels, i / w / h % channels, i / w % h, i % w);
}

static inline int64_t result_of(const struct tile_definition *d, int64_t i)   // the channel of an entry
{
    return i / d->result_width / d->result_height % (d->groups * d->results);
}

static inline int64_t source_entries(const struct tile_definition *d)
{
    return d->images * d->groups * d->channels * d->height * d->width;
}

static inline int64_t target_entries(const struct tile_definition *d)
{
    return d->images * d->groups * d->results * d->result_height * d->result_width;
}

static inline int64_t weights_of_result(const struct tile_definition *d)
{
    return d->channels * d->window.kernel[0] * d->window.kernel[1];
}

static inline int64_t all_weights(const struct tile_definition *d)
{
    return d->groups * d->results * weights_of_result(d);
}

static inline double largest(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

// The sum, or the maximum, of an entry of the results, of [image][channel][row][column] and [result][channel of its
// group][row][column], and the sum of the sizes of all terms.
static inline double sum_at(const struct tile_definition *d, const double *x, const float *w, int64_t entry,
                            double *ret_size)
{
    const struct tile_window *window = &d->window;
    int64_t column = entry % d->result_width, row = entry / d->result_width % d->result_height;
    int64_t f = result_of(d, entry), n = entry / (d->result_width * d->result_height * d->groups * d->results);
    double sum = d->reading.is_maximum ? -INFINITY : 0;
    *ret_size = 0;
    for (int64_t i = 0; i < weights_of_result(d); i++) {
        int64_t c = f / d->results * d->channels + i / window->kernel[1] / window->kernel[0];
        int64_t r = i / window->kernel[1] % window->kernel[0], s = i % window->kernel[1];
        int64_t h = row * window->stride[0] + r * window->dilation[0] - window->pad[0];
        int64_t v = column * window->stride[1] + s * window->dilation[1] - window->pad[1];
        if (h < 0 || v < 0 || h >= d->height || v >= d->width)
            continue;
        double entry_of_source = x[((n * d->groups * d->channels + c) * d->height + h) * d->width + v];
        double term = d->reading.is_maximum ? entry_of_source : entry_of_source * w[f * weights_of_result(d) + i];
        sum = d->reading.is_maximum ? largest(sum, term) : sum + term;
        *ret_size += fabs(term);
    }
    return sum;
}

static inline int64_t one_to(struct random *random, int64_t most)
{
    return 1 + (int64_t)random_below(random, (uint64_t)most);
}

// Along one axis, with a size of the image.
static inline void choose_window(struct tile_definition *d, int i, struct random *random)
{
    int64_t *size = i ? &d->width : &d->height, *result = i ? &d->result_width : &d->result_height;
    d->window.kernel[i] = one_to(random, 5);
    d->window.stride[i] = one_to(random, 3);
    d->window.dilation[i] = one_to(random, 2);
    d->window.pad[i] = (int64_t)random_below(random, 4);
    *size = one_to(random, 18);
    int64_t places = *size + d->window.pad[i] + (int64_t)random_below(random, 4) -
                     (d->window.kernel[i] - 1) * d->window.dilation[i] - 1;
    *result = places < 0 ? 1 : places / d->window.stride[i] + 1;
}
