// Judgements of parts are merged into one, the worst first.
#include "verifier/direct_proof/judgement.h"

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICT_COUNT] = {
        [VERDICT_PROVED] = "proved",       [VERDICT_TESTED] = "tested",           [VERDICT_REFUTED] = "refuted",
        [VERDICT_UNDECIDED] = "undecided", [VERDICT_NOT_COVERED] = "not covered",
    };
    return names[verdict];
}

void judgement_free(struct judgement *result)
{
    text_free(&result->counterexample);
    text_free(&result->form);
}

static bool has_failed(const struct judgement *r)
{
    return r->verdict == VERDICT_REFUTED || r->verdict == VERDICT_UNDECIDED;
}

// A refutation says most; of what is not covered other parts say more.
static bool says_more(const struct judgement *x, const struct judgement *y)
{
    if (has_failed(x) || has_failed(y))
        return x->verdict == VERDICT_REFUTED ? y->verdict != VERDICT_REFUTED : !has_failed(y);
    return y->verdict == VERDICT_NOT_COVERED && x->verdict != VERDICT_NOT_COVERED;
}

void judgement_merge(struct judgement *all, struct judgement *part)
{
    struct judgement of_part = *part;
    *part = (struct judgement){.verdict = VERDICT_NOT_COVERED};
    if (says_more(&of_part, all)) {
        struct judgement other = *all;
        *all = of_part;
        of_part = other;
    }
    all->instances += of_part.instances;
    all->in_numbers += of_part.in_numbers;
    all->failures += of_part.failures;
    all->needs_reals = all->needs_reals || of_part.needs_reals;
    all->was_cut_short = all->was_cut_short || of_part.was_cut_short;
    all->met_limits = all->met_limits || of_part.met_limits;
    bounds_merge(&all->bounds, &of_part.bounds);
    judgement_free(&of_part);
}

static void print_sizes(struct text *out, uint32_t sizes)
{
    int largest = 31 - __builtin_clz(sizes);
    if (sizes == SIZES_UP_TO(largest)) {
        text_printf(out, largest == 1 ? "1" : "1..%d", largest);
        return;
    }
    for (int n = 1; n <= largest; n++)
        if (sizes >> n & 1)
            text_printf(out, n == 1 ? "%d" : " %d", n);
}

static void print_bounds_of_variable(struct text *out, const struct equation *eq, const struct judgement *r, uint32_t v,
                                     int rank)
{
    for (int axis = 0; axis < rank; axis++) {
        if (!r->bounds.sizes[v][rank][axis])
            continue;
        text_printf(out, "  ?%s of rank %d, axis %d: ", eq->pattern->variables[v], rank, axis);
        print_sizes(out, r->bounds.sizes[v][rank][axis]);
        text_printf(out, " (%s)\n", bound_reason_text((enum bound_reason)r->bounds.reason[v][rank][axis]));
    }
}

void judgement_print_bounds(struct text *out, const struct equation *eq, const struct judgement *r)
{
    text_printf(out, "  ranks up to %d, %llu instances\n", r->max_rank, (unsigned long long)r->instances);
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        for (int rank = 1; rank <= r->max_rank; rank++)
            print_bounds_of_variable(out, eq, r, v, rank);
}
