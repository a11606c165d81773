// taso-verify select: of proved rules those that a search is worth.
#include "selection/select.h"
#include "core/system/clock.h"
#include "core/system/file.h"
#include "core/system/files_used.h"
#include "core/text/text.h"
#include "programs/verify/command.h"
#include "programs/verify/commands.h"
#include "selection/select_for_egraph.h"
#include <stdio.h>
#include <string.h>

struct options {
    const char *output, *dropped, *written;
    int64_t threads, steps, graphs;
    bool is_for_egraph, quiet;
};
static const struct option_spec specs[] = {
    {"output", OPTION_TEXT, offsetof(struct options, output), .letter = 'o', .metavar = "FILE",
     .help = "the rules that were kept"},
    {"dropped", OPTION_TEXT, offsetof(struct options, dropped), .metavar = "FILE",
     .help = "the names of the others, with the reason"},
    {"written", OPTION_TEXT, offsetof(struct options, written), .metavar = "FILE",
     .help = "rules that somebody wrote: they are kept, and what follows from them goes"},
    {"steps", OPTION_INTEGER, offsetof(struct options, steps), .low = 0, .high = 100, .metavar = "N",
     .help = "drop what N rewrites by other rules do"},
    {"graphs", OPTION_INTEGER, offsetof(struct options, graphs), .low = 1, .high = 1e6, .metavar = "N",
     .help = "look at no more than N graphs for that"},
    {"egraph", OPTION_FLAG, offsetof(struct options, is_for_egraph),
     .help = "choose for an e-graph: small rules that one does not derive from the others, in as many rounds as there "
             "are --steps, with at most ten e-nodes for each of --graphs"},
    {"threads", OPTION_INTEGER, offsetof(struct options, threads), .letter = 'j', .low = 0, .high = 1024,
     .metavar = "N", .help = "threads; 0: all that this process may use"},
    {"quiet", OPTION_FLAG, offsetof(struct options, quiet), .letter = 'q', .help = "print nothing"},
    {0}};
static const struct program program = {
    .name = "taso-verify select",
    .usage = "PROVED.rules... -o KEPT.rules [options]",
    .summary = "Chooses the rules that a search is worth: that can match, can make a model cheaper on some device, and "
               "do not follow from others.",
    .epilog = "Exit codes: 0 done, 2 wrong command line, 3 bad input.",
    .options = specs,
};

static bool write_kept(const struct selection *s, const struct rule_set *set, const char *path, struct error *error)
{
    TEXT(out);
    for (size_t i = 0; i < set->rules.count; i++)
        if (s->uses[i] == RULE_IS_KEPT)
            rule_print(&out, s->rules[i]);
    return file_write_text(path, out.chars ? out.chars : "", out.count, error);
}

static bool write_dropped(const struct selection *s, const struct rule_set *set, const char *path, struct error *error)
{
    TEXT(out);
    for (size_t i = 0; i < set->rules.count; i++)
        if (s->uses[i] != RULE_IS_KEPT)
            text_printf(&out, "%-40s %s\n", set->rules.items[i]->name, rule_use_name(s->uses[i]));
    return file_write_text(path, out.chars ? out.chars : "", out.count, error);
}

static void print_counts(const struct selection *s, double seconds)
{
    size_t counts[RULE_USES] = {0};
    for (size_t i = 0; i < s->n; i++)
        counts[s->uses[i]]++;
    printf("%zu rule%s in %.1f s:", s->n, plural_ending(s->n), seconds);
    for (int i = 0; i < RULE_USES; i++)
        printf("%s %zu %s", i ? "," : "", counts[i], rule_use_name((enum rule_use)i));
    printf("\n");
}

static bool check_files(const struct options *o, const char *path, struct error *error)
{
    const struct used_file files[] = {{path, path, FILE_REPLACEABLE},
                                      {"--written", o->written, FILE_READ},
                                      {"--output", o->output, FILE_REPLACED},
                                      {"--dropped", o->dropped, FILE_WRITTEN}};
    return files_used_check(files, sizeof files / sizeof *files, error);
}

static bool read_all(struct command *c, int count, char **paths, size_t *ret_generated, struct error *error)
{
    const struct options *o = c->options;
    if (ANY(int, i, count, !check_files(o, paths[i], error)))
        return false;
    bool is_read = command_read_rules(c, count, paths, "files of rules", error);
    *ret_generated = c->rules.rules.count;
    return is_read && (!o->written || rule_set_read(&c->rules, o->written, error));
}

static int run_on(struct command *c, int count, char **paths, struct error *error)
{
    const struct options *o = c->options;
    size_t n_generated;
    if (!read_all(c, count, paths, &n_generated, error))
        return COMMAND_FAILED;
    double started = clock_seconds();
    struct selection s FREED_BY(selection_free) = {.n_generated = n_generated,
                                                   .arena = &c->arena,
                                                   .max_coincidences = 1,
                                                   .max_steps = (int)o->steps,
                                                   .max_graphs = (int)o->graphs,
                                                   .max_operators = 2,
                                                   .threads = (int)o->threads};
    (o->is_for_egraph ? selection_make_for_egraph : selection_make)(&s, &c->rules);
    bool is_written = (!o->output || write_kept(&s, &c->rules, o->output, error)) &&
                      (!o->dropped || write_dropped(&s, &c->rules, o->dropped, error));
    if (!o->quiet)
        print_counts(&s, clock_seconds() - started);
    return is_written ? EXIT_DONE : COMMAND_FAILED;
}

int command_select(int argc, char **argv)
{
    struct options options = {.steps = 3, .graphs = 300};
    return command_run(&program, &options, argc, argv, run_on);
}
