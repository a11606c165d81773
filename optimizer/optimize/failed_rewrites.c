// A result that fails the check is not the end. Every rewrite was proved and validated, over the reals: what fails are
// places where numbers are no reals (what is not finite, is rounded on purpose, or overflows), or faults of ours.
// Graphs on the way to the result are compared by bisection, so that the rewrite is found that makes the difference;
// its rules are left out, and it searches again. In the end there is the original.
#include "optimizer/optimize/failed_rewrites.h"

#include "core/system/interrupt.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "optimizer/job/optimization.h"
#include "optimizer/limits.def"
#include "optimizer/optimize/judgement.h"
#include "optimizer/optimize/output_check.h"
#include "optimizer/search/result.h"
#include <string.h>

// --- what fails ------------------------------------------------------------------------------------------------------

static bool fails(const struct optimizing *o)
{
    return o->results.found.steps.count > 0 &&
           (o->report.check.verdict == CHECK_FAILED || o->report.there.result.differs);
}

static const char *name_of_difference(const output_comparisons *outputs)
{
    const struct output_comparison *wrong = vec_find(outputs, o, !o->is_equal_enough);
    return wrong ? wrong->name : NULL;
}

static const char *output_that_differs(const struct optimizing *o)
{
    const char *name = name_of_difference(&o->report.check.outputs);
    name = name ? name : name_of_difference(&o->report.there.result.outputs);
    return name ? name : "(without a name)";
}

// Searches between two graphs of which the first agrees and the second does not: by their numbers of milestones, 0 the
// original.
static bool find_first_that_differs(struct optimizing *o, size_t *ret_milestone)
{
    size_t agrees = 0, differs = o->results.found.milestones.count;
    while (agrees + 1 < differs) {
        size_t middle = agrees + (differs - agrees) / 2;
        bool is_equal;
        if (!optimizing_compare(o, &o->results.found.milestones.items[middle - 1].graph, &is_equal))
            return false;
        *(is_equal ? &agrees : &differs) = middle;
    }
    *ret_milestone = differs;
    return true;
}

// --- leaving rules out -----------------------------------------------------------------------------------------------

// A rewrite that subtracts what its source does not stands for all that do: digits are lost by each of them.
static bool is_kept(const struct rule *r, const void *context)
{
    const struct optimizing *o = context;
    return !text_is_among(r->name, o->rules.left_out.count, o->rules.left_out.items) &&
           !(o->rules.leaves_out_differences && rule_introduces_differences(r));
}

static void leave_out_step(struct optimizing *o, const struct rule *r, struct text *names)
{
    if (text_is_among(r->name, o->rules.left_out.count, o->rules.left_out.items))
        return;
    text_add(names, names->count ? ", " : "");
    text_add(names, r->name);
    vec_push(&o->rules.left_out, arena_string(&o->arena, r->name));
    o->rules.leaves_out_differences = o->rules.leaves_out_differences || rule_introduces_differences(r);
}

// False: the device failed, or no rewrite is to blame.
static bool leave_out_culprits(struct optimizing *o)
{
    TEXT(names);
    size_t last;
    if (o->results.found.milestones.count == 0 || !find_first_that_differs(o, &last))
        return false;
    const struct search_milestone *all = o->results.found.milestones.items;
    for (size_t i = last > 1 ? all[last - 2].n_steps : 0; i < all[last - 1].n_steps && i < o->results.found.steps.count;
         i++)
        leave_out_step(o, o->results.found.steps.items[i].rule, &names);
    bool is_any = names.count > 0;
    o->report.check.failed_output = output_that_differs(o);
    if (is_any)
        log_warning(o->options->log, "%s: the check fails at output %s by a rewrite of %s: it searches without that",
                    o->options->input, o->report.check.failed_output, names.chars);
    return is_any;
}

// --- again -----------------------------------------------------------------------------------------------------------

static void forget_result(struct optimizing *o)
{
    vecs_free(&o->report, check.outputs, there.result.outputs, timing.contenders, costs.corrections);
    memset(&o->report.there.result, 0, sizeof o->report.there.result);
    memset(o->results.timed_files, 0, sizeof o->results.timed_files);
    search_result_free(&o->results.found);
    o->results.found = (struct search_result){0};
    o->report.timing.n_timed = 0;
}

static bool search_again(struct optimizing *o, const char *reason)
{
    forget_result(o);
    rule_set_filter(&o->rules.set, is_kept, o);
    remaining_time_search_again(&o->time.remaining, reason);
    return optimizing_search_and_judge(o);
}

static void drop_result(struct optimizing *o)
{
    graph_free(&o->results.found.graph);
    graph_copy(&o->results.found.graph, &o->model.graph);
    vec_clear(&o->results.found.steps);
    vec_free(&o->report.check.outputs);
    o->report.timing.n_timed = 0;
}

// The rewrites that were found are told, and not used.
static void keep_original(struct optimizing *o)
{
    o->report.check.failed_output = output_that_differs(o);
    drop_result(o);
    log_warning(o->options->log, "%s: results go on failing the check, at output %s: the original is kept",
                o->options->input, o->report.check.failed_output);
}

// An output that is never finite says nothing of what was found: rewrites that assume real numbers are done without.
static bool search_for_exact_ones(struct optimizing *o)
{
    if (!o->report.check.never_finite || o->options->keeps_nan || o->results.found.steps.count == 0)
        return true;
    log_warning(o->options->log,
                "%s: output %s is not finite at any inputs that were tried: only rewrites that keep every bit are used",
                o->options->input, o->report.check.never_finite);
    if (o->options->is_validation_skipped || interrupt_requested() || time_limit_is_over(&o->time.limit)) {
        drop_result(o);
        return true;
    }
    o->rules.keeps_every_bit = true;
    o->backend->options.error_budget = 0;
    return search_again(o, "an output is never finite, and it searches for rewrites that keep every bit");
}

bool failed_rewrites_search(struct optimizing *o)
{
    if (!optimizing_search_and_judge(o) || !search_for_exact_ones(o))
        return false;
    for (int i = 0; i < MOST_SEARCHES_AGAIN && fails(o) && !interrupt_requested() && leave_out_culprits(o); i++)
        if (!search_again(o, "a rewrite failed the check, and it searches again"))
            return false;
    if (fails(o))
        keep_original(o);
    return true;
}
