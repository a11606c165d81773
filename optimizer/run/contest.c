// Stages of timing: in each load of a stage every contender that is still in is run as often as the others, in rounds.
// A final alternates single runs of both, and each makes a ratio with the one before it and the one behind it
// (core/numbers/paired_ratios.h); who begins takes turns, load by load.
#include "optimizer/run/contest.h"

#include "core/memory/memory.h"
#include "core/memory/vec.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/system/machine_load.h"
#include "optimizer/limits.def"
#include <math.h>
#include <string.h>
#include <time.h>

struct entrant {
    bool is_out, is_loaded;
    bool is_known;     // from earlier runs: it is in, and not run
    double shortest;   // of all runs, warming up too
    VEC(double) seconds;
};
struct ending {
    double at;   // on the runner's clock; 0: nobody has interrupted
    double seconds_of_final;
};
struct stage {
    const struct contest_runner *e;
    struct ending *ending;   // of the contest
    const struct contest *c;
    struct error *error;
    struct entrant *entrants;
    size_t n_loaded;      // entrants, again and again
    size_t n_loads;       // so far,
    size_t n_pairs;       // and pairs of runs in these
    VEC(double) ratios;   // of the final, load after load,
    VEC(size_t) ends;     // of loads there
    double seconds;       // of one load
    size_t least_rounds;
    bool drops;         // who is behind: it is the first stage
    bool is_by_turns;   // runs of one round stand beside each other
    bool is_warm;       // its runs are long: none warms up
    bool is_cut;        // by an interruption
};

static double now(const struct contest_runner *e)
{
    return e->clock ? e->clock(e->context) : clock_seconds();
}

static double end_after(const struct contest_runner *e, double seconds)
{
    return fmin(now(e) + seconds, interrupt_signalled_at() + SECONDS_AFTER_SIGNAL);
}

// A deadline, where there is one, was passed.
static struct ending ending_of_contest(const struct contest_runner *e, const struct contest *c)
{
    if (!interrupt_requested())
        return (struct ending){0, SECONDS_LEFT};
    double at = end_after(e, c->deadline > 0 ? SECONDS_LEFT : SECONDS_FROM_BEGINNING);
    return (struct ending){at, SHARE_OF_FINAL_FROM_BEGINNING * fmax(0, at - now(e))};
}

// Asked before each load and each run, none of which is broken off.
static bool has_to_end(struct stage *s)
{
    struct ending *e = s->ending;
    if (e->at == 0 && interrupt_requested())
        e->at = end_after(s->e, SECONDS_LEFT);
    s->is_cut = s->is_cut || (e->at > 0 && now(s->e) >= e->at - (s->drops ? e->seconds_of_final : 0));
    return s->is_cut;
}

static bool load(struct stage *s, size_t i)
{
    if (has_to_end(s))
        return false;
    s->n_loaded++;
    s->entrants[i].is_loaded = s->e->load(s->e->context, i, s->error);
    return s->entrants[i].is_loaded;
}

static void unload(struct stage *s, size_t i)
{
    if (s->entrants[i].is_loaded)
        s->e->unload(s->e->context, i);
    s->entrants[i].is_loaded = false;
}

static bool run_once(struct stage *s, size_t i, double *ret_seconds)
{
    if (has_to_end(s) || !s->e->run(s->e->context, i, ret_seconds, s->error))
        return false;
    s->entrants[i].shortest = fmin(s->entrants[i].shortest, *ret_seconds);
    return true;
}

static bool run_counted(struct stage *s, size_t i)
{
    double seconds;
    if (!run_once(s, i, &seconds))
        return false;
    vec_push(&s->entrants[i].seconds, seconds);
    return true;
}

static bool warm_up(struct stage *s, size_t i)
{
    double seconds, sum = 0;
    for (int k = 0; !s->is_warm && k < WARM_UP_RUNS && sum < WARM_UP_SECONDS; k++, sum += seconds)
        if (!run_once(s, i, &seconds))
            return false;
    return true;
}

static double shortest_of_kind(const struct stage *s, bool is_result)
{
    return SMALLEST(double, INFINITY, size_t, i, s->c->n,
                    !s->entrants[i].is_out && s->c->is_result[i] == is_result ? s->entrants[i].shortest : INFINITY);
}

static double shortest_of_round(const struct stage *s, bool is_result, size_t round)
{
    double shortest = INFINITY;
    for (size_t i = 0; i < s->c->n; i++) {
        const struct entrant *e = &s->entrants[i];
        if (!e->is_out && s->c->is_result[i] == is_result && e->seconds.count > round)
            shortest = fmin(shortest, e->seconds.items[round]);
    }
    return shortest;
}

// In each round, where there are some: the machine may be faster in one than in the next.
static bool is_behind(const struct stage *s, size_t i, double limit)
{
    const struct entrant *e = &s->entrants[i];
    bool is_result = s->c->is_result[i];
    return s->is_by_turns && e->seconds.count
               ? ALL(size_t, k, e->seconds.count, e->seconds.items[k] > limit * shortest_of_round(s, is_result, k))
               : e->shortest > limit * shortest_of_kind(s, is_result);
}

static void drop_who_is_behind(struct stage *s, double limit)
{
    for (size_t i = 0; s->drops && i < s->c->n; i++)
        if (!s->entrants[i].is_out && is_behind(s, i, limit)) {
            s->entrants[i].is_out = true;
            unload(s, i);
        }
}

static bool is_to_run(const struct entrant *e)
{
    return !e->is_out && !e->is_known;
}

static bool is_time_over(const struct stage *s, size_t rounds, double started, double seconds)
{
    double limit = interrupt_requested() ? fmin(seconds, SECONDS_WHEN_INTERRUPTED) : seconds;
    return rounds >= (s->c->loads_itself ? 1 : MOST_CONTEST_ROUNDS) ||
           (rounds >= s->least_rounds && now(s->e) - started > limit);
}

// Turns of several that qualify: the first one changes from round to round. Two that always alternate follow each other
// alike.
static size_t whose_turn(const struct stage *s, size_t round, size_t k)
{
    size_t n = s->c->n;
    return s->drops ? (k + round) % n : s->n_loads % 2 ? n - 1 - k : k;
}

static bool run_by_turns(struct stage *s)
{
    for (size_t i = 0; i < s->c->n; i++)
        if (is_to_run(&s->entrants[i]) && !(load(s, i) && warm_up(s, i)))
            return false;
    drop_who_is_behind(s, HOPELESS_RUN);
    double started = now(s->e);
    for (size_t round = 0; !is_time_over(s, round, started, s->seconds); round++) {
        for (size_t k = 0; k < s->c->n; k++) {
            size_t i = whose_turn(s, round, k);
            if (is_to_run(&s->entrants[i]) && !run_counted(s, i))
                return false;
        }
        if (round + 1 == s->least_rounds)
            drop_who_is_behind(s, BEHIND);
    }
    return true;
}

// An entrant makes as many runs as the first one had in its share of the time: `rounds`, 0 for the first.
static bool run_one(struct stage *s, size_t i, double seconds, size_t *rounds)
{
    bool is_done = load(s, i) && warm_up(s, i);
    double started = now(s->e);
    size_t round = 0;
    for (; is_done && (*rounds ? round < *rounds : !is_time_over(s, round, started, seconds)); round++)
        is_done = run_counted(s, i);
    *rounds = round;
    unload(s, i);
    return is_done;
}

static size_t count_entrants(const struct stage *s)
{
    return COUNT(size_t, i, s->c->n, is_to_run(&s->entrants[i]));
}

static bool run_one_at_a_time(struct stage *s)
{
    size_t rounds = 0, n = count_entrants(s);
    for (size_t k = 0; k < s->c->n; k++) {
        size_t i = whose_turn(s, 0, k);
        if (is_to_run(&s->entrants[i]) && !run_one(s, i, s->seconds / (double)n, &rounds))
            return false;
    }
    drop_who_is_behind(s, BEHIND);
    return true;
}

static bool has_room_for_all(const struct stage *s)
{
    return s->c->most_loaded == 0 || count_entrants(s) <= s->c->most_loaded;
}

// False: the device failed.
static bool run_load(struct stage *s)
{
    s->is_by_turns = has_room_for_all(s);
    bool is_done = s->is_by_turns ? run_by_turns(s) : run_one_at_a_time(s);
    for (size_t i = 0; i < s->c->n; i++)
        unload(s, i);
    s->n_loads++;
    return is_done || s->is_cut;
}

static void init_stage(struct stage *s, const struct contest_runner *e, const struct contest *c, struct ending *ending,
                       struct error *error)
{
    *s = (struct stage){.e = e, .c = c, .ending = ending, .error = error};
    s->entrants = mem_alloc_zero((c->n + 1) * sizeof *s->entrants);
    for (size_t i = 0; i < c->n; i++)
        s->entrants[i].shortest = INFINITY;
}

static void free_stage(struct stage *s)
{
    for (size_t i = 0; i < s->c->n; i++)
        vec_free(&s->entrants[i].seconds);
    mem_free(s->entrants, (s->c->n + 1) * sizeof *s->entrants);
    vecs_free(s, ratios, ends);
}

// Rounds decide, by the median ratio of what both took. Where there are none, other programs add to some runs only: the
// lower quartile is what most of the undisturbed ones took.
static bool is_faster(const struct stage *s, const struct sample_summary *times, size_t i, size_t than)
{
    const struct entrant *a = &s->entrants[i], *b = &s->entrants[than];
    size_t n = a->seconds.count < b->seconds.count ? a->seconds.count : b->seconds.count;
    if (!s->is_by_turns || n == 0)
        return times[i].quartile1 < times[than].quartile1;
    LOCAL_ARRAY(double, ratios, n);
    for (size_t k = 0; k < n; k++)
        ratios[k] = a->seconds.items[k] / b->seconds.items[k];
    return sample_summarize(ratios, n).median < 1;
}

// c->n: there is none of this kind.
static size_t fastest_of_kind(const struct contest *c, const struct stage *s, const struct sample_summary *times,
                              bool is_result)
{
    size_t fastest = c->n;
    for (size_t i = 0; i < c->n; i++)
        if (!s->entrants[i].is_out && c->is_result[i] == is_result &&
            (fastest == c->n || is_faster(s, times, i, fastest)))
            fastest = i;
    return fastest;
}

static double least_of_kind(const struct contest *c, bool is_result)
{
    return SMALLEST(double, INFINITY, size_t, i, c->n,
                    c->is_result[i] == is_result && c->earlier[i].count ? c->earlier[i].quartile1 : INFINITY);
}

// Entrants that would be loaded one after the other were run so before, too.
static void use_earlier_runs(struct stage *s)
{
    const struct sample_summary *earlier = s->c->earlier;
    for (size_t i = 0; earlier && i < s->c->n; i++)
        s->entrants[i].is_out =
            earlier[i].count && earlier[i].quartile1 > HOPELESS_RUN * least_of_kind(s->c, s->c->is_result[i]);
    bool is_by_turns = has_room_for_all(s);
    for (size_t i = 0; earlier && !is_by_turns && i < s->c->n; i++)
        if (earlier[i].count) {
            s->entrants[i].is_known = true;
            s->entrants[i].shortest = earlier[i].minimum;
        }
}

static bool is_run(const struct entrant *e)
{
    return e->seconds.count > 0 || isfinite(e->shortest);
}

// An entrant that was not run has a count of 0, and is the last.
static struct sample_summary summarize(const struct entrant *e)
{
    if (!is_run(e))
        return (struct sample_summary){.quartile1 = INFINITY};
    LOCAL_ARRAY(double, sorted, e->seconds.count + 1);
    sorted[0] = e->shortest;
    if (e->seconds.count)
        memcpy(sorted, e->seconds.items, e->seconds.count * sizeof *sorted);
    return sample_summarize(sorted, e->seconds.count ? e->seconds.count : 1);
}

// --- others on this machine ------------------------------------------------------------------------------------------

static bool is_shared(const struct contest_runner *e)
{
    return e->is_shared ? e->is_shared(e->context) : machine_others_running() > 0;
}

// All that were run, by their shortest runs, which others disturb least.
static bool is_far_above_costs(const struct stage *s)
{
    bool is_far = true, is_any = false;
    for (size_t i = 0; s->c->expected && i < s->c->n; i++) {
        const struct entrant *e = &s->entrants[i];
        if (!is_run(e) || e->is_known || s->c->expected[i] <= 0)
            continue;
        is_any = true;
        is_far = is_far && e->shortest > FAR_ABOVE * fmax(s->c->expected[i], LEAST_EXPECTED);
    }
    return is_any && is_far;
}

// Waits until the others are gone. False: they stay.
static bool wait_for_others(const struct stage *s)
{
    double started = now(s->e), end = started + SECONDS_OF_PATIENCE;
    end = s->c->deadline > 0 ? fmin(end, s->c->deadline) : end;
    while (is_shared(s->e)) {
        if (interrupt_requested() || now(s->e) >= end)
            return false;
        nanosleep(&(struct timespec){0, NANOSECONDS_OF_WAITING}, NULL);
    }
    return true;
}

static void forget_loads(struct stage *s)
{
    if (s->e->forget_loads)
        s->e->forget_loads(s->e->context, s->n_loaded);
    s->n_loaded = s->n_loads = 0;
}

static void forget_runs(struct stage *s)
{
    for (size_t i = 0; i < s->c->n; i++) {
        vec_clear(&s->entrants[i].seconds);
        s->entrants[i].shortest = s->entrants[i].is_known ? s->entrants[i].shortest : INFINITY;
        s->entrants[i].is_out = s->entrants[i].is_out && !s->drops;
    }
    forget_loads(s);
}

// The first load of a contest; where it shows that others disturb it, once more when they are gone.
static bool run_first_load(struct stage *s, struct contest_outcome *outcome)
{
    if (!run_load(s))
        return false;
    if (!is_far_above_costs(s) || !is_shared(s->e))
        return true;
    outcome->is_disturbed = !wait_for_others(s);
    if (outcome->is_disturbed)
        return true;
    forget_runs(s);
    if (s->drops)
        use_earlier_runs(s);
    if (!run_load(s))
        return false;
    outcome->is_disturbed = is_far_above_costs(s) && is_shared(s->e);
    return true;
}

// --- stages ----------------------------------------------------------------------------------------------------------

static bool qualify(const struct contest_runner *e, const struct contest *c, struct ending *ending,
                    struct contest_outcome *outcome, struct error *error)
{
    struct stage s;
    init_stage(&s, e, c, ending, error);
    s.seconds = SHARE_OF_QUALIFYING * c->seconds;
    s.least_rounds = QUALIFYING_ROUNDS;
    s.drops = true;
    use_earlier_runs(&s);
    bool is_done = run_first_load(&s, outcome);
    for (size_t i = 0; is_done && i < c->n; i++) {
        bool is_earlier = c->earlier && (s.entrants[i].is_known || !is_run(&s.entrants[i]));
        outcome->qualifying[i] = is_earlier ? c->earlier[i] : summarize(&s.entrants[i]);
    }
    outcome->original = fastest_of_kind(c, &s, outcome->qualifying, false);
    outcome->result = fastest_of_kind(c, &s, outcome->qualifying, true);
    free_stage(&s);
    return is_done;
}

size_t contest_most_loads(const struct contest *c)
{
    struct stage s;
    init_stage(&s, NULL, c, NULL, NULL);
    use_earlier_runs(&s);
    size_t n = count_entrants(&s) + 2 * (size_t)c->loads;
    free_stage(&s);
    return n;
}

// Ratios of the load that has ended, or was cut. False: all so far say nothing.
static bool end_load(struct stage *s, struct contest_outcome *outcome)
{
    const struct entrant *a = &s->entrants[outcome->original], *b = &s->entrants[outcome->result];
    size_t n = a->seconds.count < b->seconds.count ? a->seconds.count : b->seconds.count, begin = s->n_pairs;
    bool is_original_first = (s->n_loads % 2 == 1) == (outcome->original < outcome->result);
    if (n > begin) {
        vec_reserve(&s->ratios, s->ratios.count + 2 * (n - begin));
        s->ratios.count += ratios_of_neighbours(a->seconds.items + begin, b->seconds.items + begin, n - begin,
                                                is_original_first, s->ratios.items + s->ratios.count);
        vec_push(&s->ends, s->ratios.count);
        s->n_pairs = n;
    }
    if (n < LEAST_PAIRS)
        return false;
    outcome->gain = ratios_summarize(s->ratios.items, s->ends.items, s->ends.count, RATIO_LOOKED_AT_OFTEN);
    return true;
}

// Loads are spared before as many were made as were planned only where the result is not ahead, which is no gain, or
// hardly, which seldom becomes one; and where it is ahead by so much that equal graphs seldom are: a t that one in a
// thousand has or fewer (the rule of Haybittle and Peto), for which Student's intervals of four loads and more are to
// be 3.3 times as long. To stop wherever the interval is narrow would take equal graphs for faster more often.
static bool is_decided(const struct ratio_summary *gain)
{
    double intervals = log(gain->ratio) / log(gain->ratio / gain->low);
    return (gain->n_loads >= LOADS_FOR_NOTHING && gain->ratio <= 1) ||
           (gain->n_loads >= LOADS_FOR_MUCH && (intervals > SURE_INTERVALS || intervals < VAIN_INTERVALS));
}

// A gain is open if its interval holds 1, and its median is not so near to 1 that more loads would hardly tell.
static bool is_open(const struct ratio_summary *gain)
{
    return gain->ratio > 1 && gain->low <= 1 && log(gain->ratio) > VAIN_INTERVALS * log(gain->ratio / gain->low);
}

static size_t planned_loads(const struct contest *c)
{
    return c->loads > 0 ? (size_t)c->loads : 1;
}

static bool is_wide(const struct ratio_summary *gain)
{
    return gain->high > WIDE_INTERVAL * gain->low;
}

// A gain that a later contest may rely on, if no deadline has ended its own while it was open: noise of then has not
// made it.
static bool is_settled(const struct contest *c, const struct ratio_summary *gain)
{
    return (gain->n_loads >= planned_loads(c) || is_decided(gain)) && !is_wide(gain);
}

static bool is_out_of_time(const struct stage *s)
{
    return s->c->deadline > 0 && now(s->e) > s->c->deadline;
}

// Is time left for half as many loads again? What a search has found is worth no more time than the search was, however
// slowly its models load.
static bool is_time_left(const struct stage *s, double started, double first_part)
{
    double longest = FINAL_TIMES_LONGER * s->c->seconds, so_far = now(s->e) - started;
    bool is_left = s->c->worth > 0 ? so_far + so_far / 2 < fmax(longest, s->c->worth)
                                   : so_far < fmax(longest, FINAL_TIMES_LONGER * first_part);
    return !interrupt_requested() && (s->c->deadline > 0 ? now(s->e) < s->c->deadline : is_left);
}

// The shortest run of either finalist, as they qualified; 0: they did not have to.
static double seconds_of_runs(const struct contest_outcome *outcome)
{
    const struct sample_summary *q = outcome->qualifying;
    return q ? fmin(q[outcome->original].minimum, q[outcome->result].minimum) : 0;
}

// Rounds of a load, at least. Runs that take seconds make a pair in each, so that as many loads as possible are behind
// what they say.
static size_t rounds_of_load(size_t n_loads, double of_run)
{
    return of_run >= CONTEST_LONGEST_RUN ? 1 : (FINAL_RUNS + n_loads - 1) / n_loads;
}

// Intervals are looked at after as many loads as were planned, and as long as that is open again after half as many
// more.
static bool run_loads(struct stage *s, struct contest_outcome *outcome)
{
    size_t planned = planned_loads(s->c), n_looks = 0;
    double started = now(s->e), first_part = 0;
    s->seconds = (1 - SHARE_OF_QUALIFYING) * s->c->seconds / (double)planned;
    s->least_rounds = s->c->loads_itself ? 1 : rounds_of_load(planned, seconds_of_runs(outcome));
    while (s->n_loads == 0 || !interrupt_requested()) {
        if (!(s->n_loads == 0 ? run_first_load(s, outcome) : run_load(s)))
            return false;
        if (outcome->is_disturbed)
            return true;
        outcome->is_undecided = !end_load(s, outcome);
        double spent = now(s->e) - started;
        bool is_late = spent > s->c->seconds;
        if (is_out_of_time(s) || (is_late && !outcome->is_undecided && is_decided(&outcome->gain)))
            break;
        if (s->n_loads < planned)
            continue;
        first_part = n_looks++ == 0 ? spent : first_part;
        if (outcome->is_undecided || !is_open(&outcome->gain) || n_looks == RATIO_MOST_LOOKS ||
            !is_time_left(s, started, first_part))
            break;
        planned += (planned + 1) / 2;
    }
    return true;
}

// --- earlier verdicts ------------------------------------------------------------------------------------------------

static bool is_against(const struct stage *s, const struct earlier_verdict *v)
{
    if (v->result == s->c->n)
        return false;
    double ratio = s->entrants[v->original].shortest / s->entrants[v->result].shortest;
    return ratio > AGAINST_VERDICT * v->gain.high || ratio * AGAINST_VERDICT < v->gain.low;
}

// Runs that were cut, or that others disturb, are not against anything.
static bool look_at(struct stage *s, const struct earlier_verdict *v, struct contest_outcome *outcome)
{
    bool is_done = run_first_load(s, outcome);
    for (int i = 1; is_done && i < LOADS_OF_A_LOOK && is_against(s, v) && !s->is_cut && !outcome->is_disturbed; i++)
        is_done = run_load(s);
    outcome->is_doubted = is_done && is_against(s, v) && !s->is_cut && !outcome->is_disturbed;
    outcome->is_undecided =
        s->is_cut && !(is_run(&s->entrants[v->original]) && (v->result == s->c->n || is_run(&s->entrants[v->result])));
    outcome->is_earlier = is_done && !outcome->is_doubted && !outcome->is_undecided;
    outcome->is_disturbed = false;
    if (outcome->is_doubted)
        forget_loads(s);
    return is_done;
}

// Only what could be the verdict of a contest of these, and would be kept now, is looked at.
static bool recall(const struct contest_runner *e, const struct contest *c, const size_t *pair,
                   struct earlier_verdict *ret_verdict)
{
    if (!e->recall || !e->recall(e->context, pair, ret_verdict))
        return false;
    if (pair && (ret_verdict->original != pair[0] || ret_verdict->result != pair[1]))
        return false;
    return ret_verdict->result < c->n ? is_settled(c, &ret_verdict->gain) : !ANY(size_t, i, c->n, c->is_result[i]);
}

// False: the device failed.
static bool ask_earlier(const struct contest_runner *e, const struct contest *c, const size_t *pair,
                        struct ending *ending, struct contest_outcome *outcome, struct error *error)
{
    struct stage s;
    struct earlier_verdict v;
    if (outcome->is_doubted || !recall(e, c, pair, &v))
        return true;
    init_stage(&s, e, c, ending, error);
    s.seconds = SECONDS_OF_A_LOOK;
    s.least_rounds = c->loads_itself || v.seconds >= CONTEST_LONGEST_RUN ? 1 : ROUNDS_OF_A_LOOK;
    s.is_warm = c->loads_itself || (c->prepares_all && v.seconds >= CONTEST_LONG_RUN);
    for (size_t i = 0; i < c->n; i++)
        s.entrants[i].is_out = i != v.original && i != v.result;
    bool is_done = look_at(&s, &v, outcome);
    if (outcome->is_earlier) {
        outcome->original = v.original;
        outcome->result = v.result;
        outcome->gain = v.gain;
    }
    for (size_t i = 0; outcome->is_earlier && i < c->n; i++) {
        struct sample_summary times = summarize(&s.entrants[i]);
        if (i == v.original || i == v.result)
            outcome->times[i == v.result] = times;
        if (outcome->qualifying && !pair)
            outcome->qualifying[i] = times;
    }
    free_stage(&s);
    return is_done;
}

// --- the final -------------------------------------------------------------------------------------------------------

static bool hold_final(const struct contest_runner *e, const struct contest *c, struct ending *ending,
                       struct contest_outcome *outcome, struct error *error)
{
    struct stage s;
    const size_t finalists[2] = {outcome->original, outcome->result};
    if (!ask_earlier(e, c, finalists, ending, outcome, error))
        return false;
    if (outcome->is_earlier || outcome->is_undecided)
        return true;
    init_stage(&s, e, c, ending, error);
    s.is_warm = c->loads_itself || (c->prepares_all && seconds_of_runs(outcome) >= CONTEST_LONG_RUN);
    for (size_t i = 0; i < c->n; i++)
        s.entrants[i].is_out = i != outcome->original && i != outcome->result;
    bool is_done = run_loads(&s, outcome);
    bool has_gain = is_done && !outcome->is_disturbed && !outcome->is_undecided;
    bool is_cut = s.is_cut || (is_out_of_time(&s) && is_open(&outcome->gain));
    outcome->is_settled = has_gain && !is_cut && is_settled(c, &outcome->gain);
    bool says_nothing = has_gain && outcome->gain.low <= 1 && outcome->gain.high >= 1 && is_wide(&outcome->gain);
    bool is_short = says_nothing && s.n_loads < planned_loads(c) && is_out_of_time(&s);
    outcome->is_undecided = outcome->is_undecided || is_short;
    outcome->is_disturbed = outcome->is_disturbed || (says_nothing && !is_short && is_shared(e));
    for (int i = 0; is_done && !outcome->is_undecided && !outcome->is_disturbed && i < 2; i++)
        outcome->times[i] =
            sample_summarize(s.entrants[finalists[i]].seconds.items, s.entrants[finalists[i]].seconds.count);
    free_stage(&s);
    return is_done;
}

double contest_runs_to_warm_up(double of_run)
{
    return of_run >= CONTEST_LONG_RUN ? 0 : of_run > WARM_UP_SECONDS ? 1 : WARM_UP_RUNS;
}

double profile_runs_seconds(double of_run)
{
    return of_run * contest_runs_to_warm_up(of_run) +
           fmin(PROFILE_MOST_RUNS * of_run, fmax(PROFILE_SECONDS, PROFILE_LEAST_RUNS * of_run));
}

static double expected_seconds_of_load(double of_load, double of_run, double n_rounds)
{
    double n_warm_up = contest_runs_to_warm_up(of_run);
    return of_load + of_run * (n_warm_up + n_rounds);
}

double contest_expected_seconds(size_t n, int loads, double seconds, double of_load, double of_run)
{
    double qualifying = SHARE_OF_QUALIFYING * seconds, final = seconds - qualifying;
    double n_rounds = fmax(QUALIFYING_ROUNDS, qualifying / ((double)n * of_run + 1e-9));
    double n_final = fmax((double)rounds_of_load((size_t)loads, of_run), final / (2 * of_run + 1e-9) / loads);
    return (double)n * expected_seconds_of_load(of_load, of_run, n_rounds) +
           2 * loads * expected_seconds_of_load(of_load, of_run, ceil(n_final));
}

// Nobody asks how one of each kind would qualify.
static bool is_a_final_alone(const struct contest *c, const struct contest_outcome *outcome)
{
    return c->n == 2 && c->is_result[0] != c->is_result[1] && !outcome->qualifying;
}

bool contest_hold(const struct contest_runner *e, const struct contest *c, struct contest_outcome *ret_outcome,
                  struct error *error)
{
    struct ending ending = ending_of_contest(e, c);
    ret_outcome->is_undecided = ret_outcome->is_disturbed = false;
    ret_outcome->is_earlier = ret_outcome->is_doubted = ret_outcome->is_settled = false;
    if (is_a_final_alone(c, ret_outcome)) {
        ret_outcome->original = c->is_result[0];
        ret_outcome->result = c->is_result[1];
        return hold_final(e, c, &ending, ret_outcome, error);
    }
    if (!ask_earlier(e, c, NULL, &ending, ret_outcome, error))
        return false;
    if (ret_outcome->is_earlier || ret_outcome->is_undecided)
        return true;
    if (!qualify(e, c, &ending, ret_outcome, error))
        return false;
    if (ret_outcome->is_disturbed)
        return true;
    if (ret_outcome->result < c->n)
        return hold_final(e, c, &ending, ret_outcome, error);
    ret_outcome->times[0] = ret_outcome->qualifying[ret_outcome->original];
    ret_outcome->is_undecided = ret_outcome->times[0].count == 0;
    ret_outcome->is_settled = !ret_outcome->is_undecided;
    return true;
}
