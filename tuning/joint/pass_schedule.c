// Read as S-expressions: a list for each stage.
#include "tuning/joint/pass_schedule.h"

#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/memory/vec.h"
#include "core/text/error.h"
#include "tuning/limits.def"
#include <string.h>

#define NAME_OF_TEXT "the schedule of passes"

const char *const strategy_names[N_TUNING_STRATEGIES] = {"exhaustive", "annealing", "evolution", "model"};

// n: it is none of these.
static size_t find_name(const struct sexp *s, const char *const *names, size_t n)
{
    size_t i = 0;
    while (i < n && !sexp_is_symbol(s, names[i]))
        i++;
    return i;
}

static bool read_turn(struct tuning_stage *stage, const struct sexp *s, const char *const *names, size_t n_names,
                      struct error *error)
{
    struct pass_turn turn = {.pass = n_names};
    if (s->kind == SEXP_LIST && s->count == 2 && s->items[1].kind == SEXP_INTEGER && s->items[1].integer > 0 &&
        s->items[1].integer <= MOST_STEPS_OF_TURN)
        turn = (struct pass_turn){find_name(&s->items[0], names, n_names), (size_t)s->items[1].integer};
    if (turn.pass == n_names || stage->n_turns == MOST_PASSES)
        return sexp_error(error, NAME_OF_TEXT, s, "expected (PASS STEPS), with one of the passes that there are");
    stage->turns[stage->n_turns++] = turn;
    return true;
}

static bool read_stage(struct pass_schedule *ret, const struct sexp *s, const char *const *names, size_t n_names,
                       struct error *error)
{
    struct tuning_stage stage = {0};
    size_t strategy = s->kind == SEXP_LIST && s->count >= 3
                          ? find_name(&s->items[0], strategy_names, N_TUNING_STRATEGIES)
                          : N_TUNING_STRATEGIES;
    bool has_share =
        strategy < N_TUNING_STRATEGIES && (s->items[1].kind == SEXP_REAL || s->items[1].kind == SEXP_INTEGER);
    if (!has_share || !(s->items[1].real > 0 && s->items[1].real <= 1) || ret->n_stages == MOST_STAGES)
        return sexp_error(error, NAME_OF_TEXT, s, "expected (STRATEGY SHARE (PASS STEPS) ...), with a share up to 1");
    stage.strategy = (enum strategy_kind)strategy;
    stage.share = s->items[1].real;
    stage.is_by_gain = sexp_is_symbol(&s->items[2], "by-gain");
    for (size_t i = 2 + stage.is_by_gain; i < s->count; i++)
        if (!read_turn(&stage, &s->items[i], names, n_names, error))
            return false;
    ret->stages[ret->n_stages++] = stage;
    return stage.n_turns > 0 || sexp_error(error, NAME_OF_TEXT, s, "expected passes behind by-gain");
}

bool pass_schedule_parse(struct pass_schedule *ret, const char *text, const char *const *names, size_t n_names,
                         struct error *error)
{
    ARENA(arena);
    const struct sexp *list;
    *ret = (struct pass_schedule){0};
    bool is_read = sexp_parse(&arena, NAME_OF_TEXT, text, strlen(text), &list, error) &&
                   ALL(size_t, i, list->count, read_stage(ret, &list->items[i], names, n_names, error));
    if (is_read && ret->n_stages == 0)
        is_read = error_set(error, NAME_OF_TEXT, 0, 0, "has no stage");
    return is_read;
}
