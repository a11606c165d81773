// The parser side of the option table; options_help.c prints it.
#include "core/text/options.h"
#include "core/text/error.h"
#include "core/text/options_help.h"
#include "core/text/text.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 128 };
struct parser {
    const struct program *program;
    char **next, **end;
    unsigned char *fields;
    struct error *error;
    bool is_given[MOST_OPTIONS];   // of the program's options
};

// One option as it stands on the command line.
struct use {
    const struct option_spec *spec;
    const char *shown;   // "--alpha" or "-o", for messages
    const char *value;   // NULL when none is attached
    bool is_negated;
};

static bool fail(const struct parser *p, const char *option, const char *reason)
{
    return error_set_code(p->error, EXIT_USAGE, NULL, "option %s %s", option, reason);
}

// ---- finding ----

static const struct option_spec *find_by_name(const struct program *program, const char *name, size_t length)
{
    for (const struct option_spec *s = program->options; s->name; s++)
        if (strlen(s->name) == length && memcmp(s->name, name, length) == 0)
            return s;
    return NULL;
}

static const struct option_spec *find_by_letter(const struct program *program, char letter)
{
    for (const struct option_spec *s = program->options; s->name; s++)
        if (s->letter == letter)
            return s;
    return NULL;
}

enum { LONGEST_COMPARED = 40 };

static size_t smallest_of(size_t a, size_t b, size_t c)
{
    size_t smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

// Levenshtein's distance by rows; `length` and strlen(b) are at most LONGEST_COMPARED.
static size_t edit_distance(const char *a, size_t length, const char *b)
{
    size_t row[LONGEST_COMPARED + 1], columns = strlen(b);
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t above = row[j];
            row[j] = smallest_of(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[columns];
}

static const char *closest_name(const struct program *program, const char *name, size_t length)
{
    const char *closest = NULL;
    size_t smallest = length < 5 ? 2 : 3;
    for (const struct option_spec *s = program->options; s->name; s++) {
        if (length > LONGEST_COMPARED || strlen(s->name) > LONGEST_COMPARED)
            continue;
        size_t distance = edit_distance(name, length, s->name);
        if (distance < smallest) {
            smallest = distance;
            closest = s->name;
        }
    }
    return closest;
}

static bool fail_unknown(const struct parser *p, const char *name, size_t length)
{
    const char *closest = closest_name(p->program, name, length);
    int shown = length > 100 ? 100 : (int)length;
    if (closest)
        return error_set_code(p->error, EXIT_USAGE, NULL, "unknown option --%.*s (did you mean --%s?)", shown, name,
                              closest);
    return error_set_code(p->error, EXIT_USAGE, NULL, "unknown option --%.*s (see --help)", shown, name);
}

// ---- storing ----

static bool is_bounded(const struct option_spec *s)
{
    return s->low != 0 || s->high != 0;
}

static bool check_range(const struct parser *p, const struct use *use, double value)
{
    return !is_bounded(use->spec) || (value >= use->spec->low && value <= use->spec->high) ||
           error_set_code(p->error, EXIT_USAGE, NULL, "option %s must lie between %.15g and %.15g, not at %s",
                          use->shown, use->spec->low, use->spec->high, use->value);
}

static int64_t unit_of_suffix(const char *suffix)
{
    static const char letters[] = "kmg";
    if (!*suffix)
        return 1;
    const char *letter = suffix[1] ? NULL : strchr(letters, *suffix | 0x20);
    return letter ? (int64_t)1 << (10 * (letter - letters + 1)) : 0;
}

static bool store_integer(const struct parser *p, const struct use *use)
{
    char *end;
    errno = 0;
    intmax_t number = strtoimax(use->value, &end, 10);
    int64_t unit = use->spec->is_size ? unit_of_suffix(end) : !*end, value;
    if (end == use->value || unit == 0)
        return fail(p, use->shown,
                    use->spec->is_size ? "needs a whole number, perhaps with k, M or G" : "needs a whole number");
    if (errno == ERANGE || __builtin_mul_overflow(number, unit, &value))
        return fail(p, use->shown, "has a number that is too large");
    if (!check_range(p, use, (double)value))
        return false;
    memcpy(p->fields + use->spec->offset, &value, sizeof value);
    return true;
}

static bool store_real(const struct parser *p, const struct use *use)
{
    char *end;
    double value = strtod(use->value, &end);
    if (end == use->value || *end || !isfinite(value))
        return fail(p, use->shown, "needs a number");
    if (!check_range(p, use, value))
        return false;
    memcpy(p->fields + use->spec->offset, &value, sizeof value);
    return true;
}

static bool fail_with_choices(const struct parser *p, const struct use *use)
{
    char list[256] = "";
    size_t used = 0;
    for (const char *const *c = use->spec->choices; *c && used < sizeof list - 1; c++) {
        int n = snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", *c);
        used += n > 0 ? (size_t)n : 0;
    }
    return error_set_code(p->error, EXIT_USAGE, NULL, "option %s knows %s, not `%.100s`", use->shown, list, use->value);
}

static bool store_choice(const struct parser *p, const struct use *use)
{
    for (int i = 0; use->spec->choices[i]; i++) {
        if (strcmp(use->spec->choices[i], use->value) != 0)
            continue;
        memcpy(p->fields + use->spec->offset, &i, sizeof i);
        return true;
    }
    return fail_with_choices(p, use);
}

static bool store_in_list(const struct parser *p, const struct use *use)
{
    struct option_list *list = (struct option_list *)(void *)(p->fields + use->spec->offset);
    if (list->count == sizeof list->items / sizeof *list->items)
        return fail(p, use->shown, "is given too often");
    list->items[list->count++] = use->value;
    return true;
}

static bool store_flag(const struct parser *p, const struct use *use)
{
    bool value = !use->is_negated, is_said = true;
    if (use->value)
        return fail(p, use->shown, "takes no value");
    if (use->spec->said)
        memcpy(p->fields + use->spec->said, &is_said, sizeof is_said);
    memcpy(p->fields + use->spec->offset, &value, sizeof value);
    return true;
}

static bool store_value(const struct parser *p, const struct use *use)
{
    switch (use->spec->kind) {
    case OPTION_INTEGER:
        return store_integer(p, use);
    case OPTION_REAL:
        return store_real(p, use);
    case OPTION_TEXT:
        memcpy(p->fields + use->spec->offset, &use->value, sizeof use->value);
        return true;
    case OPTION_CHOICE:
        return store_choice(p, use);
    case OPTION_LIST:
        return store_in_list(p, use);
    case OPTION_FLAG:
    case OPTION_NONE:
        break;
    }
    return fail(p, use->shown, "has no kind");
}

static bool store(struct parser *p, struct use *use)
{
    p->is_given[use->spec - p->program->options] = !use->is_negated;
    if (use->spec->kind == OPTION_FLAG)
        return store_flag(p, use);
    if (!use->value && p->next == p->end)
        return fail(p, use->shown, "needs a value");
    if (!use->value)
        use->value = *p->next++;
    return store_value(p, use);
}

static bool store_named_flag(const struct parser *p, struct use *use)
{
    use->is_negated = strcmp(use->value, "false") == 0;
    if (!use->is_negated && strcmp(use->value, "true") != 0)
        return fail(p, use->shown, "is true or false");
    use->value = NULL;
    return store_flag(p, use);
}

bool options_set(const struct option_spec *specs, void *fields, const char *name, const char *value,
                 struct error *error)
{
    struct program named = {.options = specs};
    struct parser p = {.program = &named, .fields = fields, .error = error};
    struct use use = {find_by_name(&named, name, strlen(name)), name, value, false};
    if (!use.spec)
        return fail_unknown(&p, name, strlen(name));
    return use.spec->kind == OPTION_FLAG ? store_named_flag(&p, &use) : store_value(&p, &use);
}

// ---- options that have an effect beside others alone ----

// The choices end with the text or at a blank. onnxruntime:CUDAExecutionProvider is the choice onnxruntime.
static bool is_among(const char *choices, const char *choice)
{
    size_t length = strcspn(choice, ":");
    for (const char *c = choices;; c++) {
        size_t n = strcspn(c, "| ");
        if (n == length && memcmp(c, choice, length) == 0)
            return true;
        c += n;
        if (*c != '|')
            return false;
    }
}

// Is there a value: of a flag, a choice, a text, or a real number that is not 0?
static bool is_set(const struct parser *p, const struct option_spec *s, const char *choices)
{
    const unsigned char *field = p->fields + s->offset;
    bool flag = false;
    int choice;
    double real;
    const char *text;
    switch (s->kind) {
    case OPTION_FLAG:
        memcpy(&flag, field, sizeof flag);
        return flag;
    case OPTION_CHOICE:
        memcpy(&choice, field, sizeof choice);
        return is_among(choices, s->choices[choice]);
    case OPTION_REAL:
        memcpy(&real, field, sizeof real);
        return real != 0;
    default:
        memcpy(&text, field, sizeof text);
        return text && (!*choices || is_among(choices, text));
    }
}

#define NEGATION "--no-"
#define ALTERNATIVE " or "

static bool is_negated(const char *condition)
{
    return strncmp(condition, NEGATION, strlen(NEGATION)) == 0;
}

static bool holds(const struct parser *p, const char *condition)
{
    const char *name = condition + strlen(is_negated(condition) ? NEGATION : "--");
    size_t length = strcspn(name, " ");
    const struct option_spec *other = find_by_name(p->program, name, length);
    const char *next = strstr(name, ALTERNATIVE);
    const char *choices = next == name + length || !name[length] ? "" : name + length + 1;
    return is_set(p, other, choices) != is_negated(condition) || (next && holds(p, next + strlen(ALTERNATIVE)));
}

static bool check_beside(const struct parser *p, const struct option_spec *s)
{
    for (size_t i = 0; i < sizeof s->beside / sizeof *s->beside && s->beside[i]; i++)
        if (!holds(p, s->beside[i]))
            return error_set_code(p->error, EXIT_USAGE, NULL, "option --%s has an effect only %s%s", s->name,
                                  is_negated(s->beside[i]) ? "without --" : "with ",
                                  s->beside[i] + (is_negated(s->beside[i]) ? strlen(NEGATION) : 0));
    return true;
}

static bool check_files(const struct parser *p, const struct option_spec *s, int n_files)
{
    if (s->files == NO_FILES && n_files > 0)
        return error_set_code(p->error, EXIT_USAGE, NULL, "option --%s has an effect only where no file is named",
                              s->name);
    if (s->files > 0 && n_files != s->files)
        return error_set_code(p->error, EXIT_USAGE, NULL, "option --%s has an effect only with %d files", s->name,
                              s->files);
    return true;
}

static bool have_effects(const struct parser *p, int n_files)
{
    for (const struct option_spec *s = p->program->options; s->name; s++)
        if (p->is_given[s - p->program->options] && !(check_beside(p, s) && check_files(p, s, n_files)))
            return false;
    return true;
}

// ---- reading ----

static bool read_long(struct parser *p, const char *name)
{
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    char shown[64];
    snprintf(shown, sizeof shown, "--%.*s", length > 50 ? 50 : (int)length, name);
    struct use use = {find_by_name(p->program, name, length), shown, equals ? equals + 1 : NULL, false};
    if (!use.spec && length > 3 && memcmp(name, "no-", 3) == 0) {
        use.spec = find_by_name(p->program, name + 3, length - 3);
        use.is_negated = true;
        if (use.spec && use.spec->kind != OPTION_FLAG)
            use.spec = NULL;
    }
    return use.spec ? store(p, &use) : fail_unknown(p, name, length);
}

// -o FILE, -oFILE, and flags together: -vq
static bool read_letters(struct parser *p, const char *letters)
{
    for (; *letters; letters++) {
        const char shown[3] = {'-', *letters, '\0'};
        struct use use = {find_by_letter(p->program, *letters), shown, NULL, false};
        if (!use.spec)
            return error_set_code(p->error, EXIT_USAGE, NULL, "unknown option %s (see --help)", shown);
        bool takes_value = use.spec->kind != OPTION_FLAG;
        if (takes_value && letters[1])
            use.value = letters + 1;
        if (!store(p, &use))
            return false;
        if (takes_value)
            break;
    }
    return true;
}

static bool asks_for_help(const struct program *program, const char *argument)
{
    return strcmp(argument, "--help") == 0 || (strcmp(argument, "-h") == 0 && !find_by_letter(program, 'h'));
}

bool options_parse(const struct program *program, int *argc, char **argv, void *fields, enum options_end *ret_end,
                   struct error *error)
{
    struct parser p = {.program = program, .next = argv, .end = argv + *argc, .fields = fields, .error = error};
    bool are_options_over = false;
    *argc = 0;
    *ret_end = OPTIONS_READ;
    while (p.next < p.end) {
        char *argument = *p.next++;
        if (are_options_over || argument[0] != '-' || argument[1] == '\0')
            argv[(*argc)++] = argument;
        else if (strcmp(argument, "--") == 0)
            are_options_over = true;
        else if (asks_for_help(program, argument))
            return *ret_end = OPTIONS_HELP, true;
        else if (strcmp(argument, "--version") == 0)
            return *ret_end = OPTIONS_VERSION, true;
        else if (strcmp(argument, "--describe") == 0)
            return *ret_end = OPTIONS_DESCRIPTION, true;
        else if (argument[1] == '-' ? !read_long(&p, argument + 2) : !read_letters(&p, argument + 1))
            return false;
    }
    return have_effects(&p, *argc);
}

int options_print_version(const char *program)
{
    return printf("%s %s\n", program, TASO_VERSION) < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
}

bool options_begin(const struct program *program, int *argc, char **argv, void *fields, int *ret_code)
{
    struct error error = {0};
    TEXT(help);
    TEXT(description);
    enum options_end end;
    options_add_help(&help, program, fields);   // while they are the defaults
    options_add_description(&description, program, fields);
    bool is_parsed = options_parse(program, argc, argv, fields, &end, &error);
    if (!is_parsed)
        *ret_code = error_exit(program->name, &error);
    else if (end == OPTIONS_HELP)
        *ret_code = fputs(help.chars, stdout) < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
    else if (end == OPTIONS_VERSION)
        *ret_code = options_print_version(program->name);
    else if (end == OPTIONS_DESCRIPTION)
        *ret_code = fputs(description.chars, stdout) < 0 ? EXIT_BAD_INPUT : EXIT_DONE;
    return is_parsed && end == OPTIONS_READ;
}
