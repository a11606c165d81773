// Scratch memory of a part: k packed, v packed, and a block of rows of what is between, where softmax works in place.
#include "backends/generated/chains/attention.h"

#include "backends/generated/tile_arguments.h"
#include "backends/generated/tile_text.h"
#include "backends/planning/plan.h"
#include "core/numbers/integers.h"
#include "core/text/text.h"

#define MOST_ROWS 28   // of a block
#define SPARE_REGISTERS 4

#define OWN_NUMBERS(_)                                                                                                 \
    _(PRODUCTS)                                                                                                        \
    _(BLOCKS)                                                                                                          \
    _(ALL_ROWS)                                                                                                        \
    _(BLOCK)                                                                                                           \
    _(N) _(K) _(D) _(K_COLUMN) _(K_ROW) _(V_COLUMN) _(V_ROW) _(Q_ROW) _(Y_ROWS) _(S_ROW) _(AT_V) _(AT_S) _(PLACES)
#define OWN_NUMBER(name) OWN_##name,
enum { OWN_NUMBERS(OWN_NUMBER) OWN_N_NUMBERS };   // then the distances of rows of all operands

// --- what a definition comes to --------------------------------------------------------------------------------------

static int n_operands(const struct tile_definition *d)
{
    return d->epilogue.loop ? d->epilogue.loop->n_operands - 1 : 0;
}

static struct tile_image rows_within(const struct tile_definition *d)
{
    return (struct tile_image){.block = d->lanes, .pixel = divide_up(d->results, d->lanes) * d->lanes, .lane = 1};
}

static bool complete_tile(struct tile_definition *d, struct tile_schedule *s, int64_t rows)
{
    int best = tile_best_vectors(d), q = best * d->lanes <= d->results ? best : 1;   // packed without overlaps within
    d->images = d->groups = d->height = d->result_height = 1;
    d->width = d->result_width = rows;
    for (int i = 0; i < 2; i++) {
        d->window.kernel[i] = d->window.stride[i] = d->window.dilation[i] = 1;
        d->window.pad[i] = 0;
    }
    *s = (struct tile_schedule){(d->registers - SPARE_REGISTERS) / q, q, 1};
    return d->results >= d->lanes && tile_suits(d, s) && (!d->epilogue.loop || tile_takes_epilogue(d));
}

bool attention_complete(struct attention_definition *d)
{
    struct tile_definition *first = &d->tiles[ATTENTION_FIRST], *second = &d->tiles[ATTENTION_SECOND];
    int64_t block = d->rows > 0 ? divide_up(d->rows, divide_up(d->rows, MOST_ROWS)) : 0;
    first->target = second->source = rows_within(first);
    return block > 0 && d->products > 0 && complete_tile(first, &d->schedules[ATTENTION_FIRST], block) &&
           complete_tile(second, &d->schedules[ATTENTION_SECOND], block);
}

static int64_t packed_floats(const struct attention_definition *d, int tile)
{
    return (int64_t)(tile_weights_floats(&d->tiles[tile], &d->schedules[tile]) + 15) / 16 * 16;
}

size_t attention_scratch_floats(const struct attention_definition *d)
{
    const struct tile_definition *first = &d->tiles[ATTENTION_FIRST];
    return (size_t)(packed_floats(d, ATTENTION_FIRST) + packed_floats(d, ATTENTION_SECOND) +
                    first->width * first->target.pixel + 16);
}

int attention_n_places(const struct attention_definition *d)
{
    return 4 + n_operands(&d->tiles[ATTENTION_FIRST]) + n_operands(&d->tiles[ATTENTION_SECOND]);
}

size_t attention_n_numbers(const struct attention_definition *d)
{
    return (size_t)(OWN_N_NUMBERS + attention_n_places(d) - 4);
}

void attention_list_numbers(const struct attention_definition *d, int64_t *ret_numbers)
{
    const struct tile_definition *first = &d->tiles[ATTENTION_FIRST], *second = &d->tiles[ATTENTION_SECOND];
    int64_t at_v = packed_floats(d, ATTENTION_FIRST), at_s = at_v + packed_floats(d, ATTENTION_SECOND);
    const int64_t own[OWN_N_NUMBERS] = {d->products,
                                        divide_up(d->rows, first->width),
                                        d->rows,
                                        first->width,
                                        first->results,
                                        first->channels,
                                        second->results,
                                        d->column[ATTENTION_FIRST],
                                        d->row[ATTENTION_FIRST],
                                        d->column[ATTENTION_SECOND],
                                        d->row[ATTENTION_SECOND],
                                        first->source.pixel,
                                        second->target.pixel,
                                        first->target.pixel,
                                        at_v,
                                        at_s,
                                        attention_n_places(d)};
    for (int i = 0; i < OWN_N_NUMBERS; i++)
        *ret_numbers++ = own[i];
    for (int tile = 0; tile < 2; tile++)
        for (int i = 1; i <= n_operands(&d->tiles[tile]); i++)
            *ret_numbers++ = d->tiles[tile].epilogue.operands[i].pixel;
}

// --- the text --------------------------------------------------------------------------------------------------------

extern const char attention_functions[];   // attention.inc

// Squares of as many rows as a vector has lanes, turned within registers: halves of ever shorter runs change places.
static void print_turn(struct text *text, int lanes)
{
    text_add(text, "static inline void NAMED(turn)(const float *from, I column, float *to, I width)\n{\n");
    for (int i = 0; i < lanes; i++)
        text_printf(text, "V v%d = NAMED(load)(from + %d * column), t%d;\n", i, i, i);
    for (int half = lanes / 2; half; half /= 2)
        for (int i = 0; i < lanes; i++) {
            bool is_low = !(i & half);
            int a = is_low ? i : i - half;
            text_printf(text, "t%d = __builtin_shufflevector(v%d, v%d", i, a, a + half);
            for (int lane = 0; lane < lanes; lane++) {
                int from = is_low ? lane & ~half : lane | half;
                text_printf(text, ", %d", lane & half ? from % lanes + lanes : from);
            }
            text_add(text, ");\n");
            if (!is_low)
                text_printf(text, "v%d = t%d, v%d = t%d;\n", a, a, i, i);
        }
    for (int i = 0; i < lanes; i++)
        text_printf(text, "NAMED(store)(to + %d * width, v%d);\n", i, i);
    text_add(text, "}\n");
}

// Addresses of an epilogue's operands at the block's first row.
static void print_operands(struct text *text, const struct attention_definition *d, int tile)
{
    int n = n_operands(&d->tiles[tile]), first = tile ? n_operands(&d->tiles[ATTENTION_FIRST]) : 0;
    text_printf(text, "const float *o%d[%d];\n", tile, n + 1);
    for (int i = 0; i < n; i++)
        text_printf(text, "o%d[%d] = operands[%d][%d] + at[%d] + row * own[%d];\n", tile, i + 1, tile, i + 1,
                    4 + first + i, OWN_N_NUMBERS + first + i);
}

static void print_run(struct text *text, const struct attention_definition *d)
{
    text_printf(
        text,
        "void NAMED(run)(const void *const *given, float *scratch, int part, int parts)\n{\n"
        "const float *q = given[0], *k = given[1], *v = given[2], *const *const *operands = given[4];\n"
        "float *y = (float *)given[3];\nconst I *const *lists = given[5];\n"
        "const I *own = lists[%d];\nfloat *s = scratch + AT_S;\nI packed = -1, laps = BLOCKS * BLOCK > ALL_ROWS;\n"
        "I end = BORDER(PRODUCTS * BLOCKS * (part + 1) / parts, BLOCKS, laps);\n"
        "for (I u = BORDER(PRODUCTS * BLOCKS * part / parts, BLOCKS, laps); u < end; u++) {\n"
        "I product = u / BLOCKS, row = u %% BLOCKS * BLOCK;\nconst I *at = lists[%d] + product * PLACES;\n"
        "if (row > ALL_ROWS - BLOCK)\nrow = ALL_ROWS - BLOCK;\n",
        ATTENTION_OWN, ATTENTION_PLACES);
    text_printf(text,
                "if (packed != product) {\npacked = product;\n"
                "NAMED(pack)(k + at[1], scratch, N, K, K_COLUMN, K_ROW, %d * LANES);\n"
                "NAMED(pack)(v + at[2], scratch + AT_V, D, N, V_COLUMN, V_ROW, %d * LANES);\n}\n",
                d->schedules[ATTENTION_FIRST].vectors, d->schedules[ATTENTION_SECOND].vectors);
    print_operands(text, d, ATTENTION_FIRST);
    print_operands(text, d, ATTENTION_SECOND);
    text_add(text, "NAMED(first_row)(q + at[0] + row * Q_ROW, scratch, s, o0, lists[0], 0, 0);\n"
                   "NAMED(softmax)(s, BLOCK, N, S_ROW);\n"
                   "NAMED(second_row)(s, scratch + AT_V, y + at[3] + row * Y_ROWS, o1, lists[1], 0, 0);\n}\n}\n");
}

void attention_print(struct text *text, const struct attention_definition *d)
{
#define NAME_OF_NUMBER(name) #name,
    static const char *const names[] = {OWN_NUMBERS(NAME_OF_NUMBER)};
    int lanes = d->tiles[ATTENTION_FIRST].lanes;
    tile_print_names(text, lanes);
    tile_print_row(text, "first_", &d->tiles[ATTENTION_FIRST], &d->schedules[ATTENTION_FIRST]);
    tile_print_row(text, "second_", &d->tiles[ATTENTION_SECOND], &d->schedules[ATTENTION_SECOND]);
    for (int i = 0; i < OWN_N_NUMBERS; i++)
        text_printf(text, "#undef %s\n#define %s own[%d]\n", names[i], names[i], i);
    print_turn(text, lanes);
    text_add(text, attention_functions);
    print_run(text, d);
}
