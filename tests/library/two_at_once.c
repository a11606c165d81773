// Two threads optimize a model of one input and output each, from memory to memory, and run it on this processor, at
// the same time and again and again: `two_at_once A B` prints "equal" when each result is, byte for byte, what one
// thread alone comes to, and when what the library does leaves the host's threads and signals as they were.
#include "include/taso.h"
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3 };

struct job {
    const char *path;
    char *model;
    size_t size;
    taso_buffer alone, output_alone;
    int polls;
    const char *complaint;
};

static int count_polls(void *context)
{
    struct job *j = context;
    j->polls++;
    return 0;
}

static int say_stop(void *context)
{
    (void)context;
    return 1;
}

static char *read_file(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *ret_size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*ret_size);
    *ret_size = fread(bytes, 1, *ret_size, file);
    fclose(file);
    return bytes;
}

static taso_options *make_options(taso_progress_function *function, void *context)
{
    static const char *const values[][2] = {{"device", "fake"}, {"search-threads", "2"}, {"runtime", "taso"},
                                            {"costs", ""},      {"measure", "false"},    {"budget", "200"}};
    taso_options *options = taso_options_new();
    taso_error error;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (taso_options_set(options, values[i][0], values[i][1], &error) != TASO_DONE) {
            fprintf(stderr, "%s: %s\n", values[i][0], error.message);
            exit(1);
        }
    taso_options_set_progress(options, function, context);
    return options;
}

// NULL, or what is wrong.
static const char *optimize(struct job *j, taso_progress_function *function, taso_buffer *ret_result)
{
    taso_error error;
    taso_report *report;
    taso_options *options = make_options(function, j);
    taso_status status = taso_optimize_buffer(options, j->model, j->size, ret_result, &report, &error);
    const char *complaint = NULL;
    if (status != TASO_DONE) {
        fprintf(stderr, "%s: %s\n", error.file, error.message);
        complaint = "a model is not optimized";
    } else if (!strstr(taso_report_json(report), "\"matches\""))
        complaint = "the report lacks its counts";
    taso_report_free(report);
    taso_options_free(options);
    return complaint;
}

// Of an input that is zero.
static const char *run(struct job *j, taso_buffer *ret_output)
{
    taso_error error = {0};
    taso_options *options = make_options(NULL, NULL);
    taso_options_set(options, "threads", "2", &error);
    taso_session *session = taso_session_open_buffer(options, j->model, j->size, &error);
    taso_options_free(options);
    if (!session)
        return "a model is not prepared";
    void *input = calloc(1, taso_session_input(session, 0).bytes);
    *ret_output = (taso_buffer){malloc(taso_session_output(session, 0).bytes), taso_session_output(session, 0).bytes};
    taso_status status = taso_session_run(session, (const void *const *)&input, &ret_output->data, &error);
    free(input);
    taso_session_close(session);
    return status == TASO_DONE ? NULL : "a model does not run";
}

static bool is_same(const taso_buffer *a, const taso_buffer *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void *work_again_and_again(void *context)
{
    struct job *j = context;
    for (int i = 0; i < ROUNDS && !j->complaint; i++) {
        taso_buffer result = {0}, output = {0};
        j->complaint = optimize(j, count_polls, &result);
        j->complaint = j->complaint ? j->complaint : run(j, &output);
        if (!j->complaint && (!is_same(&result, &j->alone) || !is_same(&output, &j->output_alone)))
            j->complaint = "another thread changed the result";
        taso_buffer_free(&result);
        taso_buffer_free(&output);
    }
    return NULL;
}

static const char *check_errors(void)
{
    taso_error error;
    taso_buffer result;
    taso_options *options = taso_options_new();
    bool is_refused = taso_options_set(options, "budgt", "3", &error) == TASO_USAGE &&
                      strstr(error.message, "budget") &&
                      taso_options_set(options, "output", "x", &error) == TASO_USAGE &&
                      taso_options_set(options, "check", "maybe", &error) == TASO_USAGE &&
                      taso_optimize_buffer(options, "no model", 8, &result, NULL, &error) == TASO_BAD_INPUT &&
                      !taso_session_open_file(options, "/nowhere.onnx", &error) && error.status == TASO_BAD_INPUT;
    taso_options_free(options);
    return is_refused ? NULL : "what is wrong is not refused";
}

static const char *check(struct job *jobs)
{
    pthread_t threads[2];
    struct sigaction action;
    const char *complaint = check_errors();
    taso_buffer stopped = {0};
    for (int i = 0; i < 2 && !complaint; i++)
        complaint = optimize(&jobs[i], NULL, &jobs[i].alone);
    for (int i = 0; i < 2 && !complaint; i++)
        complaint = run(&jobs[i], &jobs[i].output_alone);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work_again_and_again, &jobs[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        complaint = complaint ? complaint : jobs[i].complaint;
        complaint = complaint || jobs[i].polls > 0 ? complaint : "nobody asked whether to go on";
    }
    if (!complaint)
        complaint = optimize(&jobs[0], say_stop, &stopped);   // ends soon, and gives a model all the same
    if (!complaint && stopped.size == 0)
        complaint = "what was stopped gave nothing";
    taso_buffer_free(&stopped);
    sigaction(SIGINT, NULL, &action);
    if (!complaint && (omp_get_max_threads() != 7 || action.sa_handler != SIG_DFL))
        complaint = "the library changed its host";
    return complaint;
}

int main(int argc, char **argv)
{
    struct job jobs[2] = {{.path = argv[1]}, {.path = argv[argc - 1]}};
    omp_set_num_threads(7);
    for (int i = 0; i < 2; i++)
        jobs[i].model = read_file(jobs[i].path, &jobs[i].size);
    const char *complaint = jobs[0].model && jobs[1].model ? check(jobs) : "the models are not there";
    for (int i = 0; i < 2; i++) {
        taso_buffer_free(&jobs[i].alone);
        taso_buffer_free(&jobs[i].output_alone);
        free(jobs[i].model);
    }
    puts(complaint ? complaint : "equal");
    return complaint != NULL;
}
