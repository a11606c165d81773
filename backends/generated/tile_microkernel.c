// Sums are named scalars; each kind of tiles has code of its own.
#include "backends/generated/tile_microkernel.h"

#include "backends/generated/tile_arguments.h"
#include "core/text/text.h"
#include <stdio.h>

#define PREFETCHED 16   // channels ahead
#define PIXELS_OF_POINTER 8

static long long as_long(int64_t a)
{
    return (long long)a;
}

// Is the source's column within the image for that pixel of a tile and that column of the window?
static bool is_inside(const struct tile_definition *d, const struct tile_kind *kind, int64_t pixel, int64_t column)
{
    int64_t at = pixel * d->window.stride[1] + column * d->window.dilation[1];
    int64_t span = (kind->width - 1) * d->window.stride[1] + (d->window.kernel[1] - 1) * d->window.dilation[1] + 1;
    return at >= kind->left && at < span - kind->right;
}

// A pointer serves some pixels at any distance: one for each of them would not leave enough registers. Convolutions of
// 1x1 are told the distance, so that many of a model share a kernel; larger windows would begin anew too often.
static void print_distances_of_source(const struct tile_printing *p)
{
    bool is_told = p->d->window.kernel[0] * p->d->window.kernel[1] == 1;
    text_add(p->text, "const I pixel = ");
    text_printf(p->text, is_told ? "X_PIXEL;\n" : "%lld;\n", as_long(p->d->source.pixel));
    text_printf(p->text,
                "const I step = %lld * pixel, step3 = 3 * step, step5 = 5 * step, step7 = 7 * step;\n"
                "const I x_lane = X_LANE, channels = %s;\n",
                as_long(p->d->window.stride[1]), p->s->terms ? "terms < CHANNELS ? terms : CHANNELS" : "CHANNELS");
}

static void print_pointers(const struct tile_printing *p, const struct tile_kind *kind)
{
    for (int i = 0; i * PIXELS_OF_POINTER < kind->width; i++)
        text_printf(p->text, "const float *at%d = from + block * X_BLOCK + %d * step;\n", i, i * PIXELS_OF_POINTER);
}

static void print_next_channel(const struct tile_printing *p, const struct tile_kind *kind)
{
    for (int i = 0; i * PIXELS_OF_POINTER < kind->width; i++)
        text_printf(p->text, "at%d += x_lane;\n", i);
    text_printf(p->text, "w += %d * LANES;\n%s", p->s->vectors, p->d->reading.is_scaled ? "scales++;\n" : "");
}

static const char *const ways[PIXELS_OF_POINTER] = {
    "", " + step", " + 2 * step", " + step3", " + 4 * step", " + step5", " + 2 * step3", " + step7"};

static void print_weights(const struct tile_printing *p, int q, bool is_pair)
{
    text_printf(p->text, "V w%d = NAMED(load)(w + %d * LANES);\n__builtin_prefetch(w + (%d * %d + %d) * LANES);\n", q,
                q, PREFETCHED, p->s->vectors, q);
    if (p->d->reading.is_scaled)
        text_printf(p->text, is_pair ? "w%d *= NAMED(pair)(scales);\n" : "w%d *= *scales;\n", q);
}

// Entries of one channel of the source; `column` of the window, -1: any.
static void print_dense_terms(const struct tile_printing *p, const struct tile_kind *kind, int64_t column)
{
    int q_count = p->s->vectors - p->k.has_pairs;
    text_add(p->text, "float e;\n");
    if (p->fetches_next)
        text_add(p->text, "__builtin_prefetch(next, 0, 2);\nnext += share;\n");
    for (int q = 0; q < q_count; q++)
        print_weights(p, q, false);
    for (int64_t i = 0; i < kind->width; i++) {
        if (column >= 0 && !is_inside(p->d, kind, i, column))
            continue;
        text_printf(p->text, "e = *(at%d%s);\n", (int)i / PIXELS_OF_POINTER, ways[i % PIXELS_OF_POINTER]);
        for (int q = 0; q < q_count; q++)
            text_printf(p->text, "a%d_%d += e * w%d;\n", (int)i, q, q);
    }
}

// Entries of two channels, for the last vector.
static void print_pairs(const struct tile_printing *p, const struct tile_kind *kind, int64_t column)
{
    int q = p->s->vectors - 1;
    print_weights(p, q, true);
    for (int64_t i = 0; i < kind->width; i++)
        if (column < 0 || is_inside(p->d, kind, i, column))
            text_printf(p->text, "a%d_%d += NAMED(pair)(at%d%s) * w%d;\n", (int)i, q, (int)i / PIXELS_OF_POINTER,
                        ways[i % PIXELS_OF_POINTER], q);
}

// Sums of two neighbouring lanes each, behind the second half of the vector before.
static void print_sums_of_pairs(const struct tile_printing *p, const struct tile_kind *kind)
{
    int q = p->s->vectors - 1, lanes = p->d->lanes;
    for (int i = 0; i < (int)kind->width; i++) {
        text_printf(p->text, "a%d_%d += __builtin_shufflevector(a%d_%d, a%d_%d", i, q, i, q, i, q);
        for (int lane = 0; lane < lanes; lane++)
            text_printf(p->text, ", %d", lane ^ 1);
        text_printf(p->text, ");\na%d_%d = __builtin_shufflevector(a%d_%d, a%d_%d", i, q, i, q - 1, i, q);
        for (int lane = lanes / 2; lane < lanes + lanes / 2; lane++)
            text_printf(p->text, ", %d", lane < lanes ? lane : 2 * lane - lanes);
        text_add(p->text, ");\n");
    }
}

// Such a sum is added up in parts, which loses fewer digits.
static bool is_long(const struct tile_printing *p)
{
    const struct tile_definition *d = p->d;
    return !p->s->terms && !p->k.is_lanewise &&
           d->window.kernel[0] * d->window.kernel[1] * d->channels > 2 * TILE_TERMS_AT_ONCE;
}

static void print_sums_of_sums(const struct tile_printing *p, const struct tile_kind *kind, const char *form)
{
    for (int i = 0; i < (int)kind->width; i++)
        for (int q = 0; q < p->s->vectors; q++)
            text_printf(p->text, form, i, q, i * p->s->vectors + q);
}

static void print_end_of_sum(const struct tile_printing *p, const struct tile_kind *kind)
{
    text_printf(p->text, "n_terms += end - first;\nif (n_terms >= %d) {\nn_terms = 0;\n", TILE_TERMS_AT_ONCE);
    print_sums_of_sums(
        p, kind, "NAMED(store)(b + %3$d * LANES, NAMED(load)(b + %3$d * LANES) + a%1$d_%2$d);\na%1$d_%2$d = (V){0};\n");
    text_add(p->text, "}\n");
}

static void print_channels(const struct tile_printing *p, const struct tile_kind *kind, int64_t column)
{
    text_add(p->text, p->d->reading.is_scaled ? "const float *scales = scale;\n" : "");
    text_printf(p->text, "for (I block = 0; block < %s; block++) {\n",
                p->s->terms ? "terms / channels" : "CHANNEL_BLOCKS");
    print_pointers(p, kind);
    text_printf(p->text,
                "for (I c = 0, first, end; c < channels;) {\nfirst = c;\nend = channels - c < %d ? channels : c + %d;\n"
                "for (; c < end; c += %d) {\n",
                TILE_TERMS_AT_ONCE, TILE_TERMS_AT_ONCE, p->k.has_pairs ? 2 : 1);
    if (p->k.has_pairs) {
        text_add(p->text, "{\n");
        print_pairs(p, kind, column);
        print_dense_terms(p, kind, column);
        print_next_channel(p, kind);
        text_add(p->text, "}\n");
    }
    print_dense_terms(p, kind, column);
    print_next_channel(p, kind);
    text_add(p->text, "}\n");
    if (is_long(p))
        print_end_of_sum(p, kind);
    text_add(p->text, "}\n}\n");
    if (p->s->terms && p->d->window.kernel[0] * p->d->window.kernel[1] > 1)
        text_printf(p->text, "w += (CHANNEL_BLOCKS * CHANNELS - terms) * %d * LANES;\n", p->s->vectors);
}

static void print_dense_row(const struct tile_printing *p, const struct tile_kind *kind)
{
    int64_t columns = p->d->window.kernel[1], step = p->d->window.dilation[1];
    if (!kind->left && !kind->right) {
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
static void print_exchange(const struct tile_printing *p, int64_t c)
{
    text_printf(p->text, "V v%d = __builtin_shufflevector(v, v", (int)c);
    for (int64_t lane = 0; lane < p->d->lanes; lane++)
        text_printf(p->text, ", %d", (int)(lane / p->d->channels * p->d->channels + c));
    text_add(p->text, ");\n");
}

static void print_source(const struct tile_printing *p, int64_t at)
{
    bool is_alone = p->d->channels == 1;
    text_printf(p->text, "{\nV v%s = NAMED(load)(x + %lld);\n", is_alone ? "0" : "", as_long(at * p->d->source.pixel));
    if (is_alone)
        text_add(p->text, "IN_REGISTER(v0);\n");
    for (int64_t c = 0; !is_alone && c < p->d->channels; c++)
        print_exchange(p, c);
}

static void print_lanewise_term(const struct tile_printing *p, int pixel, int column, int channel)
{
    if (p->d->reading.is_maximum)
        text_printf(p->text, "a%d_0 = NAMED(max)(a%d_0, v0);\n", pixel, pixel);
    else
        text_printf(p->text, "a%d_0 += v%d * w%d_%d;\n", pixel, channel, column, channel);
}

static void print_lanewise_column(const struct tile_printing *p, const struct tile_kind *kind, int64_t at)
{
    const struct tile_definition *d = p->d;
    bool is_read = false;
    for (int64_t c = 0; c < d->channels; c++)
        for (int64_t j = 0; j < d->window.kernel[1]; j++) {
            int64_t rest = at - j * d->window.dilation[1], i = rest / d->window.stride[1];
            if (rest < 0 || rest % d->window.stride[1] || i >= kind->width || !is_inside(d, kind, i, j))
                continue;
            if (!is_read)
                print_source(p, at);
            is_read = true;
            print_lanewise_term(p, (int)i, (int)j, (int)c);
        }
    text_add(p->text, is_read ? "}\n" : "");
}

static void print_lanewise_row(const struct tile_printing *p, const struct tile_kind *kind)
{
    const struct tile_definition *d = p->d;
    for (int64_t j = 0; j < d->window.kernel[1]; j++)
        for (int64_t c = 0; c < d->channels && !d->reading.is_maximum; c++)
            text_printf(p->text, "V w%d_%d = NAMED(load)(w + %d * LANES);\n", (int)j, (int)c,
                        (int)(j * d->channels + c));
    int64_t span = (kind->width - 1) * d->window.stride[1] + (d->window.kernel[1] - 1) * d->window.dilation[1] + 1;
    for (int64_t at = 0; at < span; at++)
        print_lanewise_column(p, kind, at);
}

// --- from beginning to end -------------------------------------------------------------------------------------------

void tile_find_place(const struct tile_printing *p, int vector, const char *block, char ret_place[PLACE_SIZE])
{
    if (p->k.is_short && vector + 1 == p->s->vectors && p->k.stored == p->d->lanes)
        snprintf(ret_place, PLACE_SIZE, " + %lld", as_long(p->k.results - p->d->lanes));
    else
        snprintf(ret_place, PLACE_SIZE, " + %d * %s", vector, block);
}

void tile_print_load(struct text *text, const struct tile_definition *d, int operand, int lanes, const char *place)
{
    if (lanes < d->lanes)
        text_printf(text, "({ V some = {0}; __builtin_memcpy(&some, o%d, %zu); some; })", operand,
                    (size_t)lanes * sizeof(float));
    else
        text_printf(text, "NAMED(load)(o%d%s)", operand, place);
}

// Sums of pairs begin with it in one of their two lanes.
static void print_beginning(const struct tile_printing *p, int q)
{
    char block[16], place[PLACE_SIZE];
    int lanes = p->d->lanes;
    if (!p->bias) {
        text_printf(
            p->text,
            p->d->reading.is_maximum ? "const V begin%d = ALL(-__builtin_inff());\n" : "const V begin%d = {0};\n", q);
        return;
    }
    snprintf(block, sizeof block, "n[%d]", tile_number_of_operand(p->bias) + 1);
    tile_find_place(p, q, block, place);
    if (!p->k.has_pairs || q + 1 < p->s->vectors) {
        text_printf(p->text, "const V begin%d = ", q);
        tile_print_load(p->text, p->d, p->bias, (int)p->k.stored, place);
        text_add(p->text, ";\n");
        return;
    }
    text_printf(p->text, "const V begin%d = __builtin_shufflevector(NAMED(load)(o%d%s), (V){0}", q, p->bias, place);
    for (int lane = 0; lane < lanes; lane++)
        text_printf(p->text, ", %d", lane % 2 ? lanes : (lanes + lane) / 2);
    text_add(p->text, ");\n");
}

static void print_beginnings(const struct tile_printing *p, const struct tile_kind *kind)
{
    for (int q = 0; q < p->s->vectors; q++) {
        print_beginning(p, q);
        for (int i = 0; i < (int)kind->width; i++)
            text_printf(p->text, "V a%d_%d = begin%d;\n", i, q, q);
    }
    if (!p->s->terms)
        return;
    text_add(p->text, "if (at) {\n");
    print_sums_of_sums(p, kind, "a%1$d_%2$d = (V){0};\n");
    text_add(p->text, "}\n");
}

void tile_print_microkernel(const struct tile_printing *p, const struct tile_kind *kind)
{
    long long step = as_long(p->d->window.dilation[0]);
    print_beginnings(p, kind);
    if (is_long(p))
        text_printf(p->text, "float b[%d * LANES] = {0};\nI n_terms = 0;\n", (int)kind->width * p->s->vectors);
    if (!p->k.is_lanewise)
        print_distances_of_source(p);
    text_printf(p->text,
                "x += r0 * %lld * X_ROW;\nw += r0 * W_ROW * LANES;\n"
                "for (I r = r0; r < r1; r++, x += %lld * X_ROW) {\n",
                step, step);
    if (p->k.is_lanewise)
        print_lanewise_row(p, kind);
    else
        print_dense_row(p, kind);
    text_add(p->text, p->k.is_lanewise ? "w += W_ROW * LANES;\n}\n" : "}\n");
    if (is_long(p))
        print_sums_of_sums(p, kind, "a%1$d_%2$d += NAMED(load)(b + %3$d * LANES);\n");
    if (p->k.has_pairs)
        print_sums_of_pairs(p, kind);
    if (!p->s->terms)
        return;
    text_add(p->text, "if (at) {\n");
    print_sums_of_sums(p, kind, "a%1$d_%2$d += NAMED(load)(b + %3$d * LANES);\n");
    text_add(p->text, "}\nif (at + terms < CHANNEL_BLOCKS * CHANNELS) {\n");
    print_sums_of_sums(p, kind, "NAMED(store)(b + %3$d * LANES, a%1$d_%2$d);\n");
    text_add(p->text, "return;\n}\n");
}
