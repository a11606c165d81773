// One table of options per program: it makes the parser, the range checks and --help.
//   static const struct option_spec specs[] = {
//       {"alpha", OPTION_REAL, offsetof(struct options, alpha), .low = 1, .high = 100, .metavar = "X", .help = "..."},
//       {"output", OPTION_TEXT, offsetof(struct options, output), .letter = 'o', .metavar = "FILE", .help = "..."},
//       {0}};
// The struct's fields hold the defaults before options_parse (shown by --help):
//   FLAG bool (--x, --no-x)   INTEGER int64_t   REAL double   TEXT const char *   CHOICE int (index into .choices)
//   LIST struct option_list (the option may be repeated)
// A size option (.is_size) is an INTEGER that takes suffixes k, M, G (1024).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct text;

enum option_kind { OPTION_NONE, OPTION_FLAG, OPTION_INTEGER, OPTION_REAL, OPTION_TEXT, OPTION_CHOICE, OPTION_LIST };
struct option_list {
    size_t count;
    const char *items[64];
};
#define NO_FILES (-1)
struct option_spec {
    const char *name;
    enum option_kind kind;
    size_t offset;
    size_t said;   // FLAG: of a bool that becomes true when it or its negation is given; 0: none
    char letter;   // 0: no short form
    bool is_size;
    double low, high;             // INTEGER, REAL: the allowed range; both 0: unbounded
    const char *const *choices;   // CHOICE: NULL-terminated
    const char *metavar, *help;
    const char *group;   // that begins with this option: --help has it as a heading; NULL: none does
    // Without all of these it has no effect, and is refused: "--X", "--no-X", "--X CHOICE|CHOICE" or "--no-X CHOICE",
    // or several of them, of which one will do: "--X or --no-Y". A text is the choice that stands before its colon.
    const char *beside[3];
    int files;   // so many have to be named for it to have an effect, or NO_FILES; 0: any number
};
struct program {
    const char *name;                    // "taso-verify rules"
    const char *usage;                   // what follows the name: "CANDIDATES.rules -o PROVED.rules [options]"
    const char *summary, *epilog;        // before and after the option table (epilog: exit codes)
    const struct option_spec *options;   // ends with {0}; NULL: none, but what its sub-commands have
    const char *const *commands;         // its sub-commands, NULL-terminated; NULL: none
    const char *examples;                // command lines, each with "# what it does" behind it; NULL: none
};

// The beginning of a program (or sub-command). argv: what stands behind its name; the positional arguments are moved to
// its front, *argc becomes their number. False: the program ends here with *ret_code, as help or the version was
// asked for (and printed), or the line is wrong (and stderr says why).
bool options_begin(const struct program *program, int *argc, char **argv, void *fields, int *ret_code);

// Its parts. `--` ends the options; --name=value and --name value are the same. False: error (EXIT_USAGE).
enum options_end { OPTIONS_READ, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_DESCRIPTION };   // what the line asks for
bool options_parse(const struct program *program, int *argc, char **argv, void *fields, enum options_end *ret_end,
                   struct error *error);
// One option by its name, from a table that ends with {0}: `value` as on a command line, of a flag "true" or "false".
// Texts are not copied. False: error (EXIT_USAGE).
bool options_set(const struct option_spec *specs, void *fields, const char *name, const char *value,
                 struct error *error);
int options_print_version(const char *program);   // gives the exit code
