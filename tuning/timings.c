// Jobs go into a file, which the command reads.
#include "tuning/timings.h"

#include "backends/costs/step_cost.h"
#include "backends/costs/trials.h"
#include "core/memory/hash.h"
#include "core/system/file.h"
#include "core/system/interrupt.h"
#include "core/system/shell.h"
#include "core/system/temporary.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "tuning/limits.def"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t timings_step_key(struct backend *b, const struct plan *plan, const struct step *step)
{
    struct step_key key FREED_BY(step_key_free) = step_key_of(b, plan, step, PRECISION_EXACT);
    return hash_string(key.text.chars);
}

static void make_ready(struct backend *b, const struct plan *plan, const struct step *step, const timing_list *timings)
{
    LOCAL_LIST(choice_list, choices);
    for (size_t i = 0; i < timings->count; i++) {
        struct listed_choice choice = {.precision = timings->items[i].precision};
        memcpy(choice.text, timings->items[i].choice, sizeof choice.text);
        vec_push(&choices, choice);
    }
    b->methods->make_ready(b, plan, step, &choices, true);
}

void timings_take(struct backend *b, const struct plan *plan, const struct step *step, timing_list *timings,
                  double best)
{
    make_ready(b, plan, step, timings);
    vec_each(timings, t)
        t->is_had =
            !interrupt_requested() && backend_time_choice(b, plan, step, t->choice, t->precision, best, &t->cost);
}

// --- asking ----------------------------------------------------------------------------------------------------------

static void print_jobs(struct text *text, uint64_t step_key, const timing_list *timings, size_t of_a_job, double best)
{
    for (size_t i = 0; i < timings->count; i++) {
        const struct timing *t = &timings->items[i];
        if (i % of_a_job == 0)
            text_printf(text, "%s%zu\t%016" PRIx64 "\t%.4e", i ? "\n" : "", i, step_key,
                        fmin(best, HOPELESS_BESIDE_NONE));
        text_printf(text, "\t%d %s", (int)t->precision, t->choice);
    }
    text_add(text, "\n");
}

static bool read_timing(const char *word, struct timing *t)
{
    int is_doubtful, end = 0;
    struct step_cost *c = &t->cost;
    *c = (struct step_cost){0};
    t->is_had = strcmp(word, "-") != 0;
    if (!t->is_had)
        return true;
    bool is_read = sscanf(word, "%lf %lf %lf %d%n", &c->seconds, &c->spread, &c->error, &is_doubtful, &end) == 4 &&
                   !word[end] && c->seconds > 0 && c->seconds < HOPELESS_BESIDE_NONE && c->spread >= 0 && c->error >= 0;
    c->is_doubtful = is_read && is_doubtful;
    memcpy(c->choice, t->choice, sizeof c->choice);
    return is_read;
}

static bool read_answer(char *line, timing_list *timings, size_t of_a_job)
{
    char *rest = NULL, *end, *word = strtok_r(line, "\t\n", &rest);
    size_t first = word ? strtoull(word, &end, 10) : 1, n = 0;
    bool is_read = word && !*end && first < timings->count && first % of_a_job == 0;
    while (is_read && (word = strtok_r(NULL, "\t\n", &rest)))
        is_read = n < of_a_job && first + n < timings->count && read_timing(word, &timings->items[first + n++]);
    if (!is_read || (n != of_a_job && first + n != timings->count) || timings->items[first].is_answered)
        return false;
    timings->items[first].is_answered = true;
    return true;
}

static size_t read_answers(FILE *from, timing_list *timings, size_t of_a_job)
{
    char *line = NULL;
    size_t size = 0, n = 0;
    while (getline(&line, &size, from) > 0)
        n += read_answer(line, timings, of_a_job);
    free(line);
    return n;
}

static FILE *start(const char *command, const char *jobs)
{
    TEXT(line);
    text_printf(&line, "(%s) < ", command);
    shell_add_word(&line, jobs);
    return shell_start(line.chars);
}

static bool ask(const char *command, const char *jobs, timing_list *timings, size_t of_a_job, struct error *error)
{
    size_t n = 0, n_jobs = (timings->count + of_a_job - 1) / of_a_job;
    FILE *from = start(command, jobs);
    if (from)
        n = read_answers(from, timings, of_a_job);
    bool is_done = from && pclose(from) == 0;
    if (interrupt_requested())
        return false;
    return (is_done && n == n_jobs) || error_set_code(error, EXIT_UNSUPPORTED, NULL,
                                                      "the command that tries schedules %s: %zu of %zu jobs answered",
                                                      is_done ? "answers too little" : "fails", n, n_jobs);
}

bool timings_ask(const char *command, uint64_t step_key, timing_list *timings, size_t of_a_job, double best,
                 struct error *error)
{
    struct temporary_folder folder = {0};
    TEXT(text);
    char path[sizeof folder.path + 8];
    if (!temporary_folder_make(&folder, error))
        return false;
    snprintf(path, sizeof path, "%s/jobs", folder.path);
    print_jobs(&text, step_key, timings, of_a_job, best);
    bool is_done = file_write_text(path, text.chars, text.count, error) && ask(command, path, timings, of_a_job, error);
    temporary_folder_remove(&folder);
    return is_done;
}

// --- answering -------------------------------------------------------------------------------------------------------

static const struct step *find_step(struct backend *b, const struct plan *plan, uint64_t key)
{
    return vec_find(&plan->steps, x, !x->is_constant && timings_step_key(b, plan, x) == key);
}

static bool read_choice(const char *word, timing_list *timings)
{
    struct timing t = {.is_had = false};
    bool is_read = word[0] >= '0' && word[0] < '0' + N_PRECISIONS && word[1] == ' ' && strlen(word + 2) < CHOICE_SIZE;
    if (!is_read)
        return false;
    t.precision = (enum precision)(word[0] - '0');
    snprintf(t.choice, sizeof t.choice, "%s", word + 2);
    vec_push(timings, t);
    return true;
}

static bool read_job(char *line, uint64_t *ret_number, uint64_t *ret_key, double *ret_best, timing_list *timings)
{
    char *rest = NULL, *word = strtok_r(line, "\t\n", &rest), *key = strtok_r(NULL, "\t\n", &rest);
    char *best = key ? strtok_r(NULL, "\t\n", &rest) : NULL, *end[3];
    if (!best)
        return false;
    *ret_number = strtoull(word, &end[0], 10);
    *ret_key = strtoull(key, &end[1], 16);
    *ret_best = strtod(best, &end[2]);
    bool is_read = !*end[0] && !*end[1] && !*end[2];
    while (is_read && (word = strtok_r(NULL, "\t\n", &rest)))
        is_read = read_choice(word, timings);
    return is_read && timings->count > 0;
}

static void print_answer(FILE *answers, uint64_t number, const timing_list *timings)
{
    fprintf(answers, "%" PRIu64, number);
    for (size_t i = 0; i < timings->count; i++) {
        const struct step_cost *c = &timings->items[i].cost;
        if (timings->items[i].is_had)
            fprintf(answers, "\t%.4e %.3f %.1e %d", c->seconds, c->spread, c->error, c->is_doubtful);
        else
            fprintf(answers, "\t-");
    }
    fprintf(answers, "\n");
    fflush(answers);
}

static bool answer(struct backend *b, const struct plan *plan, char *line, FILE *answers, timing_list *timings,
                   struct error *error)
{
    uint64_t number, key;
    double best;
    vec_clear(timings);
    if (!read_job(line, &number, &key, &best, timings))
        return error_set_code(error, EXIT_BAD_INPUT, NULL, "expected a job: number, step, seconds, choices");
    const struct step *step = find_step(b, plan, key);
    if (!step)
        return error_set_code(error, EXIT_BAD_INPUT, NULL, "no step of this model is %016" PRIx64, key);
    timings_take(b, plan, step, timings, best);
    print_answer(answers, number, timings);
    return true;
}

bool timings_answer(struct backend *b, const struct plan *plan, FILE *jobs, FILE *answers, struct error *error)
{
    LOCAL_LIST(timing_list, timings);
    char *line = NULL;
    size_t size = 0;
    bool is_done = true;
    while (is_done && !interrupt_requested() && getline(&line, &size, jobs) > 0)
        is_done = answer(b, plan, line, answers, &timings, error);
    free(line);
    return is_done;
}
