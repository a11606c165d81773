// Doubts are read off the report, each by a condition of its own.
#include "optimizer/report/doubts.h"

#include "core/text/text.h"
#include "optimizer/report/report.h"

static size_t add(struct text *out, bool is_so, const char *doubt)
{
    if (is_so) {
        text_add(out, out->count ? "; " : "");
        text_add(out, doubt);
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
