// taso-opt: an ONNX model in, a faster equivalent one out.
#include "core/memory/memory.h"
#include "core/system/file.h"
#include "core/system/program.h"
#include "core/system/signals.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "optimizer/job/options.h"
#include "optimizer/optimize/optimize.h"
#include "optimizer/report/collect_facts.h"
#include "optimizer/report/facts.h"
#include "optimizer/report/html.h"
#include "optimizer/report/report.h"
#include "programs/extract_command.h"
#include "programs/output_stream.h"
#include "substitutions/standard_rules.h"
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const commands[] = {"extract", NULL};
static const struct program program = {
    .name = "taso-opt",
    .commands = commands,
    .usage = "MODEL.onnx -o FAST.onnx|FAST.taso [options] | taso-opt extract EGRAPH.json [options]",
    .summary = "Makes an ONNX model run faster by rewriting its graph.",
    .examples =
        "  taso-opt model.onnx -o fast.onnx                         # where ONNX Runtime of python3 will run it\n"
        "  taso-opt model.onnx -o fast.onnx --profile batch=1,8     # symbols stay; these sizes count\n"
        "  taso-opt model.onnx -o fast.onnx --shape batch=8         # symbols that are bound\n"
        "  taso-opt model.onnx -o fast.onnx --total-time 60         # done within about a minute\n"
        "  taso-opt model.onnx -o fast.onnx --simplify-only         # done within seconds\n"
        "  taso-opt model.onnx -o fast.onnx --html report.html      # both files as pictures\n"
        "  taso-opt model.onnx -o model.taso --threads 1            # compiled, for taso-run and the library\n",
    .epilog = "Exit codes: 0 done (also when nothing improved, or nothing passed the check), 2 usage,\n"
              "3 unreadable or invalid file, 4 a request that this build or machine cannot serve, 5 written, but\n"
              "in doubt (--strict), 70 internal error.\n"
              "Ctrl-C or SIGTERM ends the search: within seconds the best graph so far is checked, timed and written,\n"
              "if it is faster. A second one ends at once, and nothing more is written.",
    .options = optimize_option_specs,
};

struct printing {
    const struct optimize_arguments *arguments;
    const char *command;
    struct error *error;
    bool is_failed;
    struct text doubts;   // with --strict
    bool is_streamed;     // standard output is for the model
};

// The first failure is kept.
static void write_report(struct printing *p, const char *file, struct text *text)
{
    if (file && !p->is_failed)
        p->is_failed = !file_write_text(file, text->chars, text->count, p->error);
    text_clear(text);
}

static void write_reports(struct printing *p, const struct report *r, const struct facts *facts)
{
    TEXT(text);
    if (p->arguments->json)
        facts_print_json(&text, facts);
    write_report(p, p->arguments->json, &text);
    if (p->arguments->html)
        report_print_html(&text, r, facts);
    write_report(p, p->arguments->html, &text);
}

static void print_report(void *context, const struct report *r)
{
    struct printing *p = context;
    TEXT(text);
    TEXT(date);
    struct facts facts FREED_BY(facts_free);
    struct report told = *r;
    text_add_date(&date, time(NULL));
    told.job.command = p->command;
    told.job.date = date.chars;
    if (p->is_streamed)
        told.job.output = "-";
    report_collect(&facts, &told);
    if (!p->arguments->is_quiet) {
        facts_print_text(&text, &facts, p->arguments->is_explained);
        log_show(p->is_streamed ? stderr : stdout, text.chars);
    }
    write_reports(p, &told, &facts);
    if (p->arguments->is_strict)
        report_list_doubts(&p->doubts, r);
}

static void limit_memory(size_t asked)
{
    size_t available = mem_available();
    mem_set_limit(asked > 0 ? asked : available == SIZE_MAX ? available : mem_sum(mem_in_use(), available / 4 * 3));
}

static int run(struct optimize_arguments *a, const char *command, bool is_streamed)
{
    struct error error = {.code = EXIT_BAD_INPUT}, of_report = {.code = EXIT_BAD_INPUT};
    struct log log = {stderr, program.name, a->is_quiet ? LOG_QUIET : a->is_verbose ? LOG_INFO : LOG_WARNING};
    struct printing printing = {.arguments = a, .command = command, .error = &of_report, .is_streamed = is_streamed};
    optimize_arguments_finish(a);
    a->optimize.progress = a->is_quiet ? NULL : stderr;
    a->optimize.log = &log;
    struct used_file files[] = {
        {"the model", a->optimize.input, FILE_REPLACEABLE},
        {"--rules", a->optimize.rules, FILE_READ},
        {"--egraph-rules", a->optimize.egraph_rules, FILE_READ},
        {"--costs", a->optimize.costs && *a->optimize.costs ? a->optimize.costs : NULL, FILE_WRITTEN},
        {"--output", a->optimize.output, FILE_REPLACED},
        {"--json", a->json, FILE_WRITTEN},
        {"--html", a->html, FILE_WRITTEN},
    };
    a->optimize.files = files;
    a->optimize.n_files = sizeof files / sizeof *files;
    signals_install();
    limit_memory((size_t)a->optimize.max_memory);
    if (!optimize_model(&a->optimize, print_report, &printing, &error))
        return error_exit(program.name, &error);
    if (!printing.is_failed && printing.doubts.count)
        printing.is_failed =
            !error_set_code(&of_report, EXIT_DOUBTFUL, a->optimize.input, "--strict: %s", printing.doubts.chars);
    text_free(&printing.doubts);
    return printing.is_failed ? error_exit(program.name, &of_report) : EXIT_DONE;
}

static int run_to_standard_output(struct optimize_arguments *a, const char *command)
{
    struct output_stream stream;
    struct error error = {0};
    if (isatty(STDOUT_FILENO)) {
        error_set_code(&error, EXIT_USAGE, NULL, "standard output is a terminal: no model is written there");
        return error_exit(program.name, &error);
    }
    if (!output_stream_open(&stream, &error))
        return error_exit(program.name, &error);
    a->optimize.output = stream.path;
    int code = run(a, command, true);
    if (access(stream.path, F_OK) == 0 && !output_stream_send(&stream, &error))
        code = error_exit(program.name, &error);
    output_stream_close(&stream);
    return code;
}

// The command as it was typed, but for quotes.
static void print_command(struct text *out, int argc, char **argv)
{
    text_add(out, program.name);
    for (int i = 1; i < argc; i++)
        text_printf(out, " %s", argv[i]);
}

static int run_command_line(int argc, char **argv, const char *command)
{
    struct optimize_arguments arguments = optimize_standard_arguments;
    struct error error = {0};
    int code, count = argc - 1;
    char rules[SHARED_PATH_SIZE];
    arguments.optimize.rules = standard_rules_file(rules);
    if (!options_begin(&program, &count, argv + 1, &arguments, &code))
        return code;
    if (count != 1) {
        error_set_code(&error, EXIT_USAGE, NULL, "expected one model%s%s; see taso-opt --help",
                       count ? ", and not also " : "", count ? argv[2] : "");
        return error_exit(program.name, &error);
    }
    arguments.optimize.input = argv[1];
    bool is_streamed = arguments.optimize.output && strcmp(arguments.optimize.output, "-") == 0;
    return is_streamed ? run_to_standard_output(&arguments, command) : run(&arguments, command, false);
}

static int run_program(int argc, char **argv)
{
    TEXT(command);
    print_command(&command, argc, argv);
    return run_command_line(argc, argv, command.chars);
}

int main(int argc, char **argv)
{
    bool is_extraction = argc > 1 && !strcmp(argv[1], "extract");
    program_wait_passively_on_shared_machine(argv);
    program_begin();
    mem_give_back_large();
    return program_end(program.name, is_extraction ? extraction_command(argc - 2, argv + 2) : run_program(argc, argv));
}
