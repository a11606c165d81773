// Symbols whose sizes have to be multiples of a power of two: of a network that halves an image and doubles it, to be
// joined with what it was, no other height has a result. There the sizes of all halves are exact.
//
// Found by what fails: the model has nodes whose operands do not go together at each size between two multiples, and
// none at a multiple. A unit is a claim about sizes at which the model fails alone, so what is said of others holds for
// every run that has a result.
#include "core/text/error.h"
#include "onnx/convert/lockstep.h"

#include <string.h>

#define MOST_UNIT 64
#define ODD_SIZE 131

struct unit_search {
    struct onnx_file *file;
    const struct import_options *options;
    struct imported_model named;   // its first probe is the binding
};

static bool runs(struct unit_search *s)
{
    struct importer im;
    struct imported_model model;
    struct error ignored = {0};
    importer_init(&im, &model, s->file, s->options, &ignored);
    im.named = &s->named;
    bool fits = import_graph(&im) && im.unfit.count == 0;
    importer_free(&im);
    imported_model_free(&model);
    return fits;
}

// All others are multiples of whatever is tried.
static bool runs_with(struct unit_search *s, size_t symbol, int64_t size)
{
    int64_t *binding = s->named.sizes.probes[0];
    for (size_t i = 0; i < s->named.symbols.count; i++)
        binding[i] = i == symbol ? size : MOST_UNIT * (int64_t)(i + 2);
    return runs(s);
}

// Also where sizes are small: half of an image may be a single row there, which goes with any other.
static bool fails_between(struct unit_search *s, size_t symbol, int64_t unit)
{
    for (int64_t rest = 1; rest < unit; rest++)
        if (runs_with(s, symbol, rest) || runs_with(s, symbol, 5 * MOST_UNIT + rest))
            return false;
    return true;
}

static int64_t unit_of(struct unit_search *s, size_t symbol)
{
    for (int64_t unit = 1; unit <= MOST_UNIT; unit *= 2)
        if (runs_with(s, symbol, unit * ODD_SIZE))
            return fails_between(s, symbol, unit) ? unit : 1;
    return 1;
}

void find_units(const struct imported_model *named, struct onnx_file *file, const struct import_options *options,
                int64_t *ret_units)
{
    struct unit_search s = {.file = file, .options = options, .named = *named};
    for (size_t i = 0; i < named->symbols.count; i++) {
        ret_units[i] = 1;
        s.named.sizes.probes[0][i] = ODD_SIZE + 2 * (int64_t)i;
    }
    if (runs(&s) || !runs_with(&s, SIZE_MAX, 0))
        return;
    for (size_t i = 0; i < named->symbols.count; i++)
        ret_units[i] = unit_of(&s, i);
}
