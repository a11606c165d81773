// The client's side of the worker's protocol, which python/taso/worker.py describes.
#include "optimizer/runtime/worker.h"

#include "core/system/clock.h"
#include "core/system/shared_files.h"
#include "core/text/error.h"
#include "optimizer/limits.def"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *python_of(const char *chosen)
{
    const char *of_environment = getenv("TASO_PYTHON");
    return chosen ? chosen : of_environment && *of_environment ? of_environment : "python3";
}

bool worker_start(struct worker *ret_worker, const char *python, const char *provider, int threads, struct error *error)
{
    char script[SHARED_PATH_SIZE], count[16];
    snprintf(count, sizeof count, "%d", threads);
    *ret_worker = (struct worker){0};
    snprintf(ret_worker->name, sizeof ret_worker->name, "%s", python_of(python));
    const char *const arguments[] = {python_of(python), shared_file_find("python/taso/worker.py", WORKER_BUILT, script),
                                     provider ? provider : "", count, NULL};
    return process_start(&ret_worker->process, arguments, error);
}

void worker_end(struct worker *w)
{
    process_end(&w->process);
    text_free(&w->answer);
    w->is_gone = true;
}

// --- asking ----------------------------------------------------------------------------------------------------------

static bool receive(struct worker *w, double seconds, struct error *error)
{
    if (!process_receive_line(&w->process, w->name, &w->answer, seconds, error)) {
        w->is_gone = true;
        return false;
    }
    if (strncmp(w->answer.chars, "ok", 2) == 0)
        return true;
    const char *space = strchr(w->answer.chars, ' ');
    return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s: %s", w->name, space ? space + 1 : "it answers nonsense");
}

static bool send_bytes(struct worker *w, const void *bytes, size_t size, struct error *error)
{
    if (!w->is_gone && process_send(&w->process, w->name, bytes, size, SECONDS_TO_ANSWER, error))
        return true;
    if (w->is_gone)
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s has ended", w->name);
    w->is_gone = true;
    return false;
}

// A line, with one or two pieces behind it.
static bool ask(struct worker *w, struct text *line, const void *a, size_t size_a, const void *b, size_t size_b,
                double seconds, struct error *error)
{
    text_add(line, "\n");
    bool is_answered = send_bytes(w, line->chars, line->count, error) && send_bytes(w, a, size_a, error) &&
                       send_bytes(w, b, size_b, error) && receive(w, seconds + SECONDS_TO_ANSWER, error);
    text_free(line);
    return is_answered;
}

// A program that ends without a word is hardly a Python.
static bool receive_greeting(struct worker *w, struct error *error)
{
    double began = clock_seconds();
    if (receive(w, SECONDS_TO_START, error))
        return true;
    w->was_late = clock_seconds() - began >= SECONDS_TO_START;
    if (w->answer.count == 0)
        error_set_code(error, EXIT_UNSUPPORTED, NULL,
                       "%s does not answer as a Python with onnxruntime does: it ended, or is silent", w->name);
    return false;
}

bool worker_greet(struct worker *w, struct error *error)
{
    if (!receive_greeting(w, error)) {
        w->is_gone = true;
        return false;
    }
    snprintf(w->name, sizeof w->name, "onnxruntime %s", w->answer.count > 3 ? w->answer.chars + 3 : "");
    return true;
}

// --- requests --------------------------------------------------------------------------------------------------------

static bool load(struct worker *w, const char *id, const char *kind, const void *bytes, size_t size,
                 struct error *error)
{
    struct text line = {0};
    text_printf(&line, "load %s %s %zu", id, kind, size);
    return ask(w, &line, bytes, size, NULL, 0, 0, error);
}

bool worker_load_file(struct worker *w, const char *id, const char *path, struct error *error)
{
    return load(w, id, "file", path, strlen(path), error);
}

bool worker_load_bytes(struct worker *w, const char *id, const void *bytes, size_t size, struct error *error)
{
    return load(w, id, "bytes", bytes, size, error);
}

bool worker_drop(struct worker *w, const char *id, struct error *error)
{
    struct text line = {0};
    text_printf(&line, "drop %s", id);
    return ask(w, &line, NULL, 0, NULL, 0, 0, error);
}

bool worker_set_input(struct worker *w, int set, const char *name, const struct tensor_value *value,
                      struct error *error)
{
    struct text line = {0};
    size_t n_name = strlen(name), n_data = type_bytes(&value->type);
    text_printf(&line, "input %d %s %d", set, dtype_name(value->type.dtype), value->type.rank);
    for (int i = 0; i < value->type.rank; i++)
        text_printf(&line, " %" PRId64, value->type.dim[i]);
    text_printf(&line, " %zu %zu", n_name, n_data);
    return ask(w, &line, name, n_name, value->data, n_data, 0, error);
}

// "ok COUNT" and `per_item` numbers for each.
static bool read_numbers(struct worker *w, size_t per_item, worker_numbers *ret_numbers, struct error *error)
{
    char *at = w->answer.chars + 2, *end;
    size_t count = strtoul(at, &at, 10);
    vec_clear(ret_numbers);
    for (double x = strtod(at, &end); end != at; at = end, x = strtod(at, &end))
        vec_push(ret_numbers, x);
    return ret_numbers->count == count * per_item ||
           error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s answers %zu numbers, not %zu", w->name, ret_numbers->count,
                          count * per_item);
}

bool worker_compare(struct worker *w, const char *a, const char *b, int n_sets, worker_numbers *ret_numbers,
                    struct error *error)
{
    struct text line = {0};
    text_printf(&line, "outputs %s %s %d", a, b, n_sets);
    return ask(w, &line, NULL, 0, NULL, 0, 0, error) && read_numbers(w, 4, ret_numbers, error);
}

bool worker_time_sets(struct worker *w, int n_sets, struct error *error)
{
    struct text line = {0};
    text_printf(&line, "sets %d", n_sets);
    return ask(w, &line, NULL, 0, NULL, 0, 0, error);
}

bool worker_use_threads(struct worker *w, int threads, struct error *error)
{
    struct text line = {0};
    text_printf(&line, "threads %d", threads);
    return ask(w, &line, NULL, 0, NULL, 0, 0, error);
}

bool worker_run(struct worker *w, const char *id, double *ret_seconds, struct error *error)
{
    struct text line = {0};
    LOCAL_LIST(worker_numbers, numbers);
    text_printf(&line, "run %s", id);
    bool is_run = ask(w, &line, NULL, 0, NULL, 0, 0, error) && read_numbers(w, 1, &numbers, error);
    if (is_run)
        *ret_seconds = numbers.count ? numbers.items[0] : 0;
    return is_run;
}

bool worker_time_bound(struct worker *w, const char *id, bool is_cold, double seconds, int least_runs,
                       worker_numbers *ret_seconds, struct error *error)
{
    struct text line = {0};
    text_printf(&line, "bound %s %d %g %d", id, is_cold, seconds, least_runs);
    return ask(w, &line, NULL, 0, NULL, 0, seconds, error) && read_numbers(w, 1, ret_seconds, error);
}

// Percent signs are replaced in place.
static void decode(char *name)
{
    char *to = name;
    for (const char *at = name; *at; to++) {
        char digits[3] = {0};
        bool is_quoted = *at == '%' && at[1] && at[2];
        if (is_quoted)
            memcpy(digits, at + 1, 2);
        *to = is_quoted ? (char)strtoul(digits, NULL, 16) : *at;
        at += is_quoted ? 3 : 1;
    }
    *to = '\0';
}

static bool read_kernels(struct worker *w, worker_kernels *ret_kernels, double ret_wholes[2], struct error *error)
{
    char *rest = NULL, *count = strtok_r(w->answer.chars + 2, " ", &rest), *whole = strtok_r(NULL, " ", &rest);
    const char *beside = strtok_r(NULL, " ", &rest);
    vec_clear(ret_kernels);
    for (char *name = strtok_r(NULL, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        const char *seconds = strtok_r(NULL, " ", &rest);
        decode(name);
        vec_push(ret_kernels, ((struct worker_kernel){name, seconds ? strtod(seconds, NULL) : -1}));
    }
    ret_wholes[0] = whole ? strtod(whole, NULL) : 0;
    ret_wholes[1] = beside ? strtod(beside, NULL) : 0;
    bool is_whole = count && beside && strtoul(count, NULL, 10) == ret_kernels->count && ret_wholes[0] > 0;
    for (size_t i = 0; i < ret_kernels->count; i++)
        is_whole = is_whole && ret_kernels->items[i].seconds >= 0;
    return is_whole || error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s answers no profile", w->name);
}

bool worker_profile(struct worker *w, const char *const paths[2], int set, double seconds, int least_runs,
                    worker_kernels *ret_kernels, double ret_wholes[2], struct error *error)
{
    struct text line = {0};
    size_t size_beside = paths[1] ? strlen(paths[1]) : 0;
    text_printf(&line, "profile %d %g %d %zu %zu", set, seconds, least_runs, strlen(paths[0]), size_beside);
    return ask(w, &line, paths[0], strlen(paths[0]), paths[1], size_beside, seconds, error) &&
           read_kernels(w, ret_kernels, ret_wholes, error);
}
