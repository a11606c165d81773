// Kinds of tiles are told apart by their width and place at the edges.
#include "backends/generated/tile.h"

#include "backends/generated/vector_text.h"
#include "backends/planning/plan.h"
#include "core/numbers/integers.h"
#include "core/text/text.h"
#include <stdio.h>
#include <string.h>

#define WINDOW_COLUMNS 16   // at most: each of them has code of its own

static int64_t at_least_0(int64_t a)
{
    return a > 0 ? a : 0;
}

// --- definitions and shapes ------------------------------------------------------------------------------------------

bool tile_is_lanewise(const struct tile_definition *d)
{
    return d->groups > 1 && d->channels == d->results && d->channels < d->lanes && d->lanes % d->channels == 0 &&
           d->groups * d->channels >= d->lanes && d->source.lane == 1;
}

bool tile_is_of_one_pixel(const struct tile_definition *d)
{
    return ALL(int, i, 2, d->window.kernel[i] == 1 && d->window.stride[i] == 1 && d->window.pad[i] == 0) &&
           d->height == d->result_height && d->width == d->result_width;
}

int64_t tile_start_of(const struct tile_shape *k, int64_t tile)
{
    return tile * k->width - at_least_0(tile - k->wide);
}

static struct tile_kind kind_of_tile(const struct tile_definition *d, const struct tile_shape *k, int64_t tile)
{
    int64_t width = k->width - (tile >= k->wide),
            first = tile_start_of(k, tile) * d->window.stride[1] - d->window.pad[1];
    int64_t end = first + (width - 1) * d->window.stride[1] + (d->window.kernel[1] - 1) * d->window.dilation[1] + 1;
    return (struct tile_kind){width, at_least_0(-first), at_least_0(end - d->width)};
}

int tile_kind_number(const struct tile_definition *d, struct tile_shape *k, int64_t tile)
{
    struct tile_kind kind = kind_of_tile(d, k, tile);
    int i = FIRST_OF(int, n, k->n_kinds, memcmp(&k->kinds[n], &kind, sizeof kind) == 0);
    if (i == k->n_kinds && i < TILE_MOST_KINDS)
        k->kinds[k->n_kinds++] = kind;
    return i;
}

// Channels of the source are affine, or stand in whole blocks.
struct tile_shape tile_shape_of(const struct tile_definition *d, const struct tile_schedule *s)
{
    struct tile_shape k = {.is_lanewise = tile_is_lanewise(d)};
    int64_t tiles = divide_up(d->result_width, s->pixels), group = (int64_t)s->vectors * d->lanes;
    bool has_blocks = d->source.block != d->lanes * d->source.lane;
    k.tiles = tiles;
    k.width = divide_up(d->result_width, tiles);
    k.wide = d->result_width - tiles * (k.width - 1);
    k.results = k.is_lanewise ? d->groups * d->results : d->results;
    k.groups_each = divide_up(k.results, group);
    k.groups = k.is_lanewise ? k.groups_each : d->groups * k.groups_each;
    k.channel_blocks = has_blocks ? d->channels / d->lanes : 1;
    k.channels = has_blocks ? d->lanes : d->channels;
    if (!k.is_lanewise)
        k.source_group = has_blocks ? k.channel_blocks * d->source.block : d->channels * d->source.lane;
    k.is_short = !k.is_lanewise && k.results < group;
    k.stored = !k.is_lanewise && k.results < d->lanes ? k.results : d->lanes;
    k.has_pairs = k.is_short && s->vectors > 1 && 2 * (group - k.results) == d->lanes && k.channels % 2 == 0 &&
                  d->source.lane == 1;
    return k;
}

// The first tile after this one that is of another kind. Equal ones stand in a row: widths and columns to the left only
// fall, columns to the right only rise.
static int64_t next_of_another_kind(const struct tile_definition *d, const struct tile_shape *k, int64_t tile)
{
    const struct tile_kind kind = kind_of_tile(d, k, tile);
    int64_t equal = tile, other = k->tiles;
    while (other - equal > 1) {
        const int64_t middle = equal + (other - equal) / 2;
        const struct tile_kind there = kind_of_tile(d, k, middle);
        *(memcmp(&there, &kind, sizeof kind) == 0 ? &equal : &other) = middle;
    }
    return other;
}

bool tile_list_kinds(const struct tile_definition *d, struct tile_shape *k)
{
    int64_t tile = 0;
    while (tile < k->tiles && tile_kind_number(d, k, tile) != TILE_MOST_KINDS)
        tile = next_of_another_kind(d, k, tile);
    return tile >= k->tiles;
}

void tile_schedule_print(struct text *text, const struct tile_schedule *s)
{
    text_printf(text, s->terms ? "(parts p:%d q:%d t:%lld k:%lld)" : "(tile p:%d q:%d t:%lld)", s->pixels, s->vectors,
                (long long)s->tiles, (long long)s->terms);
}

bool tile_schedule_parse(const char *text, struct tile_schedule *ret_schedule)
{
    int p, q, t, k = 0, end = 0;
    if (sscanf(text, "(tile p:%3d q:%3d t:%8d)%n", &p, &q, &t, &end) != 3)
        sscanf(text, "(parts p:%3d q:%3d t:%8d k:%6d)%n", &p, &q, &t, &k, &end);
    if (!end || text[end])
        return false;
    *ret_schedule = (struct tile_schedule){p, q, t, k};
    return p >= 1 && p <= TILE_MOST_PIXELS && q >= 1 && q <= TILE_MOST_VECTORS && t >= 1 && k >= 0;
}

// Do channels of a group start where a group of vectors may?
static bool suits_image(int64_t lanes, const struct tile_image *i, int64_t channels)
{
    bool is_affine = i->block == lanes * i->lane;
    return is_affine || (channels % lanes == 0 && i->lane == 1);
}

static int64_t places_of_window(const struct tile_definition *d)
{
    return d->window.kernel[0] * d->window.kernel[1];
}

bool tile_may_sum_in_parts(const struct tile_definition *d)
{
    return !tile_is_lanewise(d) && d->groups == 1 && !d->reading.is_scaled &&
           d->channels * places_of_window(d) >= 2 * TILE_FEWEST_TERMS;
}

size_t tile_scratch_floats(const struct tile_definition *d, const struct tile_schedule *s)
{
    struct tile_shape k = tile_shape_of(d, s);
    int64_t all = d->images * d->result_height * k.tiles, tiles = s->tiles < all ? s->tiles : all;
    return s->terms ? (size_t)(k.groups * tiles * k.width * s->vectors * d->lanes) : 0;
}

// Parts are of whole blocks of channels.
static bool suits_parts(const struct tile_definition *d, const struct tile_schedule *s, const struct tile_shape *k)
{
    return tile_may_sum_in_parts(d) && !k->has_pairs && s->terms * places_of_window(d) <= TILE_TERMS_AT_ONCE &&
           (k->channel_blocks == 1 || s->terms % d->lanes == 0) && tile_scratch_floats(d, s) <= TILE_MOST_SUMS;
}

bool tile_suits(const struct tile_definition *d, const struct tile_schedule *s)
{
    if (s->pixels < 1 || s->pixels > TILE_MOST_PIXELS || s->vectors < 1 || s->vectors > TILE_MOST_VECTORS ||
        s->tiles < 1 || d->images < 1 || d->channels < 1 || d->results < 1 || d->result_height < 1 ||
        d->result_width < 1 || d->window.kernel[0] < 1 || d->window.kernel[1] < 1 ||
        d->window.kernel[1] > WINDOW_COLUMNS)
        return false;
    struct tile_shape k = tile_shape_of(d, s);
    int64_t channels = k.is_lanewise ? d->groups * d->channels : d->channels;
    if ((d->reading.is_scaled && (k.is_lanewise || d->groups > 1)) ||
        (d->reading.is_maximum && (!k.is_lanewise || d->channels > 1)) || (s->terms && !suits_parts(d, s, &k)))
        return false;
    return k.results > (int64_t)(s->vectors - 1) * d->lanes && (!k.is_lanewise || s->vectors == 1) &&
           d->target.lane == 1 && suits_image(d->lanes, &d->source, channels) &&
           suits_image(d->lanes, &d->target, k.results) && tile_list_kinds(d, &k);
}

static int64_t vectors_computed(const struct tile_definition *d, int q)
{
    return q * divide_up(d->results, (int64_t)q * d->lanes);
}

int tile_best_vectors(const struct tile_definition *d)
{
    static const int by_preference[] = {4, 2, 3, 5};
    int best = 1;
    for (size_t i = sizeof by_preference / sizeof *by_preference; i-- > 0;) {
        int q = by_preference[i];
        if ((q - 1) * d->lanes < d->results && d->results >= d->lanes &&
            vectors_computed(d, q) <= vectors_computed(d, best))
            best = q;
    }
    return best;
}

bool tile_takes_epilogue(const struct tile_definition *d)
{
    const struct loop *l = d->epilogue.loop;
    bool is_lanewise = tile_is_lanewise(d);
    if (!ALL(int, i, l->n_instructions, vector_text_knows(&l->instructions[i])))
        return false;
    for (int i = 1; i < l->n_operands; i++) {
        const struct tile_image *o = &d->epilogue.operands[i];
        bool is_one = o->lane == 0 && o->block == 0;
        if (l->operands[i].dtype != DTYPE_F32 ||
            !(is_one || (o->lane == 1 && suits_image(d->lanes, o, is_lanewise ? d->groups * d->results : d->results))))
            return false;
    }
    return l->n_results == 1 && l->results[0].to.dtype == DTYPE_F32;
}

int tile_n_operands(const struct tile_definition *d)
{
    return d->epilogue.loop ? d->epilogue.loop->n_operands : 1;
}
