#include "core/text/options_help.h"
#include "tests/support/cases.h"

struct fields {
    bool quiet, fold, tf32;
    int64_t budget, limit;
    double alpha;
    const char *output, *json, *name, *suffix, *folder, *distance;
    int device;
    struct option_list shapes;
};

static const char *const devices[] = {"cpu", "cuda", "fake", NULL};
static const struct option_spec specs[] = {
    {"output", OPTION_TEXT, offsetof(struct fields, output), .letter = 'o', .metavar = "FILE",
     .help = "where to write"},
    {"quiet", OPTION_FLAG, offsetof(struct fields, quiet), .letter = 'q', .help = "print nothing"},
    {"fold", OPTION_FLAG, offsetof(struct fields, fold), .letter = 'f', .help = "fold constants"},
    {"budget", OPTION_INTEGER, offsetof(struct fields, budget), .letter = 'b', .low = 0, .high = 1e18, .metavar = "N",
     .help = "candidates to visit"},
    {"fold-limit", OPTION_INTEGER, offsetof(struct fields, limit), .is_size = true, .low = 0, .high = 8589934592,
     .metavar = "SIZE",
     .help = "largest constant that is folded, a help text that is so long that it must be wrapped onto a second line"},
    {"alpha", OPTION_REAL, offsetof(struct fields, alpha), .low = 1, .high = 100, .metavar = "X", .help = "tolerance"},
    {"device", OPTION_CHOICE, offsetof(struct fields, device), .choices = devices, .help = "where it runs"},
    {"shape", OPTION_LIST, offsetof(struct fields, shapes), .metavar = "NAME=DIMS", .help = "binds a dimension"},
    {"tf32", OPTION_FLAG, offsetof(struct fields, tf32), .beside = {"--device cuda|fake"}, .help = "drops bits"},
    {"json", OPTION_TEXT, offsetof(struct fields, json), .beside = {"--no-quiet"}, .help = "what is printed"},
    {"part", OPTION_TEXT, offsetof(struct fields, name),
     .beside = {"--output or --json or --device cuda", "--no-device fake"}, .help = "of it"},
    {"suffix", OPTION_TEXT, offsetof(struct fields, suffix), .beside = {"--output a|b"}, .help = "of a or b"},
    {"folder", OPTION_TEXT, offsetof(struct fields, folder), .files = NO_FILES, .help = "instead of files"},
    {"distance", OPTION_TEXT, offsetof(struct fields, distance), .files = 2, .help = "of two"},
    {"name", OPTION_TEXT, offsetof(struct fields, name), .beside = {"--output"}, .help = "of what is written"},
    {0},
};
static const struct program program = {
    .name = "example",
    .usage = "IN -o OUT [options]",
    .summary = "Does things.",
    .epilog = "Exit codes: 0 done.",
    .options = specs,
};
static const struct fields defaults = {.fold = true, .budget = 100, .limit = 64 << 20, .alpha = 1.05};

struct parsed {
    char line[256];
    struct fields fields;
    char *positional[16];   // what options_parse leaves of the line
    int count;
    enum options_end end;
    struct error error;
};

// `line` is split at blanks.
static bool parse(const char *line, struct parsed *ret_parsed)
{
    *ret_parsed = (struct parsed){.fields = defaults};
    strcpy(ret_parsed->line, line);
    for (char *word = strtok(ret_parsed->line, " "); word; word = strtok(NULL, " "))
        ret_parsed->positional[ret_parsed->count++] = word;
    return options_parse(&program, &ret_parsed->count, ret_parsed->positional, &ret_parsed->fields, &ret_parsed->end,
                         &ret_parsed->error);
}

TEST(reads_every_kind)
{
    struct parsed p;
    assert_true(parse("in.onnx -o out.onnx --quiet --no-fold --budget=-0 --fold-limit 2G --alpha 1e1 --device=cuda "
                      "--shape a=1 --shape b=2 second",
                      &p));
    assert_int_equal(p.count, 2);
    assert_string_equal(p.positional[0], "in.onnx");
    assert_string_equal(p.positional[1], "second");
    assert_string_equal(p.fields.output, "out.onnx");
    assert_true(p.fields.quiet);
    assert_false(p.fields.fold);
    assert_int_equal(p.fields.budget, 0);
    assert_int_equal(p.fields.limit, (int64_t)2 << 30);
    assert_true(p.fields.alpha == 10);
    assert_int_equal(p.fields.device, 1);
    assert_int_equal(p.fields.shapes.count, 2);
    assert_string_equal(p.fields.shapes.items[1], "b=2");
}

TEST(defaults_stay)
{
    struct parsed p;
    assert_true(parse("", &p));
    assert_int_equal(p.count, 0);
    assert_int_equal(p.end, OPTIONS_READ);
    assert_memory_equal(&p.fields, &defaults, sizeof defaults);
}

TEST(letters_can_stand_together)
{
    struct parsed p;
    assert_true(parse("-qb7 -oout -fo second -", &p));
    assert_true(p.fields.quiet);
    assert_int_equal(p.fields.budget, 7);
    assert_string_equal(p.fields.output, "second");
    assert_int_equal(p.count, 1);
    assert_string_equal(p.positional[0], "-");
}

TEST(two_dashes_end_the_options)
{
    struct parsed p;
    assert_true(parse("--quiet -- --no-fold -x --help", &p));
    assert_true(p.fields.quiet);
    assert_true(p.fields.fold);
    assert_int_equal(p.end, OPTIONS_READ);
    assert_int_equal(p.count, 3);
    assert_string_equal(p.positional[2], "--help");
}

// A line and why it is wrong, or the size that it gives.
TEST_OF_CASES(lines_are_read_or_explained, c, "core/options.cases")
{
    struct parsed p;
    const struct sexp *wanted = c->count > 1 ? &c->items[1] : NULL;
    bool is_wrong = wanted && wanted->kind == SEXP_STRING;
    assert_int_equal(parse(c->items[0].text, &p), !is_wrong);
    if (is_wrong) {
        assert_string_equal(p.error.message, wanted->text);
        assert_int_equal(p.error.code, EXIT_USAGE);
    } else if (wanted)
        assert_int_equal(p.fields.limit, wanted->integer);
}

TEST(a_list_has_an_end)
{
    char *argv[130];
    int of_64 = 128, of_65 = 130;
    struct parsed p = {.fields = defaults};
    for (int i = 0; i < of_65; i += 2) {
        argv[i] = "--shape";
        argv[i + 1] = "x=1";
    }
    assert_true(options_parse(&program, &of_64, argv, &p.fields, &p.end, &p.error));
    assert_int_equal(p.fields.shapes.count, 64);
    p.fields = defaults;
    assert_false(options_parse(&program, &of_65, argv, &p.fields, &p.end, &p.error));
    assert_string_equal(p.error.message, "option --shape is given too often");
}

TEST(help_is_made_from_the_table)
{
    static const char expected[] =
        "Usage: example IN -o OUT [options]\n"
        "\n"
        "Does things.\n"
        "\n"
        "Options:\n"
        "  -o, --output FILE         where to write\n"
        "  -q, --quiet               print nothing\n"
        "  -f, --[no-]fold           fold constants (default on)\n"
        "  -b, --budget N            candidates to visit (0 or more, default 100)\n"
        "      --fold-limit SIZE     largest constant that is folded, a help text that is so long that it\n"
        "                            must be wrapped onto a second line (0 to 8G, default 64M)\n"
        "      --alpha X             tolerance (1 to 100, default 1.05)\n"
        "      --device cpu|cuda|fake\n"
        "                            where it runs (default cpu)\n"
        "      --shape NAME=DIMS     binds a dimension (may be repeated)\n"
        "      --tf32                drops bits\n"
        "      --json VALUE          what is printed\n"
        "      --part VALUE          of it\n"
        "      --suffix VALUE        of a or b\n"
        "      --folder VALUE        instead of files\n"
        "      --distance VALUE      of two\n"
        "      --name VALUE          of what is written\n"
        "  -h, --help                print this text\n"
        "      --version             print the version\n"
        "\n"
        "Exit codes: 0 done.\n";
    TEXT(page);
    struct parsed p;
    assert_true(parse("--budget 3 --help --nonsense", &p));
    assert_int_equal(p.end, OPTIONS_HELP);
    assert_true(parse("-h", &p));
    assert_int_equal(p.end, OPTIONS_HELP);
    assert_true(parse("--version --nonsense", &p));
    assert_int_equal(p.end, OPTIONS_VERSION);
    options_add_help(&page, &program, &defaults);
    assert_string_equal(page.chars, expected);
}
