// Listens to a judgement and has some of its instances looked at again.
#include "verifier/recheck/sample.h"

#include "core/memory/hash.h"
#include "core/numbers/random.h"

#define DENSITY 4   // of n instances about DENSITY * ln(n / DENSITY) are taken

static bool has_only_twos(const struct instance *in)
{
    for (uint32_t v = 0; v < in->equation->pattern->n_variables; v++)
        for (int a = 0; in->types[v] && a < in->types[v]->rank; a++)
            if (in->types[v]->dim[a] != 2)
                return false;
    return true;
}

static bool is_taken(const struct sample *s, const struct instance *in)
{
    uint64_t key = hash_mix(s->seed, hash_string(in->equation->name));
    if (s->only)
        return s->met == s->only;
    return has_only_twos(in) || random_keyed(key, s->met) % (s->met / DENSITY + 1) == 0;
}

static void hear(void *context, struct instance *in)
{
    struct sample *s = context;
    s->met++;
    if (!is_taken(s, in))
        return;
    s->last = s->met;
    s->last_verdict = recheck_instance(s->recheck, in);
    s->counts[s->last_verdict]++;
}

static void judge_listening(struct sample *s, struct judge *j, const struct equation *eq, struct judgement *ret_result)
{
    s->met = 0;
    j->listener = hear;
    j->listening = s;
    judge_equation(j, eq, ret_result);
    j->listener = NULL;
}

// The judge stops at the instance that refutes: it was the last one met. Where the sample has not got it, it is met
// again.
static bool agrees_with_refutation(struct sample *s, struct judge *j, const struct equation *eq)
{
    struct sample last = {.recheck = s->recheck, .only = s->met};
    struct judgement again;
    if (s->last == s->met)
        return s->last_verdict != RECHECK_EQUAL;
    judge_listening(&last, j, eq, &again);
    judgement_free(&again);
    s->counts[last.last_verdict] += last.last == s->met;
    return last.last_verdict != RECHECK_EQUAL || last.last != s->met;
}

bool sample_equation(struct sample *s, struct judge *j, const struct equation *eq, struct judgement *ret_result)
{
    uint64_t different = s->counts[RECHECK_DIFFERENT];
    judge_listening(s, j, eq, ret_result);
    if (ret_result->verdict == VERDICT_REFUTED)
        return ret_result->has_cut_inputs || !ret_result->differs_in_values || agrees_with_refutation(s, j, eq);
    return ret_result->verdict == VERDICT_UNDECIDED || s->counts[RECHECK_DIFFERENT] == different;
}
