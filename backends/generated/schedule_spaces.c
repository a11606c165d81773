// Tiles of a row are nearly equally wide, so its width divided by each number of tiles gives all widths there are; how
// many tiles are done at once grows by factors, up to all of them.
#include "backends/generated/schedule_spaces.h"

#include "backends/generated/tile_arguments.h"
#include "core/numbers/integers.h"
#include <stdio.h>

#define MOST_WINOGRAD_TILES 512
#define NEAR_BYTES ((double)(1 << 20))   // of a cache that a core has alone
#define BYTES 4
#define TILES_OF_PARTS 8   // at once, unless there are fewer

static struct schedule_axis *add_axis(struct schedule_space *space, const char *name)
{
    struct schedule_axis *axis = &space->axes[space->n_axes++];
    snprintf(axis->name, sizeof axis->name, "%s", name);
    return axis;
}

// --- register tiles --------------------------------------------------------------------------------------------------

static int64_t results_of(const struct tile_definition *d)
{
    return tile_is_lanewise(d) ? d->groups * d->results : d->results;
}

static int64_t tiles_of(const struct tile_definition *d, int64_t pixels)
{
    return d->images * d->result_height * divide_up(d->result_width, pixels);
}

// Widths are those that the fewest tiles of each width or less come to.
static void list_widths(const struct tile_definition *d, struct schedule_axis *axis)
{
    for (int width = TILE_MOST_PIXELS; width >= 1; width--)
        schedule_axis_add(axis, divide_up(d->result_width, divide_up(d->result_width, width)));
}

// The fewest, times 2, 4, ..., up to all tiles.
static void list_tiles_at_once(const struct tile_definition *d, int64_t fewest, struct schedule_axis *axis)
{
    int64_t most = tiles_of(d, TILE_MOST_PIXELS);
    for (int64_t t = fewest; t < most; t *= 2)
        schedule_axis_add(axis, t);
    schedule_axis_add(axis, tiles_of(d, 1));
}

static void list_loops(struct schedule_space *space, const char *family, const int64_t *results, int n_results,
                       const int64_t *sums, int n_sums)
{
    snprintf(space->family, sizeof space->family, "%s", family);
    for (int i = 0; i < n_results; i++)
        schedule_space_add_loop(space, results[i], true);
    for (int i = 0; i < n_sums; i++)
        schedule_space_add_loop(space, sums[i], false);
}

static void list_tiles(const struct tile_definition *d, const char *family, int64_t fewest,
                       struct schedule_space *space)
{
    const int64_t results[] = {d->images, d->groups, d->results, d->result_height, d->result_width};
    const int64_t sums[] = {d->channels, d->window.kernel[0], d->window.kernel[1]};
    list_loops(space, family, results, 5, sums, 3);
    list_widths(d, add_axis(space, "p"));
    struct schedule_axis *vectors = add_axis(space, "q");
    for (int q = 1; q <= (tile_is_lanewise(d) ? 1 : TILE_MOST_VECTORS); q++)
        schedule_axis_add(vectors, q);
    list_tiles_at_once(d, fewest, add_axis(space, "t"));
}

void tile_list_schedules(const struct tile_definition *d, struct schedule_space *space)
{
    list_tiles(d, tile_is_lanewise(d) ? "lanewise" : "dense", 1, space);
}

// Parts are for weights that many tiles find near.
void tile_list_schedules_by_parts(const struct tile_definition *d, struct schedule_space *space)
{
    list_tiles(d, "parts", TILES_OF_PARTS, space);
    struct schedule_axis *terms = add_axis(space, "k");
    int64_t all = d->channels * d->window.kernel[0] * d->window.kernel[1];
    int64_t fewest = divide_up(all, TILE_TERMS_AT_ONCE);
    for (int64_t n = fewest > 2 ? fewest : 2; n <= all / TILE_FEWEST_TERMS; n += 1 + n / 4)
        schedule_axis_add(terms, divide_up(d->channels, n * d->lanes) * d->lanes);
}

// Accumulators, weights and an entry of the source; lanewise also an entry for each channel of a group, and weights of
// a row of the window as far as there is room.
static bool has_registers(const struct tile_definition *d, const struct tile_schedule *s)
{
    int64_t needed = (int64_t)s->pixels * s->vectors + s->vectors + 1;
    return needed + (tile_is_lanewise(d) ? d->channels : 0) <= d->registers;
}

bool tile_describe(const struct tile_definition *d, const struct tile_schedule *s, struct schedule_features *ret)
{
    if (!tile_suits(d, s) || !has_registers(d, s))
        return false;
    double vector = s->vectors * d->lanes, groups = (double)tile_weight_groups(d, s), window;
    double tiles = (double)tiles_of(d, s->pixels), chunks = (double)divide_up((int64_t)tiles, s->tiles);
    double width = (double)d->result_width / (double)divide_up(d->result_width, s->pixels);
    double results = (double)results_of(d), pixels = (double)(d->images * d->result_height * d->result_width);
    double at_once = (double)s->tiles < tiles ? (double)s->tiles : tiles;
    double terms = (double)(s->terms ? s->terms : d->channels);
    double source = at_once * width * (double)(d->window.stride[0] * d->window.stride[1]) * terms;
    window = (double)(d->window.kernel[0] * d->window.kernel[1]);
    *ret = (struct schedule_features){.space = pixels * results * (tile_is_lanewise(d) ? 1 : (double)d->groups)};
    ret->reduction = (double)d->channels * window;
    ret->operations = 2 * pixels * groups * vector * ret->reduction;
    ret->useful = 2 * ret->space * ret->reduction / ret->operations;
    ret->blocks = chunks * groups;
    ret->lanes = tiles * groups * vector;
    ret->packed_bytes = BYTES * ret->blocks * (source + vector * ret->reduction);
    ret->near_bytes = BYTES * tiles * groups * ret->reduction * (vector + width);
    ret->far_bytes = BYTES * (chunks * groups * vector * ret->reduction + ret->space +
                              pixels * (double)(d->channels * d->groups) * (BYTES * source > NEAR_BYTES ? groups : 1));
    ret->tile_vectors = width * s->vectors;
    ret->vector_loads = (width + s->vectors) / (width * s->vectors);
    ret->unrolled = width * s->vectors * (d->window.pad[1] ? 2 + (double)d->window.kernel[1] : 1);
    return true;
}

// --- Winograd --------------------------------------------------------------------------------------------------------

// Blocks are nearly equal, so each number of blocks gives a size; of many numbers some.
void winograd_list_schedules(const struct tile_definition *d, struct schedule_space *space)
{
    const int64_t results[] = {d->images, d->results, d->result_height, d->result_width};
    const int64_t sums[] = {d->channels, d->window.kernel[0], d->window.kernel[1]};
    list_loops(space, "winograd", results, 4, sums, 3);
    struct schedule_axis *m = add_axis(space, "m"), *tiles = add_axis(space, "tiles");
    bool has_pair = d->window.kernel[0] == 2 || d->window.kernel[1] == 2;
    for (int edge = 2; edge <= WINOGRAD_MOST_EDGE; edge++)
        if (edge % 2 == 0 || has_pair)
            schedule_axis_add(m, edge);
    for (int edge = 4; edge >= 2; edge -= 2)
        for (int64_t n = 1, all = winograd_tiles(d, &(struct winograd_schedule){edge, 1}); n <= all; n += 1 + n / 4)
            if (divide_up(all, n) <= MOST_WINOGRAD_TILES)
                schedule_axis_add(tiles, divide_up(all, n));
}

bool winograd_describe(const struct tile_definition *d, const struct winograd_schedule *s,
                       struct schedule_features *ret)
{
    if (!winograd_suits(d, s))
        return false;
    double halves = winograd_halves(d), channels = (double)d->channels / halves, results = (double)d->results / halves;
    double places = winograd_places(d, s);
    double all = (double)winograd_tiles(d, s), blocks = (double)divide_up((int64_t)all, s->tiles);
    double block = all / blocks, weights = places * channels * results;
    *ret = (struct schedule_features){.reduction = d->window.kernel[0] * d->window.kernel[1] * (double)d->channels};
    ret->space = (double)(d->images * d->result_height * d->result_width * d->results);
    ret->operations = 2 * all * weights;
    ret->useful = ret->space / (all * winograd_edge(d, s, 0) * winograd_edge(d, s, 1) * (double)d->results);
    ret->blocks = blocks;
    ret->lanes = all * results;
    ret->packed_bytes = BYTES * blocks * places * block * (channels + results);
    ret->near_bytes = BYTES * all * places * (channels + results + channels * results / d->lanes);
    ret->far_bytes = BYTES * (blocks * weights + ret->space + (double)(d->images * d->height * d->width * d->channels));
    ret->tile_vectors = block;
    ret->vector_loads = 1 + 1 / block;
    ret->unrolled = places;
    return true;
}
