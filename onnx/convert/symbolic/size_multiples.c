// Multiples are found by what fails: the model has nodes whose operands do not go together at each size between two
// multiples that is tried, and none at a multiple. A unit is a claim about sizes at which the model fails alone, so
// what is said of the others holds for every run that has a result. One size between two multiples that has a result,
// alone or beside sizes of other symbols that are no multiples either, and there is no unit.
#include "onnx/convert/symbolic/size_multiples.h"

#include "core/numbers/random.h"
#include "onnx/convert/symbolic/at_binding.h"

#define MOST_UNIT 64
#define ODD_SIZE 131
#define SMALL_SIZES 96   // all of them: windows make single rows of small images, which go with any number of rows
#define N_MIXTURES 24    // of sizes of all symbols
#define MOST_MIXED 400

// Beyond what models cut tables at.
static const int64_t larger_sizes[] = {5 * MOST_UNIT, 1600 * MOST_UNIT};

struct unit_search {
    struct onnx_file *file;
    const struct import_options *options;
    const struct imported_model *named;
    int64_t binding[MAX_SYMBOLS];
};

static enum outcome try_binding(const struct unit_search *s)
{
    return at_binding_try(s->named, s->file, s->options, s->binding);
}

// All others are multiples of whatever is tried.
static enum outcome try_size(struct unit_search *s, size_t symbol, int64_t size)
{
    for (size_t i = 0; i < s->named->symbols.list.count; i++)
        s->binding[i] = i == symbol ? size : MOST_UNIT * (int64_t)(i + 2);
    return try_binding(s);
}

static bool fails_between(struct unit_search *s, size_t symbol, int64_t unit)
{
    for (int64_t size = 1; size < SMALL_SIZES; size++)
        if (size % unit && try_size(s, symbol, size) != FAILS)
            return false;
    for (size_t i = 0; i < sizeof larger_sizes / sizeof *larger_sizes; i++)
        for (int64_t rest = 1; rest < unit; rest++)
            if (try_size(s, symbol, larger_sizes[i] + rest) != FAILS)
                return false;
    return true;
}

// Sizes of all symbols at once, of which one at least is no multiple.
static bool fails_at_mixtures(struct unit_search *s, const int64_t *units)
{
    struct random random = random_seed(1);
    for (int n = 0; n < N_MIXTURES; n++) {
        bool are_multiples = true;
        for (size_t i = 0; i < s->named->symbols.list.count; i++) {
            s->binding[i] = 1 + (int64_t)random_below(&random, MOST_MIXED);
            are_multiples &= s->binding[i] % units[i] == 0;
        }
        if (!are_multiples && try_binding(s) != FAILS)
            return false;
    }
    return true;
}

static int64_t unit_of(struct unit_search *s, size_t symbol)
{
    for (int64_t unit = 1; unit <= MOST_UNIT; unit *= 2)
        if (try_size(s, symbol, unit * ODD_SIZE) == RUNS)
            return fails_between(s, symbol, unit) ? unit : 1;
    return 1;
}

void find_units(const struct imported_model *named, struct onnx_file *file, const struct import_options *options,
                int64_t *ret_units)
{
    struct unit_search s = {.file = file, .options = options, .named = named};
    for (size_t i = 0; i < named->symbols.list.count; i++) {
        ret_units[i] = 1;
        s.binding[i] = ODD_SIZE + 2 * (int64_t)i;
    }
    if (try_binding(&s) != FAILS || try_size(&s, SIZE_MAX, 0) != RUNS)
        return;
    for (size_t i = 0; i < named->symbols.list.count; i++)
        ret_units[i] = unit_of(&s, i);
    bool are_units = fails_at_mixtures(&s, ret_units);
    for (size_t i = 0; !are_units && i < named->symbols.list.count; i++)
        ret_units[i] = 1;
}
