// The whole job of taso-opt, on files and on models in memory.
#include "library/library.h"
#include "library/memory_file.h"

#include "core/memory/memory.h"
#include "core/system/file.h"
#include "core/system/interrupt.h"
#include "core/system/temporary.h"
#include "core/text/text.h"
#include "optimizer/optimize/optimize.h"
#include "optimizer/report/collect_facts.h"
#include "optimizer/report/facts.h"
#include "optimizer/report/html.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct taso_report {
    struct text text, json, html;
};

const char *taso_report_text(const taso_report *report)
{
    return report->text.chars;
}

const char *taso_report_json(const taso_report *report)
{
    return report->json.chars;
}

const char *taso_report_html(const taso_report *report)
{
    return report->html.chars;
}

void taso_report_free(taso_report *report)
{
    if (!report)
        return;
    text_free(&report->text);
    text_free(&report->json);
    text_free(&report->html);
    mem_free(report, sizeof *report);
}

static void keep_report(void *context, const struct report *r)
{
    taso_report **report = context;
    *report = mem_alloc_zero(sizeof **report);
    struct facts facts FREED_BY(facts_free);
    report_collect(&facts, r);
    facts_print_text(&(*report)->text, &facts, false);
    facts_print_json(&(*report)->json, &facts);
    report_print_html(&(*report)->html, r, &facts);
}

static bool wants_end(void *context)
{
    const taso_options *options = context;
    return options->progress(options->context) != 0;
}

taso_status taso_optimize_file(const taso_options *options, const char *input, const char *output,
                               taso_report **ret_report, taso_error *ret_error)
{
    struct error error = {.code = EXIT_BAD_INPUT};
    taso_report *report = NULL;
    if (ret_report)
        *ret_report = NULL;
    if (!options || !input)
        return library_refuse(TASO_USAGE, ret_error, "a model and options are needed");
    struct optimize_arguments arguments = options->arguments;
    optimize_arguments_finish(&arguments);
    const struct optimize_options *o = &arguments.optimize;
    struct used_file files[] = {
        {"the model", input, FILE_REPLACEABLE},       {"rules", o->rules, FILE_READ},
        {"egraph-rules", o->egraph_rules, FILE_READ}, {"costs", o->costs && *o->costs ? o->costs : NULL, FILE_WRITTEN},
        {"the output", output, FILE_REPLACED},
    };
    arguments.optimize.has_pictures = ret_report != NULL;
    arguments.optimize.input = input;
    arguments.optimize.output = output;
    arguments.optimize.files = files;
    arguments.optimize.n_files = sizeof files / sizeof *files;
    struct interrupt_listener listener = {wants_end, (void *)options};
    interrupt_listen(options->progress ? &listener : NULL);
    bool is_done = optimize_model(&arguments.optimize, keep_report, &report, &error);
    interrupt_listen(NULL);
    if (ret_report)
        *ret_report = report;
    else
        taso_report_free(report);
    return is_done ? TASO_DONE : library_report_error(&error, ret_error);
}

// --- in memory -------------------------------------------------------------------------------------------------------

static bool read_whole(const char *path, taso_buffer *ret_model, struct error *error)
{
    struct file_map map FREED_BY(file_map_close) = {0};
    if (!file_map_open(&map, path, error))
        return false;
    ret_model->data = malloc(map.size ? map.size : 1);
    ret_model->size = map.size;
    if (ret_model->data)
        memcpy(ret_model->data, map.bytes, map.size);
    else
        error_set_code(error, EXIT_INTERNAL, NULL, "no memory for a model of %zu bytes", map.size);
    return ret_model->data != NULL;
}

static taso_status optimize_through_folder(const taso_options *options, const char *input, const char *folder,
                                           taso_buffer *ret_model, taso_report **ret_report, taso_error *ret_error)
{
    char output[280];
    struct error error = {0};
    snprintf(output, sizeof output, "%s/fast.onnx", folder);
    taso_status status = taso_optimize_file(options, input, output, ret_report, ret_error);
    if (status == TASO_DONE && !read_whole(output, ret_model, &error))
        status = library_report_error(&error, ret_error);
    return status;
}

taso_status taso_optimize_buffer(const taso_options *options, const void *model, size_t size, taso_buffer *ret_model,
                                 taso_report **ret_report, taso_error *ret_error)
{
    struct temporary_folder folder = {0};
    struct memory_file file;
    struct error error = {0};
    if (ret_report)
        *ret_report = NULL;
    if (!options || !model || !ret_model)
        return library_refuse(TASO_USAGE, ret_error, "a model, options and a place for the result are needed");
    *ret_model = (taso_buffer){0};
    if (!memory_file_open(&file, &error) || !memory_file_add(&file, model, size, &error))
        return library_report_error(&error, ret_error);
    taso_status status =
        temporary_folder_make(&folder, &error)
            ? optimize_through_folder(options, file.path, folder.path, ret_model, ret_report, ret_error)
            : library_report_error(&error, ret_error);
    temporary_folder_remove(&folder);
    memory_file_close(&file);
    return status;
}

void taso_buffer_free(taso_buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->data);
    *buffer = (taso_buffer){0};
}
