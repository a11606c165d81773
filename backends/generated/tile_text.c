// All loops around tiles are in NAMED(run), which is told sizes and distances; a text knows only what the code of tiles
// does.
#include "backends/generated/tile_text.h"

#include "backends/generated/tile_arguments.h"
#include "backends/generated/tile_microkernel.h"
#include "backends/generated/vector_text.h"
#include "backends/planning/plan.h"
#include "core/text/text.h"
#include <assert.h>
#include <stdio.h>

// --- epilogues -------------------------------------------------------------------------------------------------------

// Distances are in variables, as what is stored might else be them.
static void print_distances(const struct tile_printing *p)
{
    text_add(p->text, "const I y_block = Y_BLOCK, y_pixel = Y_PIXEL;\n");
    for (int i = 1; i < tile_n_operands(p->d); i++)
        text_printf(p->text, "const I o%d_block = n[%d], o%d_pixel = n[%d];\n", i, tile_number_of_operand(i) + 1, i,
                    tile_number_of_operand(i) + 3);
}

void tile_print_operand(struct text *text, const struct tile_definition *d, int operand, int lanes, const char *place)
{
    text_printf(text, "V x%d = ", operand);
    if (d->epilogue.operands[operand].lane)
        tile_print_load(text, d, operand, lanes, place);
    else
        text_printf(text, "ALL(*(o%d%s))", operand, place);
    text_add(text, ";\n");
}

void tile_print_value(struct text *text, const struct tile_definition *d, const char *sum,
                      char ret_name[VALUE_NAME_SIZE])
{
    text_printf(text, d->epilogue.has_relu ? "V x0 = NAMED(relu)(%s);\n" : "V x0 = %s;\n", sum);
    loop_text_name(d->epilogue.loop ? d->epilogue.loop->results[0].value : 0, ret_name);
    if (d->epilogue.loop)
        loop_text_add(text, &vector_dialect, d->epilogue.loop);
}

static void print_result(const struct tile_printing *p, int pixel, int vector)
{
    char value[VALUE_NAME_SIZE], sum[32], block[32], place[PLACE_SIZE];
    text_add(p->text, "{\n");
    for (int i = 1; i < tile_n_operands(p->d); i++) {
        if (i == p->bias) {
            text_printf(p->text, "V x%d = -(V){0};\n", i);
            continue;
        }
        snprintf(block, sizeof block, "o%d_block", i);
        tile_find_place(p, vector, block, place);
        tile_print_operand(p->text, p->d, i, (int)p->k.stored, p->d->epilogue.operands[i].block && vector ? place : "");
    }
    snprintf(sum, sizeof sum, "a%d_%d", pixel, vector);
    tile_print_value(p->text, p->d, sum, value);
    tile_find_place(p, vector, "y_block", place);
    if (p->k.stored < p->d->lanes)
        text_printf(p->text, "__builtin_memcpy(y, &%s, %zu);\n}\n", value, (size_t)p->k.stored * sizeof(float));
    else
        text_printf(p->text, "NAMED(store)(y%s, %s);\n}\n", place, value);
}

static void print_next_pixel(const struct tile_printing *p)
{
    text_add(p->text, "y += y_pixel;\n");
    for (int i = 1; i < tile_n_operands(p->d); i++)
        if (p->d->epilogue.operands[i].pixel)
            text_printf(p->text, "o%d += o%d_pixel;\n", i, i);
}

static void print_results(const struct tile_printing *p, const struct tile_kind *kind)
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

static void print_arguments(const struct tile_printing *p, const char *form)
{
    for (int i = 1; i < tile_n_operands(p->d); i++)
        text_printf(p->text, form, i);
}

static void print_kind(const struct tile_printing *p, int number)
{
    const struct tile_kind *kind = &p->k.kinds[number];
    text_printf(p->text, "static inline void NAMED(%stile_%d)(const float *x, const float *w, I r0, I r1, float *y",
                p->prefix, number);
    print_arguments(p, ", const float *o%d");
    text_add(p->text, p->d->reading.is_scaled ? ", const float *scale" : "");
    text_add(p->text, p->fetches_next ? ", const float *next, I share" : "");
    text_add(p->text, p->s->terms ? ", float *b, I at, I terms" : "");
    text_add(p->text, ", const I *n)\n{\n");
    tile_print_microkernel(p, kind);
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
    text_add(text, "#undef BORDER\n#define BORDER(at, each, laps) ((at) + ((laps) && (at) % (each) == (each) - 1))\n");
}

static void print_calls(const struct tile_printing *p)
{
    int at = tile_number_of_tiles(p->d);
    long long step = p->d->window.stride[1], pad = p->d->window.pad[1];
    text_printf(p->text, "I j = n[%d + 2 * tile];\n", at + 1);
    text_printf(
        p->text,
        "const float *xt = x + image * X_IMAGE + x_at + top * X_ROW + (j * %lld - %lld) * X_PIXEL;\n"
        "float *yt = y + image * Y_IMAGE + first / LANES * Y_BLOCK + first %% LANES + row * Y_ROW + j * Y_PIXEL;\n",
        step, pad);
    for (int i = 1; i < tile_n_operands(p->d); i++) {
        int n = tile_number_of_operand(i);
        text_printf(p->text, "const float *o%d = operands[%d] + image * n[%d] + row * n[%d] + j * n[%d]", i, i, n,
                    n + 2, n + 3);
        text_printf(p->text, p->d->epilogue.operands[i].lane ? " + first / LANES * n[%d] + first %% LANES;\n" : ";\n",
                    n + 1);
    }
    text_printf(p->text, "switch (n[%d + 2 * tile]) {\n", at);
    for (int i = 0; i < p->k.n_kinds; i++) {
        text_printf(p->text, "case %d:\nNAMED(%stile_%d)(xt, wt, r0, r1, yt", i, p->prefix, i);
        print_arguments(p, ", o%d");
        text_add(p->text, p->d->reading.is_scaled ? ", operands[0] + image * SCALE_IMAGE" : "");
        text_add(p->text, p->fetches_next ? ", next, share" : "");
        text_add(p->text, p->s->terms ? ", b, at, terms, n);\nbreak;\n" : ", n);\nbreak;\n");
    }
    text_add(p->text, "}\n");
}

// The weights of a group of vectors, and which channels they are of.
static void print_group(const struct tile_printing *p)
{
    int vectors = p->s->vectors;
    text_printf(p->text,
                "const float *wt = w + g * W_GROUP;\n"
                "I first = g %% GROUPS_EACH * %d * LANES, x_at = g / GROUPS_EACH * X_GROUP;\n",
                vectors);
    if (!p->k.is_short)
        text_printf(p->text, "if (first > RESULTS - %d * LANES)\nfirst = RESULTS - %d * LANES;\n", vectors, vectors);
    text_add(p->text, p->k.is_lanewise ? "x_at = first / LANES * X_BLOCK + first % LANES;\n"
                                       : "first += g / GROUPS_EACH * RESULTS;\n");
}

// The rows of the window that lie within the image.
static void print_window(const struct tile_printing *p)
{
    const struct tile_definition *d = p->d;
    long long step = d->window.dilation[0], most = d->window.kernel[0], stride = d->window.stride[0],
              pad = d->window.pad[0];
    text_printf(p->text,
                "I top = row * %lld - %lld, r0 = top < 0 ? (-top + %lld) / %lld : 0;\n"
                "I r1 = top < HEIGHT ? (HEIGHT - top + %lld) / %lld : 0;\nr1 = r1 > %lld ? %lld : r1;\n",
                stride, pad, step - 1, step, step - 1, step, most, most);
}

// Tiles of a group fetch the next group's weights, each a share of them: these come from far, the group's own are near.
static void print_fetching(const struct tile_printing *p)
{
    int vectors = p->s->vectors;
    text_printf(p->text, "const I share = (%d * LANES + to - from - 1) / (to - from);\n", vectors);
    if (p->s->terms)
        text_printf(p->text,
                    "const float *fetched = g + 1 < g1 ? wt + W_GROUP : w + g0 * W_GROUP + (at + terms) %% all_terms * "
                    "%d * LANES;\n",
                    vectors);
    else
        text_printf(p->text,
                    "const I terms = W_GROUP / (%d * LANES);\n"
                    "const float *fetched = g + 1 < g1 ? wt + W_GROUP : to < end ? w + g0 * W_GROUP : wt;\n",
                    vectors);
}

// Parts are of the results where these are even and there are more weights than entries of the source, as each part
// reads all of the other. Two groups that overlap are of one part: a BORDER that would be between them is behind both.
static void print_parts(const struct tile_printing *p)
{
    const struct tile_definition *d = p->d;
    text_printf(
        p->text,
        "I all = IMAGES * ROWS * TILES, has_more_weights = RESULTS * %lld > all * %d;\n"
        "I is_even = GROUPS %% parts == 0 && (has_more_weights || all < 16 * parts);\n"
        "I is_by_tiles = !(is_even && has_more_weights) && (all %% parts == 0 || (all >= 4 * parts && !is_even));\n"
        "I begin = is_by_tiles ? all * part / parts : 0, end = is_by_tiles ? all * (part + 1) / parts : all;\n"
        "I laps = GROUPS_EACH * %d * LANES > RESULTS;\n"
        "I g0 = is_by_tiles ? 0 : BORDER(GROUPS * part / parts, GROUPS_EACH, laps);\n"
        "I g1 = is_by_tiles ? GROUPS : BORDER(GROUPS * (part + 1) / parts, GROUPS_EACH, laps);\n",
        (long long)(d->window.kernel[0] * d->window.kernel[1]), p->s->pixels, p->k.is_short ? 0 : p->s->vectors);
}

static void print_run(const struct tile_printing *p)
{
    text_add(p->text, "void NAMED(run)(const void *const *given, float *scratch, int part, int parts)\n{\n"
                      "const float *x = given[0], *w = given[1], *const *operands = given[3];\n"
                      "float *y = (float *)given[2];\nconst I *n = given[4];\n");
    print_parts(p);
    text_add(p->text, "for (I from = begin, to; from < end; from = to) {\n"
                      "to = end - from < AT_ONCE ? end : from + AT_ONCE;\n");
    if (p->s->terms)
        text_printf(p->text,
                    "const I all_terms = CHANNEL_BLOCKS * CHANNELS;\n"
                    "for (I at = 0, terms = %d; at < all_terms; at += terms) {\n"
                    "terms = all_terms - at < terms ? all_terms - at : terms;\n",
                    (int)p->s->terms);
    text_add(p->text, "for (I g = g0; g < g1; g++) {\n");
    print_group(p);
    if (p->s->terms)
        text_printf(p->text, "wt += at * %d * LANES;\nx_at += at / CHANNELS * X_BLOCK + at %% CHANNELS * X_LANE;\n",
                    p->s->vectors);
    if (p->fetches_next)
        print_fetching(p);
    text_add(p->text, "I image = from / (ROWS * TILES), row = from / TILES % ROWS, tile = from % TILES;\n"
                      "for (I u = from; u < to; u++) {\n");
    if (p->fetches_next)
        text_printf(
            p->text,
            "const float *next = (u - from) * share < %d * LANES ? fetched + (u - from) * share * terms : wt;\n",
            p->s->vectors);
    if (p->s->terms)
        text_printf(p->text, "float *b = scratch + ((g - g0) * (to - from) + u - from) * %d * LANES;\n",
                    (int)p->k.width * p->s->vectors);
    print_window(p);
    print_calls(p);
    text_add(p->text,
             "if (++tile == TILES) {\ntile = 0;\nif (++row == ROWS) {\nrow = 0;\nimage++;\n}\n}\n}\n}\n}\n}\n");
    text_add(p->text, p->s->terms ? "}\n" : "");
}

static bool uses(const struct instruction *i, uint16_t value)
{
    int n = i->kind == INSTRUCTION_APPLY ? function_arity((enum scalar_function)i->fn) : 0;
    return (n > 0 && i->a == value) || (n > 1 && i->b == value) || (n > 2 && i->c == value);
}

// An operand of channels that is added to the sum, and neither is read again.
static int find_bias(const struct tile_definition *d)
{
    const struct loop *l = d->epilogue.loop;
    if (!l || d->reading.is_maximum || d->epilogue.has_relu || !l->n_instructions ||
        l->instructions[0].kind != INSTRUCTION_APPLY || l->instructions[0].fn != FN_ADD ||
        !uses(&l->instructions[0], 0) || l->results[0].value == 0)
        return 0;
    int bias = l->instructions[0].a + l->instructions[0].b;
    const struct tile_image *o = &d->epilogue.operands[bias];
    bool is_bias = bias && o->lane && !o->pixel && !o->row;
    for (int i = 1; i < l->n_instructions; i++)
        is_bias = is_bias && !uses(&l->instructions[i], 0) && !uses(&l->instructions[i], (uint16_t)bias);
    return is_bias ? bias : 0;
}

static struct tile_printing begin_printing(struct text *text, const char *prefix, const struct tile_definition *d,
                                           const struct tile_schedule *s)
{
    struct tile_printing p = {text, prefix, d, s, tile_shape_of(d, s), false, find_bias(d)};
    bool is_listed = tile_list_kinds(d, &p.k);
    assert(is_listed);
    (void)is_listed;
    return p;
}

void tile_print(struct text *text, const struct tile_definition *d, const struct tile_schedule *s)
{
    struct tile_printing p = begin_printing(text, "", d, s);
    p.fetches_next = !p.k.is_lanewise;
    tile_print_names(text, d->lanes);
    for (int i = 0; i < p.k.n_kinds; i++)
        print_kind(&p, i);
    print_run(&p);
}

void tile_print_row(struct text *text, const char *prefix, const struct tile_definition *d,
                    const struct tile_schedule *s)
{
    struct tile_printing p = begin_printing(text, prefix, d, s);
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
