// Options by name: those of taso-opt that say what is done, not where results go.
#include "library/library.h"

#include "core/memory/memory.h"
#include "core/system/shared_files.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "substitutions/standard_rules.h"

taso_options *taso_options_new(void)
{
    taso_options *o = mem_alloc_zero(sizeof *o);
    char rules[SHARED_PATH_SIZE];
    o->arguments = optimize_standard_arguments;
    o->arguments.optimize.rules = arena_string(&o->arena, standard_rules_file(rules));
    return o;
}

void taso_options_free(taso_options *options)
{
    if (!options)
        return;
    arena_free(&options->arena);
    mem_free(options, sizeof *options);
}

taso_status taso_options_set(taso_options *options, const char *name, const char *value, taso_error *ret_error)
{
    static const char *const of_command_line[] = {"output", "json",    "html",    "dot",
                                                  "quiet",  "verbose", "explain", "strict"};
    struct error error = {0};
    if (!options || !name || !value)
        return library_refuse(TASO_USAGE, ret_error, "an option needs a name and a value");
    if (text_is_among(name, sizeof of_command_line / sizeof *of_command_line, of_command_line)) {
        error_set_code(&error, EXIT_USAGE, NULL, "option --%s is one of the command line alone", name);
        return library_report_error(&error, ret_error);
    }
    if (!options_set(optimize_option_specs, &options->arguments, name, arena_string(&options->arena, value), &error))
        return library_report_error(&error, ret_error);
    return TASO_DONE;
}

void taso_options_set_progress(taso_options *options, taso_progress_function *function, void *context)
{
    options->progress = function;
    options->context = context;
}
