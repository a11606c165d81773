// Sums and shares of a report's numbers, whoever prints them.
#include "optimizer/report/report.h"

#include "core/text/text.h"
#include <math.h>

uint64_t report_applications(const struct report *r, bool (*is_counted)(const struct rule *r))
{
    return COUNT(size_t, i, r->found.search->steps.count, is_counted(r->found.search->steps.items[i].rule));
}

void report_count_applications(const struct report *r, uint64_t *ret_counts)
{
    for (size_t i = 0; i < r->found.rules->rules.count; i++)
        ret_counts[i] = 0;
    for (size_t i = 0; i < r->found.search->steps.count; i++)
        ret_counts[rule_set_find(r->found.rules, r->found.search->steps.items[i].rule)]++;
}

size_t report_proved_rules(const struct report *r)
{
    return COUNT(size_t, i, r->found.rules->rules.count, rule_claims_proof(r->found.rules->rules.items[i]));
}

double report_estimate(const struct report *r, int which)
{
    bool is_believed = r->timing.n_timed == 2 && r->timing.estimates[0] > 0 && r->timing.estimates[1] > 0;
    return is_believed  ? r->timing.estimates[which]
           : which == 0 ? r->found.search->seconds_before
                        : r->found.search->seconds_after;
}

double report_estimate_error(const struct report *r, int which)
{
    double measured = r->timing.times[which].minimum;
    bool is_known = which < r->timing.n_timed && r->timing.estimates[which] > 0 && measured > 0;
    return is_known ? r->timing.estimates[which] / measured - 1 : NAN;
}

size_t report_kept_nodes(const struct report *r)
{
    return SUM_ALL(size_t, size_t, i, r->kept.count, r->kept.items[i].n_nodes);
}

const char *check_verdict_name(enum check_verdict verdict)
{
    static const char *const names[] = {
        [CHECK_PASSED] = "passed",
        [CHECK_FAILED] = "failed",
        [CHECK_UNTRUSTWORTHY] = "untrustworthy",
        [CHECK_SKIPPED] = "skipped",
    };
    return names[verdict];
}

void report_note_never_finite(struct report *r, const output_comparisons *outputs)
{
    for (size_t i = 0; i < outputs->count && !r->check.never_finite; i++)
        if (!outputs->items[i].is_trustworthy && !outputs->items[i].is_finite)
            r->check.never_finite = outputs->items[i].name ? outputs->items[i].name : "(without a name)";
}

// --- doubts ----------------------------------------------------------------------------------------------------------
// Each is read off the report by a condition of its own.

static size_t add(struct text *out, bool is_so, const char *doubt)
{
    if (is_so) {
        text_printf(out, "%s%s", out->count ? "; " : "", doubt);
    }
    return is_so;
}

static bool is_compared(const output_comparisons *outputs)
{
    return outputs->count > 0 && outputs_are_trustworthy(outputs);
}

// Here or in the runtime.
static bool is_result_checked(const struct report *r)
{
    return r->check.verdict == CHECK_PASSED || is_compared(&r->there.result.outputs);
}

static size_t doubts_of_result(struct text *out, const struct report *r)
{
    bool is_unchecked =
        r->written.is_optimized && r->check.verdict == CHECK_SKIPPED && r->there.result.outputs.count == 0;
    size_t n = add(out, is_unchecked, "the result is not checked");
    n += add(out, r->written.is_optimized && !is_unchecked && !is_result_checked(r), "the check is not trustworthy");
    n += add(out, r->written.is_optimized && r->timing.n_timed != 2, "the result is not timed");
    n += add(out, r->written.is_optimized && r->check.uncompared.count > 0, "outputs are not compared");
    return n + add(out, r->written.is_simplified && !is_compared(&r->there.simplified.outputs),
                   "what is simplified is not checked");
}

size_t report_list_doubts(struct text *out, const struct report *r)
{
    size_t n = doubts_of_result(out, r);
    n += add(out, r->check.failed_output != NULL, "a rewrite failed the check");
    n += add(out, r->timing.is_cut, "it was ended before all was known");
    n += add(out, r->there.refused_by != NULL, "the runtime refuses the model");
    return n + add(out, report_kept_nodes(r) > 0, "nodes are not understood");
}
