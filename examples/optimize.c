/* Makes a model faster and runs the result once on zeros:   cc optimize.c $(pkg-config --cflags --libs taso)
 *
 *     ./optimize model.onnx fast.onnx [SYMBOL=SIZE...]
 *
 * Symbolic dimensions of the model stay symbolic; it is optimized for these sizes, and run at them. */
#include <stdio.h>
#include <stdlib.h>
#include <taso.h>

static int fail(const taso_error *error)
{
    fprintf(stderr, "%s%s%s\n", error->file, *error->file ? ": " : "", error->message);
    return error->status;
}

static int run_on_zeros(const taso_options *options, const char *path)
{
    taso_error error;
    taso_session *session = taso_session_open_file(options, path, &error);
    if (!session)
        return fail(&error);
    size_t n_inputs = taso_session_input_count(session), n_outputs = taso_session_output_count(session);
    void **inputs = calloc(n_inputs + 1, sizeof *inputs), **outputs = calloc(n_outputs + 1, sizeof *outputs);
    for (size_t i = 0; i < n_inputs; i++)
        inputs[i] = calloc(1, taso_session_input(session, i).bytes);
    for (size_t i = 0; i < n_outputs; i++)
        outputs[i] = malloc(taso_session_output(session, i).bytes);
    taso_status status = taso_session_run(session, (const void *const *)inputs, outputs, &error);
    for (size_t i = 0; i < n_outputs && status == TASO_DONE; i++)
        printf("output %s: %zu bytes\n", taso_session_output(session, i).name, taso_session_output(session, i).bytes);
    for (size_t i = 0; i < n_inputs; i++)
        free(inputs[i]);
    for (size_t i = 0; i < n_outputs; i++)
        free(outputs[i]);
    free(inputs);
    free(outputs);
    taso_session_close(session);
    return status == TASO_DONE ? 0 : fail(&error);
}

/* Each as a size to optimize for ("profile"), or to bind ("shape"). */
static int set_sizes(taso_options *options, const char *name, char *const *sizes, int n)
{
    taso_error error;
    for (int i = 0; i < n; i++)
        if (taso_options_set(options, name, sizes[i], &error) != TASO_DONE)
            return fail(&error);
    return 0;
}

static int run_at(char *const *sizes, int n, const char *path)
{
    taso_options *options = taso_options_new();
    int code = set_sizes(options, "shape", sizes, n);
    if (code == 0)
        code = run_on_zeros(options, path);
    taso_options_free(options);
    return code;
}

int main(int argc, char **argv)
{
    taso_error error;
    taso_report *report = NULL;
    taso_options *options = taso_options_new();
    if (argc < 3) {
        fprintf(stderr, "usage: %s MODEL.onnx FAST.onnx [SYMBOL=SIZE...]\n", argv[0]);
        return TASO_USAGE;
    }
    int code = set_sizes(options, "profile", argv + 3, argc - 3);
    if (code == 0 && (taso_options_set(options, "threads", "1", &error) != TASO_DONE ||
                      taso_optimize_file(options, argv[1], argv[2], &report, &error) != TASO_DONE))
        code = fail(&error);
    if (code == 0) {
        fputs(taso_report_text(report), stdout);
        code = run_at(argv + 3, argc - 3, argv[2]);
    }
    taso_report_free(report);
    taso_options_free(options);
    return code;
}
