#include "core/text/options_help.h"
#include "tests/support/check.h"

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

static const struct {
    const char *line;
    int64_t value;
} suffixed[] = {
    {"--fold-limit=0", 0},        {"--fold-limit=12", 12},      {"--fold-limit=3k", 3 << 10},
    {"--fold-limit=3K", 3 << 10}, {"--fold-limit=5M", 5 << 20}, {"--fold-limit=8G", (int64_t)8 << 30},
};

TEST_OF_EACH(sizes_take_suffixes, row, suffixed)
{
    struct parsed p;
    assert_true(parse(row->line, &p));
    assert_int_equal(p.fields.limit, row->value);
}

static const struct {
    const char *line, *message;
} wrong_lines[] = {
    {"--alhpa 2", "unknown option --alhpa (did you mean --alpha?)"},
    {"--outptu=x", "unknown option --outptu (did you mean --output?)"},
    {"--nonsense", "unknown option --nonsense (see --help)"},
    {"--no-alpha", "unknown option --no-alpha (see --help)"},
    {"--=3", "unknown option -- (see --help)"},
    {"-x", "unknown option -x (see --help)"},
    {"-qx", "unknown option -x (see --help)"},
    {"--quiet=yes", "option --quiet takes no value"},
    {"--output", "option --output needs a value"},
    {"-o", "option -o needs a value"},
    {"--budget ten", "option --budget needs a whole number"},
    {"--budget=", "option --budget needs a whole number"},
    {"--budget 3k", "option --budget needs a whole number"},
    {"--budget -1", "option --budget must lie between 0 and 1e+18, not at -1"},
    {"-b-1", "option -b must lie between 0 and 1e+18, not at -1"},
    {"--budget 99999999999999999999", "option --budget has a number that is too large"},
    {"--fold-limit 9999999999G", "option --fold-limit has a number that is too large"},
    {"--fold-limit 9G", "option --fold-limit must lie between 0 and 8589934592, not at 9G"},
    {"--fold-limit 3T", "option --fold-limit needs a whole number, perhaps with k, M or G"},
    {"--alpha 0.5", "option --alpha must lie between 1 and 100, not at 0.5"},
    {"--alpha nan", "option --alpha needs a number"},
    {"--alpha 2x", "option --alpha needs a number"},
    {"--device tpu", "option --device knows cpu, cuda, fake, not `tpu`"},
    {"--tf32", "option --tf32 has an effect only with --device cuda|fake"},
    {"--device cuda --tf32 --device=cpu", "option --tf32 has an effect only with --device cuda|fake"},
    {"--json x -q", "option --json has an effect only without --quiet"},
    {"--name x", "option --name has an effect only with --output"},
    {"--part x", "option --part has an effect only with --output or --json or --device cuda"},
    {"--part x -o y --device fake", "option --part has an effect only without --device fake"},
    {"--suffix x", "option --suffix has an effect only with --output a|b"},
    {"--suffix x -o c:a", "option --suffix has an effect only with --output a|b"},
    {"--folder x in", "option --folder has an effect only where no file is named"},
    {"in --distance 1", "option --distance has an effect only with 2 files"},
    {"in --distance 1 -- in in", "option --distance has an effect only with 2 files"},
};

TEST_OF_EACH(wrong_lines_are_explained, row, wrong_lines)
{
    struct parsed p;
    assert_false(parse(row->line, &p));
    assert_string_equal(p.error.message, row->message);
    assert_int_equal(p.error.code, EXIT_USAGE);
}

static const char *const lines[] = {
    "--tf32 --device cuda",   "--device fake --tf32", "--no-tf32",         "--json x",
    "--json x -q --no-quiet", "--name x -o y",        "--part x -o y",     "--part x --json x",
    "--part x --device cuda", "--suffix x -o b",      "--suffix x -o a:c", "--folder x",
    "in --distance 1 in"};

TEST_OF_EACH(options_stand_beside_others, row, lines)
{
    struct parsed p;
    assert_true(parse(*row, &p));
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
