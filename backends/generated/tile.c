// What all tiles of one width and one place at the edges share is a kind; each kind has code of its own, in which sums
// are named scalars. All loops around it are in NAMED(run), which is told sizes and distances; a text knows only what
// the code of tiles does.
#include "backends/generated/tile.h"

#include "backends/generated/vector_text.h"
#include "backends/planning/plan.h"
#include "core/numbers/integers.h"
#include "core/text/text.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define MOST_KINDS 64
#define MOST_PIXELS 32
#define MOST_VECTORS 5
#define WINDOW_COLUMNS 16   // at most: each of them has code of its own
#define PREFETCHED 16       // channels ahead
#define PIXELS_OF_POINTER 8
#define TERMS_AT_ONCE 512   // of a dense sum, before they are added to a sum of sums: fewer digits are lost so

struct kind {
    int64_t width;
    int64_t left, right;   // columns of the source that lie outside
};
struct shape {
    int64_t tiles, wide;   // of a row; so many have `width` pixels, the others one less
    int64_t width;
    int64_t groups, groups_each;   // of vectors; of each group of channels
    int64_t results, weight_channels, channel_blocks, channels;
    bool is_lanewise;
    int n_kinds;
    struct kind kinds[MOST_KINDS];
};
struct printing {
    struct text *text;
    const char *prefix;   // of its functions
    const struct tile_definition *d;
    const struct tile_schedule *s;
    struct shape k;
};

// Numbers that a kernel is told. Behind them: four of each operand of the epilogue, then two of each tile of a row.
#define TILE_NUMBERS(_)                                                                                                \
    _(IMAGES)                                                                                                          \
    _(ROWS)                                                                                                            \
    _(TILES)                                                                                                           \
    _(GROUPS)                                                                                                          \
    _(GROUPS_EACH)                                                                                                     \
    _(RESULTS)                                                                                                         \
    _(AT_ONCE)                                                                                                         \
    _(HEIGHT)                                                                                                          \
    _(CHANNEL_BLOCKS)                                                                                                  \
    _(CHANNELS)                                                                                                        \
    _(X_IMAGE) _(X_BLOCK) _(X_ROW) _(X_LANE) _(X_GROUP) _(Y_IMAGE) _(Y_BLOCK) _(Y_ROW) _(Y_PIXEL) _(W_GROUP)           \
        _(X_PIXEL) _(W_ROW)
#define TILE_NUMBER(name) TILE_##name,
enum tile_number { TILE_NUMBERS(TILE_NUMBER) TILE_N_NUMBERS };

static int64_t at_least_0(int64_t a)
{
    return a > 0 ? a : 0;
}

// --- what a definition and a schedule come to ------------------------------------------------------------------------

static int64_t lanes_of_source(const struct tile_definition *d)
{
    return d->source_lanes ? d->source_lanes : d->lanes;
}

bool tile_is_lanewise(const struct tile_definition *d)
{
    return d->groups > 1 && d->channels == d->results && d->channels < d->lanes && d->lanes % d->channels == 0 &&
           d->groups * d->channels >= d->lanes && d->source.lane == 1 && lanes_of_source(d) == d->lanes;
}

bool tile_is_of_one_pixel(const struct tile_definition *d)
{
    for (int i = 0; i < 2; i++)
        if (d->kernel[i] != 1 || d->stride[i] != 1 || d->pad[i] != 0)
            return false;
    return d->height == d->result_height && d->width == d->result_width;
}

static int64_t start_of_tile(const struct shape *k, int64_t tile)
{
    return tile * k->width - at_least_0(tile - k->wide);
}

static struct kind kind_of_tile(const struct tile_definition *d, const struct shape *k, int64_t tile)
{
    int64_t width = k->width - (tile >= k->wide), first = start_of_tile(k, tile) * d->stride[1] - d->pad[1];
    int64_t end = first + (width - 1) * d->stride[1] + (d->kernel[1] - 1) * d->dilation[1] + 1;
    return (struct kind){width, at_least_0(-first), at_least_0(end - d->width)};
}

// MOST_KINDS: there are more.
static int number_of_kind(struct shape *k, struct kind kind)
{
    int i = 0;
    while (i < k->n_kinds && memcmp(&k->kinds[i], &kind, sizeof kind) != 0)
        i++;
    if (i == k->n_kinds && i < MOST_KINDS)
        k->kinds[k->n_kinds++] = kind;
    return i;
}

static bool has_blocks(const struct tile_definition *d)
{
    return d->source.block != lanes_of_source(d) * d->source.lane;
}

static struct shape shape_of(const struct tile_definition *d, const struct tile_schedule *s)
{
    struct shape k = {.is_lanewise = tile_is_lanewise(d)};
    int64_t tiles = divide_up(d->result_width, s->pixels), group = (int64_t)s->vectors * d->lanes;
    k.tiles = tiles;
    k.width = divide_up(d->result_width, tiles);
    k.wide = d->result_width - tiles * (k.width - 1);
    k.results = k.is_lanewise ? d->groups * d->results : d->results;
    k.groups_each = divide_up(k.results, group);
    k.groups = k.is_lanewise ? k.groups_each : d->groups * k.groups_each;
    k.weight_channels = d->channels;
    k.channel_blocks = has_blocks(d) ? d->channels / lanes_of_source(d) : 1;
    k.channels = has_blocks(d) ? lanes_of_source(d) : d->channels;
    return k;
}

// False: there are too many.
static bool list_kinds(const struct tile_definition *d, struct shape *k)
{
    for (int64_t i = 0; i < k->tiles; i++)
        if (number_of_kind(k, kind_of_tile(d, k, i)) == MOST_KINDS)
            return false;
    return true;
}

void tile_schedule_print(struct text *text, const struct tile_schedule *s)
{
    text_printf(text, "(tile p:%d q:%d t:%lld", s->pixels, s->vectors, (long long)s->tiles);
    if (s->lanes)
        text_printf(text, " l:%d", s->lanes);
    text_add(text, ")");
}

bool tile_schedule_parse(const char *text, struct tile_schedule *ret_schedule)
{
    int p, q, t, lanes = 0, end = 0;
    sscanf(text, "(tile p:%3d q:%3d t:%8d)%n", &p, &q, &t, &end);
    if (!end)
        sscanf(text, "(tile p:%3d q:%3d t:%8d l:%2d)%n", &p, &q, &t, &lanes, &end);
    if (!end || text[end] || lanes < 0)
        return false;
    *ret_schedule = (struct tile_schedule){p, q, t, lanes};
    return p >= 1 && p <= MOST_PIXELS && q >= 1 && q <= MOST_VECTORS && t >= 1;
}

// Do channels of a group start where a group of vectors may?
static bool suits_image(int64_t lanes, const struct tile_image *i, int64_t channels)
{
    bool is_affine = i->block == lanes * i->lane;
    return is_affine || (channels % lanes == 0 && i->lane == 1);
}

static bool narrow_image(struct tile_image *i, int from, int to)
{
    bool is_affine = i->block == from * i->lane;
    if (is_affine)
        i->block = to * i->lane;
    return is_affine;
}

bool tile_narrow(struct tile_definition *d, struct tile_image *operands, int lanes)
{
    bool has_rows = narrow_image(&d->target, d->lanes, lanes);
    for (int i = 1; d->epilogue && i < d->epilogue->n_operands; i++)
        has_rows = narrow_image(&operands[i], d->lanes, lanes) && has_rows;
    d->source_lanes = narrow_image(&d->source, d->lanes, lanes) ? lanes : d->lanes;
    d->lanes = lanes;
    return has_rows;
}

bool tile_suits(const struct tile_definition *d, const struct tile_schedule *s)
{
    if (s->pixels < 1 || s->pixels > MOST_PIXELS || s->vectors < 1 || s->vectors > MOST_VECTORS || s->tiles < 1 ||
        d->images < 1 || d->channels < 1 || d->results < 1 || d->result_height < 1 || d->result_width < 1 ||
        d->kernel[0] < 1 || d->kernel[1] < 1 || d->kernel[1] > WINDOW_COLUMNS)
        return false;
    struct shape k = shape_of(d, s);
    int64_t channels = k.is_lanewise ? d->groups * d->channels : d->channels;
    return k.results >= (int64_t)s->vectors * d->lanes && (!k.is_lanewise || s->vectors == 1) && d->target.lane == 1 &&
           suits_image(lanes_of_source(d), &d->source, channels) && suits_image(d->lanes, &d->target, k.results) &&
           list_kinds(d, &k);
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
        if (q * d->lanes <= d->results && vectors_computed(d, q) <= vectors_computed(d, best))
            best = q;
    }
    return best;
}

bool tile_takes_epilogue(const struct tile_definition *d)
{
    const struct loop *l = d->epilogue;
    bool is_lanewise = tile_is_lanewise(d);
    for (int i = 0; i < l->n_instructions; i++)
        if (!vector_text_knows(&l->instructions[i]))
            return false;
    for (int i = 1; i < l->n_operands; i++) {
        const struct tile_image *o = &d->operands[i];
        bool is_one = o->lane == 0 && o->block == 0;
        if (l->operands[i].dtype != DTYPE_F32 ||
            !(is_one || (o->lane == 1 && suits_image(d->lanes, o, is_lanewise ? d->groups * d->results : d->results))))
            return false;
    }
    return l->n_results == 1 && l->results[0].to.dtype == DTYPE_F32;
}

// --- weights ---------------------------------------------------------------------------------------------------------
//
//     [group of vectors][row][column][channel][lanes of the group]

static int64_t floats_of_group(const struct tile_definition *d, const struct tile_schedule *s)
{
    return d->kernel[0] * d->kernel[1] * d->channels * s->vectors * d->lanes;
}

int64_t tile_weight_groups(const struct tile_definition *d, const struct tile_schedule *s)
{
    return shape_of(d, s).groups;
}

size_t tile_weights_floats(const struct tile_definition *d, const struct tile_schedule *s)
{
    return (size_t)(floats_of_group(d, s) * shape_of(d, s).groups);
}

static int64_t first_result(const struct tile_definition *d, const struct tile_schedule *s, const struct shape *k,
                            int64_t group)
{
    int64_t within = group % k->groups_each * s->vectors * d->lanes, last = k->results - s->vectors * d->lanes;
    return group / k->groups_each * k->results + (within < last ? within : last);
}

void tile_pack(const struct tile_definition *d, const struct tile_schedule *s, const float *weights,
               const int64_t stride[4], float *ret_packed, int64_t first_group, int64_t n_groups)
{
    struct shape k = shape_of(d, s);
    int64_t width = (int64_t)s->vectors * d->lanes;
    for (int64_t group = first_group; group < first_group + n_groups; group++) {
        float *to = ret_packed + group * floats_of_group(d, s);
        const float *from = weights + first_result(d, s, &k, group) * stride[0];
        for (int64_t i = 0; i < d->kernel[0]; i++)
            for (int64_t j = 0; j < d->kernel[1]; j++)
                for (int64_t c = 0; c < d->channels; c++)
                    for (int64_t lane = 0; lane < width; lane++)
                        *to++ = from[lane * stride[0] + c * stride[1] + i * stride[2] + j * stride[3]];
    }
}

// --- numbers ---------------------------------------------------------------------------------------------------------

int tile_n_operands(const struct tile_definition *d)
{
    return d->epilogue ? d->epilogue->n_operands : 1;
}

static int number_of_operand(int i)
{
    return TILE_N_NUMBERS + 4 * (i - 1);
}

static int number_of_tiles(const struct tile_definition *d)
{
    return number_of_operand(tile_n_operands(d));
}

size_t tile_n_numbers(const struct tile_definition *d, const struct tile_schedule *s)
{
    return (size_t)number_of_tiles(d) + 2 * (size_t)shape_of(d, s).tiles;
}

// How far it is from one group of channels to the next: affine, or whole blocks.
static int64_t group_of_source(const struct tile_definition *d)
{
    return has_blocks(d) ? d->channels / lanes_of_source(d) * d->source.block : d->channels * d->source.lane;
}

void tile_list_numbers(const struct tile_definition *d, const struct tile_schedule *s, int64_t *ret_numbers)
{
    struct shape k = shape_of(d, s);
    const struct tile_image *x = &d->source, *y = &d->target;
    const int64_t x_group = k.is_lanewise ? 0 : group_of_source(d), w_row = d->kernel[1] * d->channels * s->vectors;
    const int64_t first[TILE_N_NUMBERS] = {d->images,        d->result_height,
                                           k.tiles,          k.groups,
                                           k.groups_each,    k.results,
                                           s->tiles,         d->height,
                                           k.channel_blocks, k.channels,
                                           x->image,         x->block,
                                           x->row,           x->lane,
                                           x_group,          y->image,
                                           y->block,         y->row,
                                           y->pixel,         floats_of_group(d, s),
                                           x->pixel,         w_row};
    memcpy(ret_numbers, first, sizeof first);
    for (int i = 1; i < tile_n_operands(d); i++) {
        const struct tile_image *o = &d->operands[i];
        memcpy(ret_numbers + number_of_operand(i), (int64_t[4]){o->image, o->block, o->row, o->pixel},
               4 * sizeof(int64_t));
    }
    for (int64_t i = 0; i < k.tiles; i++) {
        int64_t *tile = ret_numbers + number_of_tiles(d) + 2 * i;
        tile[0] = number_of_kind(&k, kind_of_tile(d, &k, i));
        tile[1] = start_of_tile(&k, i);
    }
}

// --- sums ------------------------------------------------------------------------------------------------------------

static long long as_long(int64_t a)
{
    return (long long)a;
}

// Is the source's column within the image for that pixel of a tile and that column of the window?
static bool is_inside(const struct tile_definition *d, const struct kind *kind, int64_t pixel, int64_t column)
{
    int64_t at = pixel * d->stride[1] + column * d->dilation[1];
    int64_t span = (kind->width - 1) * d->stride[1] + (d->kernel[1] - 1) * d->dilation[1] + 1;
    return at >= kind->left && at < span - kind->right;
}

static bool is_whole(const struct kind *kind)
{
    return !kind->left && !kind->right;
}

// A pointer serves some pixels at any distance: one for each of them would not leave enough registers. Convolutions of
// 1x1 are told the distance, so that many of a model share a kernel; larger windows would begin anew too often.
static void print_distances_of_source(const struct printing *p)
{
    bool is_told = p->d->kernel[0] * p->d->kernel[1] == 1;
    text_add(p->text, "const I pixel = ");
    text_printf(p->text, is_told ? "X_PIXEL;\n" : "%lld;\n", as_long(p->d->source.pixel));
    text_printf(p->text,
                "const I step = %lld * pixel, step3 = 3 * step, step5 = 5 * step, step7 = 7 * step;\n"
                "const I x_lane = X_LANE, channels = CHANNELS;\n",
                as_long(p->d->stride[1]));
}

static void print_pointers(const struct printing *p, const struct kind *kind)
{
    for (int i = 0; i * PIXELS_OF_POINTER < kind->width; i++)
        text_printf(p->text, "const float *at%d = from + block * X_BLOCK + %d * step;\n", i, i * PIXELS_OF_POINTER);
}

static void print_next_channel(const struct printing *p, const struct kind *kind)
{
    for (int i = 0; i * PIXELS_OF_POINTER < kind->width; i++)
        text_printf(p->text, "at%d += x_lane;\n", i);
    text_printf(p->text, "w += %d * LANES;\n}\n", p->s->vectors);
}

// An entry of one channel of the source; `column` of the window, -1: any.
static void print_dense_terms(const struct printing *p, const struct kind *kind, int64_t column)
{
    static const char *const ways[PIXELS_OF_POINTER] = {
        "", " + step", " + 2 * step", " + step3", " + 4 * step", " + step5", " + 2 * step3", " + step7"};
    int q_count = p->s->vectors;
    for (int q = 0; q < q_count; q++)
        text_printf(p->text, "V w%d = NAMED(load)(w + %d * LANES);\n__builtin_prefetch(w + (%d * %d + %d) * LANES);\n",
                    q, q, PREFETCHED, q_count, q);
    for (int64_t i = 0; i < kind->width; i++) {
        if (column >= 0 && !is_inside(p->d, kind, i, column))
            continue;
        text_printf(p->text, "e = *(at%d%s);\n", (int)i / PIXELS_OF_POINTER, ways[i % PIXELS_OF_POINTER]);
        for (int q = 0; q < q_count; q++)
            text_printf(p->text, "a%d_%d += e * w%d;\n", (int)i, q, q);
    }
}

// Such a sum is added up in parts, which loses fewer digits.
static bool is_long(const struct printing *p)
{
    const struct tile_definition *d = p->d;
    return !p->k.is_lanewise && d->kernel[0] * d->kernel[1] * d->channels > 2 * TERMS_AT_ONCE;
}

static void print_sums_of_sums(const struct printing *p, const struct kind *kind, const char *form)
{
    for (int i = 0; i < (int)kind->width; i++)
        for (int q = 0; q < p->s->vectors; q++)
            text_printf(p->text, form, i, q, i * p->s->vectors + q);
}

static void print_end_of_sum(const struct printing *p, const struct kind *kind)
{
    text_printf(p->text, "n_terms += end - first;\nif (n_terms >= %d) {\nn_terms = 0;\n", TERMS_AT_ONCE);
    print_sums_of_sums(
        p, kind, "NAMED(store)(b + %3$d * LANES, NAMED(load)(b + %3$d * LANES) + a%1$d_%2$d);\na%1$d_%2$d = (V){0};\n");
    text_add(p->text, "}\n");
}

static void print_channels(const struct printing *p, const struct kind *kind, int64_t column)
{
    text_add(p->text, "for (I block = 0; block < CHANNEL_BLOCKS; block++) {\n");
    print_pointers(p, kind);
    text_printf(p->text,
                "for (I c = 0, first, end; c < channels;) {\nfirst = c;\nend = channels - c < %d ? channels : c + %d;\n"
                "for (; c < end; c++) {\nfloat e;\n",
                TERMS_AT_ONCE, TERMS_AT_ONCE);
    print_dense_terms(p, kind, column);
    print_next_channel(p, kind);
    if (is_long(p))
        print_end_of_sum(p, kind);
    text_add(p->text, "}\n}\n");
}

static void print_dense_row(const struct printing *p, const struct kind *kind)
{
    int64_t columns = p->d->kernel[1], step = p->d->dilation[1];
    if (is_whole(kind)) {
        text_printf(p->text, "for (int s = 0; s < %lld; s++) {\nconst float *from = x + s * %lld * pixel;\n",
                    as_long(columns), as_long(step));
        print_channels(p, kind, -1);
        text_add(p->text, "}\n");
        return;
    }
    for (int64_t j = 0; j < columns; j++) {
        text_printf(p->text, "{\nconst float *from = x + %lld * pixel;\n", as_long(j * step));
        print_channels(p, kind, j);
        text_add(p->text, "}\n");
    }
}

// The lanes of a group that have its channel c, in all of its lanes.
static void print_exchange(const struct printing *p, int64_t c)
{
    text_printf(p->text, "V v%d = __builtin_shufflevector(v, v", (int)c);
    for (int64_t lane = 0; lane < p->d->lanes; lane++)
        text_printf(p->text, ", %d", (int)(lane / p->d->channels * p->d->channels + c));
    text_add(p->text, ");\n");
}

static void print_source(const struct printing *p, int64_t at)
{
    bool is_alone = p->d->channels == 1;
    text_printf(p->text, "{\nV v%s = NAMED(load)(x + %lld);\n", is_alone ? "0" : "", as_long(at * p->d->source.pixel));
    if (is_alone)
        text_add(p->text, "IN_REGISTER(v0);\n");
    for (int64_t c = 0; !is_alone && c < p->d->channels; c++)
        print_exchange(p, c);
}

static void print_lanewise_column(const struct printing *p, const struct kind *kind, int64_t at)
{
    const struct tile_definition *d = p->d;
    bool is_read = false;
    for (int64_t c = 0; c < d->channels; c++)
        for (int64_t j = 0; j < d->kernel[1]; j++) {
            int64_t rest = at - j * d->dilation[1], i = rest / d->stride[1];
            if (rest < 0 || rest % d->stride[1] || i >= kind->width || !is_inside(d, kind, i, j))
                continue;
            if (!is_read)
                print_source(p, at);
            is_read = true;
            text_printf(p->text, "a%d_0 += v%d * w%d_%d;\n", (int)i, (int)c, (int)j, (int)c);
        }
    text_add(p->text, is_read ? "}\n" : "");
}

static void print_lanewise_row(const struct printing *p, const struct kind *kind)
{
    const struct tile_definition *d = p->d;
    for (int64_t j = 0; j < d->kernel[1]; j++)
        for (int64_t c = 0; c < d->channels; c++)
            text_printf(p->text, "V w%d_%d = NAMED(load)(w + %d * LANES);\n", (int)j, (int)c,
                        (int)(j * d->channels + c));
    int64_t span = (kind->width - 1) * d->stride[1] + (d->kernel[1] - 1) * d->dilation[1] + 1;
    for (int64_t at = 0; at < span; at++)
        print_lanewise_column(p, kind, at);
}

// --- epilogues -------------------------------------------------------------------------------------------------------

// Distances are in variables, as what is stored might else be them.
static void print_distances(const struct printing *p)
{
    text_add(p->text, "const I y_block = Y_BLOCK, y_pixel = Y_PIXEL;\n");
    for (int i = 1; i < tile_n_operands(p->d); i++)
        text_printf(p->text, "const I o%d_block = n[%d], o%d_pixel = n[%d];\n", i, number_of_operand(i) + 1, i,
                    number_of_operand(i) + 3);
}

void tile_print_operand(struct text *text, const struct tile_definition *d, int operand, const char *place)
{
    text_printf(text, d->operands[operand].lane ? "V x%d = NAMED(load)(o%d%s);\n" : "V x%d = ALL(*(o%d%s));\n", operand,
                operand, place);
}

void tile_print_value(struct text *text, const struct tile_definition *d, const char *sum,
                      char ret_name[VALUE_NAME_SIZE])
{
    text_printf(text, d->has_relu ? "V x0 = NAMED(relu)(%s);\n" : "V x0 = %s;\n", sum);
    loop_text_name(d->epilogue ? d->epilogue->results[0].value : 0, ret_name);
    if (d->epilogue)
        loop_text_add(text, &vector_dialect, d->epilogue);
}

static void print_result(const struct printing *p, int pixel, int vector)
{
    char value[VALUE_NAME_SIZE], sum[32], place[64];
    text_add(p->text, "{\n");
    for (int i = 1; i < tile_n_operands(p->d); i++) {
        snprintf(place, sizeof place, " + %d * o%d_block", vector, i);
        tile_print_operand(p->text, p->d, i, p->d->operands[i].block && vector ? place : "");
    }
    snprintf(sum, sizeof sum, "a%d_%d", pixel, vector);
    tile_print_value(p->text, p->d, sum, value);
    text_printf(p->text, "NAMED(store)(y + %d * y_block, %s);\n}\n", vector, value);
}

static void print_next_pixel(const struct printing *p)
{
    text_add(p->text, "y += y_pixel;\n");
    for (int i = 1; i < tile_n_operands(p->d); i++)
        if (p->d->operands[i].pixel)
            text_printf(p->text, "o%d += o%d_pixel;\n", i, i);
}

static void print_results(const struct printing *p, const struct kind *kind)
{
    print_distances(p);
    for (int i = 0; i < (int)kind->width; i++) {
        for (int q = 0; q < p->s->vectors; q++)
            print_result(p, i, q);
        if (i + 1 < kind->width)
            print_next_pixel(p);
    }
}

// --- from beginning to end -------------------------------------------------------------------------------------------

static void print_arguments(const struct printing *p, const char *form)
{
    for (int i = 1; i < tile_n_operands(p->d); i++)
        text_printf(p->text, form, i);
}

static void print_kind(const struct printing *p, int number)
{
    const struct kind *kind = &p->k.kinds[number];
    text_printf(p->text, "static inline void NAMED(%stile_%d)(const float *x, const float *w, I r0, I r1, float *y",
                p->prefix, number);
    print_arguments(p, ", const float *o%d");
    text_add(p->text, ", const I *n)\n{\n");
    for (int i = 0; i < (int)kind->width; i++)
        for (int q = 0; q < p->s->vectors; q++)
            text_printf(p->text, "V a%d_%d = {0};\n", i, q);
    if (is_long(p))
        text_printf(p->text, "float b[%d * LANES] = {0};\nI n_terms = 0;\n", (int)kind->width * p->s->vectors);
    if (!p->k.is_lanewise)
        print_distances_of_source(p);
    text_printf(p->text, "x += r0 * %lld * X_ROW;\nw += r0 * W_ROW * LANES;\n", as_long(p->d->dilation[0]));
    text_printf(p->text, "for (I r = r0; r < r1; r++, x += %lld * X_ROW) {\n", as_long(p->d->dilation[0]));
    if (p->k.is_lanewise)
        print_lanewise_row(p, kind);
    else
        print_dense_row(p, kind);
    if (p->k.is_lanewise)
        text_add(p->text, "w += W_ROW * LANES;\n");
    text_add(p->text, "}\n");
    if (is_long(p))
        print_sums_of_sums(p, kind, "a%1$d_%2$d += NAMED(load)(b + %3$d * LANES);\n");
    print_results(p, kind);
    text_add(p->text, "}\n");
}

void tile_print_names(struct text *text, int lanes)
{
#define NAME_OF_NUMBER(name) #name,
    static const char *const numbers[] = {TILE_NUMBERS(NAME_OF_NUMBER)};
    vector_text_begin(text, lanes);
    for (int i = 0; i < TILE_N_NUMBERS; i++)
        text_printf(text, "#undef %s\n#define %s n[%d]\n", numbers[i], numbers[i], i);
}

static void print_calls(const struct printing *p)
{
    int at = number_of_tiles(p->d);
    text_printf(p->text, "I j = n[%d + 2 * tile];\n", at + 1);
    text_printf(
        p->text,
        "const float *xt = x + image * X_IMAGE + x_at + top * X_ROW + (j * %lld - %lld) * X_PIXEL;\n"
        "float *yt = y + image * Y_IMAGE + first / LANES * Y_BLOCK + first %% LANES + row * Y_ROW + j * Y_PIXEL;\n",
        as_long(p->d->stride[1]), as_long(p->d->pad[1]));
    for (int i = 1; i < tile_n_operands(p->d); i++) {
        int n = number_of_operand(i);
        text_printf(p->text, "const float *o%d = operands[%d] + image * n[%d] + row * n[%d] + j * n[%d]", i, i, n,
                    n + 2, n + 3);
        text_printf(p->text, p->d->operands[i].lane ? " + first / LANES * n[%d] + first %% LANES;\n" : ";\n", n + 1);
    }
    text_printf(p->text, "switch (n[%d + 2 * tile]) {\n", at);
    for (int i = 0; i < p->k.n_kinds; i++) {
        text_printf(p->text, "case %d:\nNAMED(%stile_%d)(xt, wt, r0, r1, yt", i, p->prefix, i);
        print_arguments(p, ", o%d");
        text_add(p->text, ", n);\nbreak;\n");
    }
    text_add(p->text, "}\n");
}

// The weights of a group of vectors, and which channels they are of.
static void print_group(const struct printing *p)
{
    int vectors = p->s->vectors;
    text_printf(p->text,
                "const float *wt = w + g * W_GROUP;\n"
                "I first = g %% GROUPS_EACH * %d * LANES, x_at = g / GROUPS_EACH * X_GROUP;\n"
                "if (first > RESULTS - %d * LANES)\nfirst = RESULTS - %d * LANES;\n",
                vectors, vectors, vectors);
    text_add(p->text, p->k.is_lanewise ? "x_at = first / LANES * X_BLOCK + first % LANES;\n"
                                       : "first += g / GROUPS_EACH * RESULTS;\n");
}

// The rows of the window that lie within the image.
static void print_window(const struct printing *p)
{
    const struct tile_definition *d = p->d;
    long long step = as_long(d->dilation[0]), most = as_long(d->kernel[0]);
    text_printf(p->text,
                "I top = row * %lld - %lld, r0 = top < 0 ? (-top + %lld) / %lld : 0;\n"
                "I r1 = top < HEIGHT ? (HEIGHT - top + %lld) / %lld : 0;\nr1 = r1 > %lld ? %lld : r1;\n",
                as_long(d->stride[0]), as_long(d->pad[0]), step - 1, step, step - 1, step, most, most);
}

static void print_run(const struct printing *p)
{
    text_add(
        p->text,
        "void NAMED(run)(const float *x, const float *w, float *y, const float *const *operands, "
        "float *scratch, const I *n, int part, int parts)\n{\n"
        "I all = IMAGES * ROWS * TILES, is_by_tiles = all % parts == 0 || all >= 4 * parts;\n"
        "I begin = is_by_tiles ? all * part / parts : 0, end = is_by_tiles ? all * (part + 1) / parts : all;\n"
        "I g0 = is_by_tiles ? 0 : GROUPS * part / parts, g1 = is_by_tiles ? GROUPS : GROUPS * (part + 1) / parts;\n"
        "for (I from = begin, to; from < end; from = to) {\n"
        "to = end - from < AT_ONCE ? end : from + AT_ONCE;\n"
        "for (I g = g0; g < g1; g++) {\n");
    print_group(p);
    text_add(p->text, "I image = from / (ROWS * TILES), row = from / TILES % ROWS, tile = from % TILES;\n"
                      "for (I u = from; u < to; u++) {\n");
    print_window(p);
    print_calls(p);
    text_add(p->text,
             "if (++tile == TILES) {\ntile = 0;\nif (++row == ROWS) {\nrow = 0;\nimage++;\n}\n}\n}\n}\n}\n}\n");
}

static struct printing begin_printing(struct text *text, const char *prefix, const struct tile_definition *d,
                                      const struct tile_schedule *s)
{
    struct printing p = {text, prefix, d, s, shape_of(d, s)};
    bool is_listed = list_kinds(d, &p.k);
    assert(is_listed);
    (void)is_listed;
    return p;
}

void tile_print(struct text *text, const struct tile_definition *d, const struct tile_schedule *s)
{
    struct printing p = begin_printing(text, "", d, s);
    tile_print_names(text, d->lanes);
    for (int i = 0; i < p.k.n_kinds; i++)
        print_kind(&p, i);
    print_run(&p);
}

void tile_print_row(struct text *text, const char *prefix, const struct tile_definition *d,
                    const struct tile_schedule *s)
{
    struct printing p = begin_printing(text, prefix, d, s);
    for (int i = 0; i < p.k.n_kinds; i++)
        print_kind(&p, i);
    text_printf(text,
                "static void NAMED(%srow)(const float *x, const float *w, float *y, const float *const *operands, "
                "const I *n, I image, I row)\n{\n",
                prefix);
    print_window(&p);
    text_add(text, "for (I g = 0; g < GROUPS; g++) {\n");
    print_group(&p);
    text_add(text, "for (I tile = 0; tile < TILES; tile++) {\n");
    print_calls(&p);
    text_add(text, "}\n}\n}\n");
}
