// Command lines: each line of the input is an argument of a program with options of every kind.
#include "core/text/error.h"
#include "core/text/options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scoped.h"
#include <string.h>

struct fields {
    bool quiet, fold;
    int64_t budget, size;
    double alpha;
    const char *output;
    int device;
    struct option_list shapes;
};
static const char *const devices[] = {"cpu", "cuda", NULL};
static const struct option_spec specs[] = {
    {"quiet", OPTION_FLAG, offsetof(struct fields, quiet), .letter = 'q', .help = "flag"},
    {"fold", OPTION_FLAG, offsetof(struct fields, fold), .letter = 'f', .help = "flag that is on"},
    {"budget", OPTION_INTEGER, offsetof(struct fields, budget), .letter = 'b', .low = 1, .high = 1e6, .help = "number"},
    {"size", OPTION_INTEGER, offsetof(struct fields, size), .is_size = true, .low = 0, .high = 1e15, .help = "size"},
    {"alpha", OPTION_REAL, offsetof(struct fields, alpha), .low = 1, .high = 100, .help = "real"},
    {"output", OPTION_TEXT, offsetof(struct fields, output), .letter = 'o', .help = "text"},
    {"device", OPTION_CHOICE, offsetof(struct fields, device), .choices = devices, .help = "choice"},
    {"shape", OPTION_LIST, offsetof(struct fields, shapes), .help = "list"},
    {0}};
static const struct program program = {.name = "fuzz", .options = specs};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fields fields = {.fold = true, .budget = 1, .alpha = 1};
    ARENA(arena);
    enum options_end end;
    char *arguments[256];
    int count = 0;
    char *text = arena_string_n(&arena, (const char *)data, size);
    for (char *line = strtok(text, "\n"); line && count < 256; line = strtok(NULL, "\n"))
        arguments[count++] = line;
    if (options_parse(&program, &count, arguments, &fields, &end, &(struct error){0}) && end == OPTIONS_READ) {
        FUZZ_REQUIRE(fields.budget >= 1 && fields.budget <= 1000000 && fields.alpha >= 1 && fields.alpha <= 100);
        FUZZ_REQUIRE(fields.device == 0 || fields.device == 1);
    }
    return 0;
}
