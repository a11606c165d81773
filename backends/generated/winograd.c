// Names of what a kernel is made for, and of what it is told, stand at its beginning as macros: its functions can be
// read as they are.
#include "backends/generated/winograd.h"

#include "backends/generated/bilinear.h"
#include "backends/generated/tile_text.h"
#include "backends/generated/vector_text.h"
#include "backends/planning/plan.h"
#include "core/numbers/integers.h"
#include "core/system/vector_code.h"
#include "core/text/text.h"
#include <stdio.h>
#include <string.h>

#define MOST_TILES 512
#define MOST_WINDOW (BILINEAR_MOST * BILINEAR_MOST)
#define FEW_AT_ONCE 4          // results whose weights are transformed: all numbers of lanes are multiples
#define MANY_AT_ONCE 16        // where that many stand side by side: a line of a cache is written as a whole
#define SUMMED_CHANNELS 32     // at once: sums of sums lose fewer digits
#define SUMMED_OF_HALVES 128   // by Strassen's products, which lose fewer
#define PREFETCHED 16          // channels ahead
#define SPARE_REGISTERS 4      // for weights and an entry of a tile

struct shape {                  // of a kernel
    struct bilinear forms[2];   // of rows, of columns
    int halves;                 // of channels, and of results, that a tile has
    int places;
    int64_t tile_rows, tile_columns, tiles, blocks, block_tiles;
    int vectors;             // of a group of results
    int64_t chunks;          // of a block's tiles: as many as accumulators suffice for
    int64_t chunk, larger;   // tiles of one; so many chunks have one more
    int64_t place_stride;    // of V; no power of two, so that places stand in different sets of a cache
};

int winograd_halves(const struct tile_definition *d)
{
    return d->window.kernel[0] * d->window.kernel[1] == 1 ? 2 : 1;
}

static int vectors_of_group(const struct tile_definition *d)
{
    return d->results / d->lanes / winograd_halves(d) % 2 == 0 ? 2 : 1;
}

int winograd_edge(const struct tile_definition *d, const struct winograd_schedule *s, int axis)
{
    bool has_pairs = axis == 1 && winograd_halves(d) == 2;
    return d->window.kernel[axis] == 1 && !has_pairs ? 1 : s->m;
}

static bool find_forms(const struct tile_definition *d, const struct winograd_schedule *s, struct bilinear ret_forms[2])
{
    if (winograd_halves(d) == 2) {
        bilinear_make_strassen(&ret_forms[1]);
        return s->m == 2 && bilinear_find(1, 1, &ret_forms[0]);
    }
    return ALL(int, axis, 2, bilinear_find(winograd_edge(d, s, axis), d->window.kernel[axis], &ret_forms[axis]));
}

int winograd_places(const struct tile_definition *d, const struct winograd_schedule *s)
{
    struct bilinear forms[2];
    return find_forms(d, s, forms) ? forms[0].n * forms[1].n : 0;
}

int64_t winograd_tiles(const struct tile_definition *d, const struct winograd_schedule *s)
{
    return d->images * divide_up(d->result_height, winograd_edge(d, s, 0)) *
           divide_up(d->result_width, winograd_edge(d, s, 1));
}

static struct shape shape_of(const struct tile_definition *d, const struct winograd_schedule *s)
{
    struct shape k = {.halves = winograd_halves(d), .vectors = vectors_of_group(d)};
    find_forms(d, s, k.forms);
    k.places = k.forms[0].n * k.forms[1].n;
    k.tile_rows = divide_up(d->result_height, winograd_edge(d, s, 0));
    k.tile_columns = divide_up(d->result_width, winograd_edge(d, s, 1));
    k.tiles = d->images * k.tile_rows * k.tile_columns;
    k.blocks = divide_up(k.tiles, s->tiles);
    k.block_tiles = divide_up(k.tiles, k.blocks);
    k.chunks = divide_up(k.block_tiles, (d->registers - SPARE_REGISTERS) / k.vectors);
    k.chunk = k.block_tiles / k.chunks;
    k.larger = k.block_tiles % k.chunks;
    k.place_stride = d->channels / k.halves * k.block_tiles + d->lanes;
    return k;
}

// --- schedules -------------------------------------------------------------------------------------------------------

void winograd_schedule_print(struct text *text, const struct winograd_schedule *s)
{
    text_printf(text, "(winograd m:%d tiles:%d)", s->m, (int)s->tiles);
}

bool winograd_schedule_parse(const char *text, struct winograd_schedule *ret_schedule)
{
    int m, tiles, end = 0;
    if (sscanf(text, "(winograd m:%1d tiles:%4d)%n", &m, &tiles, &end) != 2 || !end || text[end])
        return false;
    *ret_schedule = (struct winograd_schedule){m, tiles};
    return m >= 2 && m <= WINOGRAD_MOST_EDGE && tiles >= 1 && tiles <= MOST_TILES;
}

bool winograd_suits(const struct tile_definition *d, const struct winograd_schedule *s)
{
    int least = d->lanes * winograd_halves(d);
    bool is_dense = d->groups == 1 && d->window.stride[0] == 1 && d->window.stride[1] == 1 &&
                    d->window.dilation[0] == 1 && d->window.dilation[1] == 1;
    return is_dense && d->source.lane == 1 && d->target.lane == 1 && winograd_places(d, s) > 1 && s->tiles >= 1 &&
           s->tiles <= MOST_TILES && d->channels > 0 && d->results > 0 && d->channels % least == 0 &&
           d->results % least == 0 && d->result_height > 0 && d->result_width > 0 && d->images > 0;
}

// --- weights ---------------------------------------------------------------------------------------------------------

int64_t winograd_groups(const struct tile_definition *d)
{
    return d->results / d->lanes / winograd_halves(d) / vectors_of_group(d);
}

size_t winograd_weights_floats(const struct tile_definition *d, const struct winograd_schedule *s)
{
    size_t halves = (size_t)winograd_halves(d);
    return (size_t)winograd_places(d, s) * ((size_t)d->channels / halves) * ((size_t)d->results / halves);
}

size_t winograd_scratch_floats(const struct tile_definition *d, const struct winograd_schedule *s)
{
    struct shape k = shape_of(d, s);
    size_t floats =
        (size_t)k.places * ((size_t)k.place_stride + (size_t)k.block_tiles * (size_t)(k.vectors * d->lanes));
    return (floats + 31) & ~(size_t)15;
}

typedef double at_once[MANY_AT_ONCE];

INLINED void add_multiple(at_once to, double factor, const at_once from, int n)
{
    if (factor != 0)
        for (int l = 0; l < n; l++)
            to[l] += factor * from[l];
}

// G w G' of the windows of n neighbouring results, in double precision; their places stand `place` apart.
INLINED void transform_windows(const struct bilinear forms[2], at_once *w, int64_t place, int n, float *ret_u)
{
    const struct bilinear *rows = &forms[0], *columns = &forms[1];
    for (int i = 0; i < rows->n; i++) {
        at_once half[BILINEAR_MOST] = {{0}};
        for (int k = 0; k < rows->r; k++)
            for (int m = 0; m < columns->r; m++)
                add_multiple(half[m], rows->g[i][k], w[k * columns->r + m], n);
        for (int j = 0; j < columns->n; j++, ret_u += place) {
            at_once sum = {0};
            for (int m = 0; m < columns->r; m++)
                add_multiple(sum, columns->g[j][m], half[m], n);
            for (int l = 0; l < n; l++)
                ret_u[l] = (float)sum[l];
        }
    }
}

// Entries of a window: halves of channels by halves of results, where it has one place. Gives their number.
static int list_entries(const struct tile_definition *d, int64_t result_stride, int64_t channel_stride,
                        int64_t ret_distances[MOST_WINDOW])
{
    int n = winograd_halves(d) == 2 ? 4 : d->window.kernel[0] * d->window.kernel[1];
    for (int i = 0; i < n; i++)
        ret_distances[i] = winograd_halves(d) == 1
                               ? i
                               : i / 2 * (d->channels / 2) * channel_stride + i % 2 * (d->results / 2) * result_stride;
    return n;
}

struct packing_run {
    struct shape shape;
    int64_t width, channels, result_stride, channel_stride;
    int n_entries;
    int64_t distances[MOST_WINDOW];   // of entries
    const float *weights;
    float *u;
};

INLINED void pack_group(const struct packing_run *p, int64_t group, int n)
{
    int64_t width = p->width, place = p->channels * width;
    at_once w[MOST_WINDOW];
    for (int64_t channel = 0; channel < p->channels; channel++)
        for (int64_t lane = 0; lane < width; lane += n) {
            const float *from = p->weights + (group * width + lane) * p->result_stride + channel * p->channel_stride;
            for (int i = 0; i < p->n_entries; i++)
                for (int l = 0; l < n; l++)
                    w[i][l] = (double)from[l * p->result_stride + p->distances[i]];
            transform_windows(p->shape.forms, w, place, n,
                              p->u + group * p->shape.places * place + channel * width + lane);
        }
}

WITH_AVX2 static void pack_many(const struct packing_run *p, int64_t group)
{
    pack_group(p, group, MANY_AT_ONCE);
}

void winograd_pack(const struct tile_definition *d, const struct winograd_schedule *s, const float *weights,
                   int64_t result_stride, int64_t channel_stride, float *ret_u, int64_t first_group, int64_t n_groups)
{
    struct packing_run p = {.shape = shape_of(d, s),
                            .result_stride = result_stride,
                            .channel_stride = channel_stride,
                            .weights = weights,
                            .u = ret_u};
    p.width = (int64_t)p.shape.vectors * d->lanes;
    p.channels = d->channels / p.shape.halves;
    p.n_entries = list_entries(d, result_stride, channel_stride, p.distances);
    for (int64_t group = first_group; group < first_group + n_groups; group++)
        if (p.width % MANY_AT_ONCE == 0 && HAS_AVX2)
            pack_many(&p, group);
        else
            pack_group(&p, group, FEW_AT_ONCE);
}

// --- names -----------------------------------------------------------------------------------------------------------

#define WINOGRAD_NUMBER(name) WINOGRAD_##name,
enum winograd_number { WINOGRAD_NUMBERS(WINOGRAD_NUMBER) WINOGRAD_N_NUMBERS };

static int number_of_operand(int i)
{
    return WINOGRAD_N_NUMBERS + 4 * (i - 1);
}

size_t winograd_n_numbers(const struct tile_definition *d)
{
    return (size_t)number_of_operand(tile_n_operands(d));
}

static void list_image(const struct tile_image *image, int64_t *ret_numbers)
{
    ret_numbers[0] = image->image;
    ret_numbers[1] = image->block;
    ret_numbers[2] = image->row;
    ret_numbers[3] = image->pixel;
}

void winograd_list_numbers(const struct tile_definition *d, const struct winograd_schedule *s, int64_t *ret_numbers)
{
    struct shape k = shape_of(d, s);
    const int64_t first[] = {d->channels / d->lanes / k.halves,
                             winograd_groups(d),
                             d->height,
                             d->width,
                             d->result_height,
                             d->result_width,
                             d->window.pad[0],
                             d->window.pad[1],
                             k.tile_rows,
                             k.tile_columns,
                             k.tiles,
                             k.blocks,
                             k.place_stride};
    memcpy(ret_numbers, first, sizeof first);
    list_image(&d->source, ret_numbers + WINOGRAD_X_IMAGE);
    list_image(&d->target, ret_numbers + WINOGRAD_Y_IMAGE);
    for (int i = 1; i < tile_n_operands(d); i++)
        list_image(&d->epilogue.operands[i], ret_numbers + number_of_operand(i));
}

static void define(struct text *t, const char *name, int64_t value)
{
    text_printf(t, "#undef %s\n#define %s %lld\n", name, name, (long long)value);
}

static void print_names(struct text *t, const struct tile_definition *d, const struct shape *k)
{
#define NAME_OF_NUMBER(name) #name,
    static const char *const numbers[] = {WINOGRAD_NUMBERS(NAME_OF_NUMBER)};
    vector_text_begin(t, d->lanes);
    for (int i = 0; i < WINOGRAD_N_NUMBERS; i++)
        text_printf(t, "#undef %s\n#define %s numbers[%d]\n", numbers[i], numbers[i], i);
    define(t, "VECTORS", k->vectors);
    define(t, "HALVES", k->halves);
    define(t, "ROWS", k->forms[0].m);
    define(t, "COLUMNS", k->forms[1].m / k->halves);
    define(t, "SOURCE_ROWS", k->forms[0].inputs);
    define(t, "SOURCE_COLUMNS", k->forms[1].inputs / k->halves);
    define(t, "PLACE_ROWS", k->forms[0].n);
    define(t, "PLACE_COLUMNS", k->forms[1].n);
    define(t, "PLACES", k->places);
    define(t, "BLOCK_TILES", k->block_tiles);
    define(t, "CHUNK", k->chunk);
    define(t, "LARGER", k->larger);
    define(t, "SHARE", divide_up(k->vectors * d->lanes, k->chunks));
    define(t, "SUMMED", (k->halves == 1 ? SUMMED_CHANNELS : SUMMED_OF_HALVES) / d->lanes);
    text_add(t, "#undef AT\n#define AT(address) (*(NAMED(anywhere) *)(address))\n"
                "#undef FROM\n#define FROM NAMED(load)\n");
}

// --- transforms ------------------------------------------------------------------------------------------------------

// `from` and `to` are forms of a place, which they may have several times.
static void print_transform_along(struct text *t, int rows, int columns, const double m[BILINEAR_MOST][BILINEAR_MOST],
                                  const char *from, const char *to)
{
    for (int i = 0; i < columns; i++) {
        text_printf(t, "V x%d = ", i);
        text_printf(t, from, i, i);
        text_add(t, ";\n");
    }
    bilinear_print_product(t, "V", rows, columns, m);
    for (int i = 0; i < rows; i++) {
        text_printf(t, to, i, i, i);
        text_add(t, ";\n");
    }
}

static void print_source_transform(struct text *t, const struct shape *k)
{
    text_add(t, "static inline void NAMED(transform_tile)(const float *x, I row, I pixel, I half, float *v, I place)\n"
                "{\nV done[SOURCE_ROWS][PLACE_COLUMNS];\n"
                "for (int i = 0; i < SOURCE_ROWS; i++, x += row) {\n");
    print_transform_along(t, k->forms[1].n, k->forms[1].inputs, k->forms[1].b,
                          "FROM(x + %d %% SOURCE_COLUMNS * pixel + %d / SOURCE_COLUMNS * half)", "done[i][%d] = z%d");
    text_add(t, "}\nfor (int j = 0; j < PLACE_COLUMNS; j++, v += place) {\n");
    print_transform_along(t, k->forms[0].n, k->forms[0].inputs, k->forms[0].b, "done[%d][j]",
                          "AT(v + %d * PLACE_COLUMNS * place) = z%d");
    text_add(t, "}\n}\n");
}

// Distances of operands, which begin where the tile does.
static void print_distances(struct text *t, const struct tile_definition *d)
{
    for (int i = 1; i < tile_n_operands(d); i++) {
        int n = number_of_operand(i);
        text_printf(t,
                    "const I o%d_half = blocks * numbers[%d], o%d_row = numbers[%d], o%d_pixel = numbers[%d];\n"
                    "o%d += top * o%d_row + left * o%d_pixel;\n",
                    i, n + 1, i, n + 2, i, n + 3, i, i, i);
    }
}

// Operands that are the same for all pixels, or the others.
static void print_operands(struct text *t, const struct tile_definition *d, bool are_of_pixels)
{
    for (int i = 1; i < tile_n_operands(d); i++) {
        char place[96];
        if ((d->epilogue.operands[i].row != 0 || d->epilogue.operands[i].pixel != 0) != are_of_pixels)
            continue;
        snprintf(place, sizeof place,
                 are_of_pixels ? " + h * o%d_half + i * o%d_row + j * o%d_pixel" : " + h * o%d_half", i, i, i);
        tile_print_operand(t, d, i, d->lanes, place);
    }
}

static void print_stores(struct text *t, const struct tile_definition *d)
{
    char value[VALUE_NAME_SIZE];
    text_add(t, "I rows = RESULT_HEIGHT - top < ROWS ? RESULT_HEIGHT - top : ROWS;\n"
                "I columns = RESULT_WIDTH - left < COLUMNS ? RESULT_WIDTH - left : COLUMNS;\n"
                "const I blocks = GROUPS * VECTORS, y_half = blocks * Y_BLOCK, y_row = Y_ROW, y_pixel = Y_PIXEL;\n"
                "y += top * y_row + left * y_pixel;\n");
    print_distances(t, d);
    text_add(t, "#pragma GCC unroll 2\nfor (int h = 0; h < HALVES; h++) {\n");
    print_operands(t, d, false);
    text_add(t,
             "#pragma GCC unroll 8\nfor (int i = 0; i < ROWS; i++)\n"
             "#pragma GCC unroll 8\nfor (int j = 0; j < COLUMNS; j++) {\nif (i >= rows || j >= columns)\ncontinue;\n");
    print_operands(t, d, true);
    tile_print_value(t, d, "done[h][i][j]", value);
    text_printf(t, "AT(y + h * y_half + i * y_row + j * y_pixel) = %s;\n}\n}\n", value);
}

static void print_result_transform(struct text *t, const struct tile_definition *d, const struct shape *k)
{
    text_add(t, "static inline void NAMED(transform_result)(const float *m, float *y, I top, I left, const I *numbers");
    for (int i = 1; i < tile_n_operands(d); i++)
        text_printf(t, ", const float *o%d", i);
    text_add(t, ")\n{\nV half[ROWS][PLACE_COLUMNS], done[HALVES][ROWS][COLUMNS];\n"
                "for (int j = 0; j < PLACE_COLUMNS; j++, m += BLOCK_TILES * VECTORS * LANES) {\n");
    print_transform_along(t, k->forms[0].m, k->forms[0].n, k->forms[0].a,
                          "FROM(m + %d * PLACE_COLUMNS * BLOCK_TILES * VECTORS * LANES)", "half[%d][j] = z%d");
    text_add(t, "}\nfor (int i = 0; i < ROWS; i++) {\n");
    print_transform_along(t, k->forms[1].m, k->forms[1].n, k->forms[1].a, "half[i][%d]",
                          "done[%d / COLUMNS][i][%d %% COLUMNS] = z%d");
    text_add(t, "}\n");
    print_stores(t, d);
    text_add(t, "}\n#undef OPERANDS_OF_BLOCK\n#define OPERANDS_OF_BLOCK");
    for (int i = 1; i < tile_n_operands(d); i++)
        text_printf(t, ", operands[%d] + image * numbers[%d] + block * numbers[%d]", i, number_of_operand(i),
                    number_of_operand(i) + 1);
    text_add(t, "\n");
}

// --- products --------------------------------------------------------------------------------------------------------

// Code for so many tiles by a group of results, at one place, for channels that are summed by themselves. Each chunk of
// tiles fetches its share of the next weights, which come from far.
static void print_product(struct text *t, const struct shape *k, int64_t tiles)
{
    text_printf(t,
                "static inline void NAMED(multiply_%d)(const float *v, const float *u, const float *next, float *m, "
                "I channel_blocks, int is_first)\n{\n",
                (int)tiles);
    for (int64_t i = 0; i < tiles * k->vectors; i++)
        text_printf(t, "V a%d = {0};\n", (int)i);
    text_printf(t,
                "for (I c = 0; c < channel_blocks; c++, v += %d * LANES)\n"
                "for (int l = 0; l < LANES; l++, u += VECTORS * LANES, next += SHARE) {\nfloat x;\n"
                "__builtin_prefetch(next, 0, 2);\n",
                (int)tiles);
    for (int q = 0; q < k->vectors; q++)
        text_printf(t, "V u%d = FROM(u + %d * LANES);\n__builtin_prefetch(u + (%d * VECTORS + %d) * LANES);\n", q, q,
                    PREFETCHED, q);
    for (int64_t i = 0; i < tiles; i++) {
        text_printf(t, "x = v[%d * LANES + l];\n", (int)i);
        for (int q = 0; q < k->vectors; q++)
            text_printf(t, "a%d += x * u%d;\n", (int)i * k->vectors + q, q);
    }
    text_add(t, "}\nif (!is_first) {\n");
    for (int64_t i = 0; i < tiles * k->vectors; i++)
        text_printf(t, "a%d += FROM(m + %d * LANES);\n", (int)i, (int)i);
    text_add(t, "}\n");
    for (int64_t i = 0; i < tiles * k->vectors; i++)
        text_printf(t, "AT(m + %d * LANES) = a%d;\n", (int)i, (int)i);
    text_add(t, "}\n");
}

static void print_products(struct text *t, const struct shape *k)
{
    print_product(t, k, k->chunk);
    if (k->larger)
        print_product(t, k, k->chunk + 1);
    text_add(t, "static void NAMED(multiply)(const float *v, const float *u, float *m, I count, I channel_blocks, "
                "I place_stride)\n{\n"
                "for (int place = 0; place < PLACES; place++, v += place_stride, m += BLOCK_TILES * VECTORS * LANES)\n"
                "for (I c = 0, n; c < channel_blocks; c += n, u += n * LANES * VECTORS * LANES) {\n"
                "n = channel_blocks - c < SUMMED ? channel_blocks - c : SUMMED;\n");
    for (int64_t i = 0, at = 0; i < k->chunks; i++) {
        int64_t tiles = k->chunk + (i < k->larger);
        text_printf(t,
                    "if (%d < count)\nNAMED(multiply_%d)(v + (%d * channel_blocks + c * %d) * LANES, u, "
                    "u + n * LANES * (VECTORS * LANES + %d * SHARE), m + %d * VECTORS * LANES, n, c == 0);\n",
                    (int)at, (int)tiles, (int)at, (int)tiles, (int)i, (int)at);
        at += tiles;
    }
    text_add(t, "}\n}\n");
}

// --- from beginning to end -------------------------------------------------------------------------------------------

extern const char winograd_functions[];   // winograd.inc

void winograd_print(struct text *text, const struct tile_definition *d, const struct winograd_schedule *s)
{
    struct shape k = shape_of(d, s);
    print_names(text, d, &k);
    print_source_transform(text, &k);
    print_result_transform(text, d, &k);
    print_products(text, &k);
    text_add(text, winograd_functions);
}
