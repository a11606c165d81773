// The report as text for people and as JSON, from one struct.
#include "optimizer/report/report.h"

#include "core/text/json.h"
#include "core/text/text.h"
#include "substitutions/match.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- operators by kind -----------------------------------------------------------------------------------------------

// Live nodes that run each time: neither leaves nor work on weights alone.
static void count_operators(const struct graph *g, size_t *ret_counts)
{
    struct match_index index;
    memset(ret_counts, 0, OP_COUNT * sizeof *ret_counts);
    match_index_init(&index, g);
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct operator* op = g->nodes.items[n].op;
        if (index.is_live[n] && !index.is_weight[n] && !(op->flags & OPERATOR_IS_LEAF))
            ret_counts[op->id]++;
    }
    match_index_free(&index);
}

static size_t sum_of(const size_t *counts)
{
    size_t sum = 0;
    for (int op = 0; op < OP_COUNT; op++)
        sum += counts[op];
    return sum;
}

// --- for a person ----------------------------------------------------------------------------------------------------

static void print_operators(struct text *out, const struct report *r)
{
    size_t before[OP_COUNT], after[OP_COUNT];
    count_operators(r->before, before);
    count_operators(r->after, after);
    text_printf(out, "%-24s %10s %10s\n", "operators", "before", "after");
    for (int op = 0; op < OP_COUNT; op++)
        if (before[op] || after[op])
            text_printf(out, "  %-22s %10zu %10zu\n", operators[op]->name, before[op], after[op]);
    text_printf(out, "  %-22s %10zu %10zu\n", "all", sum_of(before), sum_of(after));
}

uint64_t report_applications(const struct report *r, bool of_generated)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->search->applications.count; i++)
        if (rule_is_generated(r->rules->rules.items[i]) == of_generated)
            sum += r->search->applications.items[i];
    return sum;
}

static void print_rules(struct text *out, const struct report *r)
{
    if (r->n_rules_left_out)
        text_printf(out, "rules left out           %zu, which this build does not know as proved\n",
                    r->n_rules_left_out);
    if (r->search->steps.count == 0) {
        text_add(out, "rules applied            none\n");
        return;
    }
    text_printf(out, "rules applied            %zu: %" PRIu64 " of generated rules, %" PRIu64 " of written ones",
                r->search->steps.count, report_applications(r, true), report_applications(r, false));
    if (!r->is_optimized)
        text_printf(out, "; none is kept, because %s", r->kept_reason);
    text_add(out, "\n");
    for (size_t i = 0; i < r->search->applications.count; i++)
        if (r->search->applications.items[i])
            text_printf(out, "  %6" PRIu64 "  %s\n", r->search->applications.items[i], r->rules->rules.items[i]->name);
}

static void print_steps(struct text *out, const struct report *r)
{
    double last = r->search->seconds_before;
    text_printf(out, "rewrites in order, with the gain of each by the costs that the search had (%.4f ms in all)\n",
                1e3 * (r->search->seconds_before - r->search->seconds_after));
    for (size_t i = 0; i < r->search->steps.count; i++) {
        const struct search_step *step = &r->search->steps.items[i];
        text_printf(out, "  %4zu  %+9.4f ms  %s\n", i + 1, 1e3 * (last - step->seconds_after), step->rule->name);
        last = step->seconds_after;
    }
}

static void print_time(struct text *out, const char *label, const struct sample_summary *s, const char *layouts)
{
    text_printf(out, "  %-22s %9.3f ms   (quartiles %.3f to %.3f, %zu run%s%s%s%s)\n", label, 1e3 * s->median,
                1e3 * s->quartile1, 1e3 * s->quartile3, s->count, plural_ending(s->count), layouts ? ", " : "",
                layouts ? layouts : "", layouts ? " layouts" : "");
}

// Every way to run the original and what was found: the fastest of each went into the final.
static void print_contenders(struct text *out, const struct report *r)
{
    for (size_t i = 0; i < r->contenders.count; i++) {
        const struct timed_contender *c = &r->contenders.items[i];
        if (c->seconds.count == 0)   // an interruption came first
            continue;
        text_printf(out, "  %-22s %9.3f ms   (estimated %.3f, %s layouts%s%s)\n", c->is_result ? "result" : "original",
                    1e3 * c->seconds.quartile1, 1e3 * c->estimate, c->layouts, c->is_result ? ", " : "",
                    c->is_result ? c->slant : "");
    }
}

double report_estimate(const struct report *r, int which)
{
    bool is_believed = r->n_timed == 2 && r->estimates[0] > 0 && r->estimates[1] > 0;
    return is_believed ? r->estimates[which] : which == 0 ? r->search->seconds_before : r->search->seconds_after;
}

double report_estimate_error(const struct report *r, int which)
{
    double measured = r->times[which].minimum;
    bool is_known = which < r->n_timed && r->estimates[which] > 0 && measured > 0;
    return is_known ? r->estimates[which] / measured - 1 : 0;
}

static void print_agreement(struct text *out, const struct report *r)
{
    static const char *const names[] = {"agreement before", "agreement after"};
    for (int i = 0; i < r->n_timed && !r->runtime; i++)
        text_printf(out, "  %-22s %+9.1f %%    (sum of steps %.3f ms, shortest run of the model %.3f)\n", names[i],
                    1e2 * report_estimate_error(r, i), 1e3 * r->estimates[i], 1e3 * r->times[i].minimum);
}

#define MOST_CORRECTIONS_SHOWN 3

static double weight_of(const struct cost_correction *c)
{
    return fabs(c->after - c->before) * c->n_noted;
}

static int compare_corrections(const void *a, const void *b)
{
    double x = weight_of(a), y = weight_of(b);
    return (x < y) - (x > y);
}

// Those that the models are wrong about most, all that they run each time together.
static void print_corrections(struct text *out, const struct report *r)
{
    size_t n = r->corrections.count;
    if (n == 0)
        return;
    struct cost_correction *sorted = mem_new_array(struct cost_correction, n);
    memcpy(sorted, r->corrections.items, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_corrections);
    text_printf(out, "  %-22s %9zu      of what steps take in the models; searches: %zu\n", "costs corrected", n,
                r->n_searches);
    for (size_t i = 0; i < n && i < MOST_CORRECTIONS_SHOWN; i++)
        text_printf(out, "    %9.1f us, not %.1f: %s\n", 1e6 * sorted[i].after, 1e6 * sorted[i].before, sorted[i].step);
    mem_free_array(sorted, n);
}

// An interruption may come before a sum of costs is known.
static void print_estimate(struct text *out, const char *label, double seconds)
{
    if (isfinite(seconds))
        text_printf(out, "  %-22s %9.3f ms\n", label, 1e3 * seconds);
    else
        text_printf(out, "  %-22s not known\n", label);
}

static void print_times(struct text *out, const struct report *r)
{
    text_add(out, "time\n");
    print_estimate(out, "estimated before", report_estimate(r, 0));
    print_estimate(out, "estimated after", report_estimate(r, 1));
    // What is not known is told above, and of what was timed the contenders tell.
    if (r->n_timed == 0 && isfinite(report_estimate(r, 1)) && r->seconds_with_layouts != r->search->seconds_after)
        print_estimate(out, "with its best layouts", r->seconds_with_layouts);
    if (r->layout_gap > 0)
        text_printf(out, "  %-22s within %.2g %% of the least sum of costs that is possible\n", "layouts",
                    1e2 * r->layout_gap);
    print_corrections(out, r);
    if (r->n_timed == 0)
        return;
    if (r->runtime)
        text_printf(out, "  %-22s %s\n", "measured in", r->runtime);
    print_contenders(out, r);
    print_time(out, "measured before", &r->times[0], r->layouts[0]);
    if (r->n_timed == 2) {
        print_time(out, "measured after", &r->times[1], r->layouts[1]);
        text_printf(out, "  %-22s %9.3f x    (95 %% interval %.3f to %.3f, %zu load%s, %s)\n", "speed-up",
                    r->gain.ratio, r->gain.low, r->gain.high, r->gain.n_loads, plural_ending(r->gain.n_loads),
                    r->is_interleaved ? "interleaved" : "loaded in turn");
    }
    print_agreement(out, r);
}

static const char *const verdict_names[] = {
    [CHECK_PASSED] = "passed",
    [CHECK_FAILED] = "failed",
    [CHECK_UNTRUSTWORTHY] = "untrustworthy",
    [CHECK_SKIPPED] = "skipped",
};

const char *check_verdict_name(enum check_verdict verdict)
{
    return verdict_names[verdict];
}

static void print_name(struct text *out, const char *name)
{
    size_t start = out->count;
    text_add(out, "  ");
    text_add_shown(out, name);
    while (out->count - start < 24)
        text_add(out, " ");
}

static void print_outputs(struct text *out, const output_comparisons *outputs, double tolerance)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const struct output_comparison *o = &outputs->items[i];
        double relative = o->max_magnitude > 0 ? o->max_difference / o->max_magnitude : o->max_difference;
        print_name(out, o->name);
        text_printf(out, " %9.2e    of max|output|, tolerance %.0e%s\n", relative, tolerance,
                    !o->is_trustworthy    ? "; constant, zero or not finite: says nothing"
                    : !o->is_equal_enough ? "; DIFFERS"
                                          : "");
    }
}

static void print_check(struct text *out, const struct report *r)
{
    text_printf(out, "check                    %s", verdict_names[r->verdict]);
    if (r->verdict_reason)
        text_printf(out, ": %s", r->verdict_reason);
    text_add(out, "\n");
    print_outputs(out, &r->outputs, r->tolerance);
    if (r->in_runtime.outputs.count) {
        text_printf(out, "  in %s\n", r->runtime);
        print_outputs(out, &r->in_runtime.outputs, r->tolerance);
    }
    for (size_t i = 0; i < r->uncompared.count; i++) {
        print_name(out, r->uncompared.items[i].name);
        text_add(out, " not compared, as no rewrite touches it: ");
        type_print(out, r->uncompared.items[i].type);
        text_add(out, "\n");
    }
}

static const char *const words_of_ends[] = {
#define END_WORDS(constant, name, words) words,
    SEARCH_ENDS(END_WORDS)
#undef END_WORDS
};

static void print_search(struct text *out, const struct report *r)
{
    const struct search_result *s = r->search;
    text_printf(out, "search                   %.2f s", s->statistics.seconds);
    for (size_t i = 0; i < s->ends.count; i++)
        text_printf(out, ", %s%s", i > 0 ? "then " : "", words_of_ends[s->ends.items[i]]);
    text_printf(out,
                ": %" PRIu64 " graph%s expanded, %" PRIu64 " match%s, %" PRIu64 " queued, %" PRIu64
                " duplicate%s, %" PRIu64 " dropped\n",
                s->statistics.expanded, plural_ending(s->statistics.expanded), s->statistics.matches,
                s->statistics.matches == 1 ? "" : "es", s->statistics.queued, s->statistics.duplicates,
                plural_ending(s->statistics.duplicates), s->statistics.dropped);
    if (r->n_finalists > 1)
        text_printf(out, "                         %zu finalists timed; the best: %s\n", r->n_finalists, r->slant);
    text_printf(out,
                "                         %" PRIu64 " region%s, %" PRIu64
                " more equal to one of them; costs known: %" PRIu64 " of %" PRIu64 "\n",
                s->statistics.regions, plural_ending(s->statistics.regions), s->statistics.repeated,
                s->statistics.remembered, s->statistics.priced);
    if (r->n_steps_measured)
        text_printf(out, "                         %" PRIu64 " step%s measured for it, in %.2f s\n",
                    r->n_steps_measured, plural_ending(r->n_steps_measured), r->seconds_measuring);
    text_printf(out, "validated                %" PRIu64 " application%s of rules, each at its shapes",
                s->statistics.validated, plural_ending(s->statistics.validated));
    if (s->statistics.not_validated)
        text_printf(out, "; %" PRIu64 " would have taken too long", s->statistics.not_validated);
    if (r->n_not_general)
        text_printf(out, "; not used, as they do not hold, or have no form, at all sizes: %" PRIu64, r->n_not_general);
    text_add(out, "\n");
    for (size_t i = 0; i < s->refuted.count; i++)
        text_printf(out, "  REFUTED, and not used any more: %s\n", s->refuted.items[i]->name);
}

// The five rules that united most classes.
static void print_unions(struct text *out, const struct report *r)
{
    const struct search_result *s = r->search;
    uint64_t below = UINT64_MAX;
    for (int n = 0; n < 5; n++) {
        size_t best = s->unions.count;
        for (size_t i = 0; i < s->unions.count; i++)
            if (s->unions.items[i] < below && (best == s->unions.count || s->unions.items[i] > s->unions.items[best]))
                best = i;
        if (best == s->unions.count || s->unions.items[best] == 0)
            return;
        below = s->unions.items[best];
        text_printf(out, "  %6" PRIu64 " unions by  %s\n", below, r->rules->rules.items[best]->name);
    }
}

static void print_saturation(struct text *out, const struct report *r)
{
    const struct saturation_figures *f = &r->search->saturation;
    if (!f->is_done)
        return;
    text_printf(out,
                "saturation               %.2f s exploring, %.2f s pricing, %.2f s extracting: %" PRIu64
                " e-graphs, %" PRIu64 " matches, %" PRIu64 " unions; cycles: %" PRIu64
                " applications left out, %" PRIu64 " e-nodes filtered\n",
                f->seconds_exploring, f->seconds_pricing, f->seconds_extracting, f->egraphs, f->matches, f->unions,
                f->cycles_prevented, f->cycles_resolved);
    text_printf(out,
                "                         the last one: %" PRIu64 " e-nodes in %" PRIu64 " classes after %" PRIu64
                " rounds (%s), cheapest sum of e-nodes %.3f ms, none below %.3f ms\n",
                f->last.nodes, f->last.classes, f->last.rounds, f->last.end, 1e3 * f->last.extracted,
                1e3 * f->last.bound);
    text_printf(out, "                         %" PRIu64 " graphs priced whole: %s\n", f->graphs_priced,
                f->is_better ? "the result is one of them" : "none was better than what was found before");
    print_unions(out, r);
}

static size_t n_kept_nodes(const struct report *r)
{
    size_t sum = 0;
    for (size_t i = 0; i < r->kept.count; i++)
        sum += r->kept.items[i].n_nodes;
    return sum;
}

static void print_kept(struct text *out, const struct report *r)
{
    if (r->kept.count)
        text_printf(out, "kept as they are         %zu node%s\n", n_kept_nodes(r), plural_ending(n_kept_nodes(r)));
    for (size_t i = 0; i < r->kept.count; i++) {
        const struct kept_operator *k = &r->kept.items[i];
        print_name(out, k->name);
        text_printf(out, " %10zu    ", k->n_nodes);
        text_add_shown(out, k->reason);
        text_add(out, "\n");
    }
}

// How fast the model became without any rewrite.
static void print_simplified(struct text *out, const struct report *r)
{
    const struct ratio_summary *gain = &r->of_simplified.times.gain;
    if (r->of_simplified.is_timed)
        text_printf(out, "simplified               %.3f x    (95 %% interval %.3f to %.3f, %zu load%s, in %s)\n",
                    gain->ratio, gain->low, gain->high, gain->n_loads, plural_ending(gain->n_loads), r->runtime);
    if (r->not_simplified)
        text_printf(out, "not simplified           %s\n", r->not_simplified);
}

static double mebibytes(size_t bytes)
{
    return (double)bytes / 1048576;
}

static void print_phases(struct text *out, const struct report *r)
{
    text_printf(out, "time                     %.1f s:", r->seconds);
    for (int i = 0; i < N_PHASES; i++)
        text_printf(out, "%s %s %.1f", i ? "," : "", phase_names[i], r->phases->seconds[i]);
    text_add(out, "\n");
}

static void print_what_is_written(struct text *out, const struct report *r)
{
    bool is_to_pipe = r->output && strcmp(r->output, "-") == 0;
    bool is_refused = r->is_optimized && r->verdict == CHECK_FAILED;
    text_add(out, "wrote ");
    text_add_shown(out, !r->output || is_refused ? "nothing: " : is_to_pipe ? "to standard output" : r->output);
    if (r->output && !r->is_optimized)
        text_printf(out, ": the original model, %sbecause ", r->is_simplified ? "simplified, " : "");
    if (!r->is_optimized)
        text_add_shown(out, r->kept_reason);
    else if (is_refused)
        text_add(out, "the optimized model differs from the original");
    else if (!r->output)
        text_add(out, "no file was named (-o)");
    text_add(out, "\n");
}

void report_print(struct text *out, const struct report *r, bool with_steps)
{
    report_print_symbols(out, r);
    print_operators(out, r);
    print_kept(out, r);
    print_rules(out, r);
    if (with_steps && r->search->steps.count > 0)
        print_steps(out, r);
    print_times(out, r);
    print_check(out, r);
    print_search(out, r);
    print_saturation(out, r);
    text_printf(out, "nodes in the file        %zu, with %.1f MiB of weights", r->nodes_in_file,
                mebibytes(r->bytes_in_file));
    if (r->is_compiled)
        text_add(out, ", and what is written is compiled for this executor\n");
    else
        text_printf(out, ", and %zu with %.1f MiB in what is written\n", r->nodes_written, mebibytes(r->bytes_written));
    print_simplified(out, r);
    print_phases(out, r);
    text_printf(out, "memory                   %.0f MiB at its peak\n", mebibytes(r->peak_memory));
    print_what_is_written(out, r);
}

// --- JSON ------------------------------------------------------------------------------------------------------------

static void add_operators(struct text *out, const char *key, const struct graph *g)
{
    size_t counts[OP_COUNT];
    count_operators(g, counts);
    json_begin(out, key, '{');
    for (int op = 0; op < OP_COUNT; op++)
        if (counts[op])
            json_add_count(out, operators[op]->name, counts[op]);
    json_end(out, '}');
}

static void add_rules(struct text *out, const struct report *r)
{
    json_begin(out, "rules_applied", '{');
    for (size_t i = 0; i < r->search->applications.count; i++)
        if (r->search->applications.items[i])
            json_add_count(out, r->rules->rules.items[i]->name, r->search->applications.items[i]);
    json_end(out, '}');
    json_add_count(out, "applications_of_generated_rules", report_applications(r, true));
    json_add_count(out, "applications_of_written_rules", report_applications(r, false));
    json_add_count(out, "rules_left_out", r->n_rules_left_out);
    json_begin(out, "rewrites", '[');
    for (size_t i = 0; i < r->search->steps.count; i++) {
        json_begin(out, NULL, '{');
        json_add_string(out, "rule", r->search->steps.items[i].rule->name);
        json_add_real(out, "estimated_seconds_after", r->search->steps.items[i].seconds_after);
        json_end(out, '}');
    }
    json_end(out, ']');
}

static void add_summary(struct text *out, const char *key, const struct sample_summary *s)
{
    json_begin(out, key, '{');
    json_add_count(out, "runs", s->count);
    json_add_real(out, "minimum", s->minimum);
    json_add_real(out, "quartile1", s->quartile1);
    json_add_real(out, "median", s->median);
    json_add_real(out, "quartile3", s->quartile3);
    json_end(out, '}');
}

static void add_corrections(struct text *out, const struct report *r)
{
    json_add_count(out, "searches", r->n_searches);
    json_begin(out, "costs_corrected", '[');
    for (size_t i = 0; i < r->corrections.count; i++) {
        const struct cost_correction *c = &r->corrections.items[i];
        json_begin(out, NULL, '{');
        json_add_string(out, "step", c->step);
        json_add_real(out, "seconds_before", c->before);
        json_add_real(out, "seconds_after", c->after);
        json_add_count(out, "met", c->n_noted);
        json_end(out, '}');
    }
    json_end(out, ']');
}

static void add_contenders(struct text *out, const struct report *r)
{
    json_begin(out, "contenders", '[');
    for (size_t i = 0; i < r->contenders.count; i++) {
        const struct timed_contender *c = &r->contenders.items[i];
        if (c->seconds.count == 0)   // an interruption came first
            continue;
        json_begin(out, NULL, '{');
        json_add_string(out, "model", c->is_result ? "result" : "original");
        json_add_string(out, "slant", c->slant);
        json_add_string(out, "layouts", c->layouts);
        json_add_real(out, "estimated_seconds", c->estimate);
        add_summary(out, "seconds", &c->seconds);
        json_end(out, '}');
    }
    json_end(out, ']');
}

static void add_times(struct text *out, const struct report *r)
{
    json_add_real(out, "estimated_seconds_before", r->search->seconds_before);
    json_add_real(out, "estimated_seconds_after", r->search->seconds_after);
    json_add_string(out, "layout", r->layout_strategy);
    json_add_real(out, "estimated_seconds_with_layouts", r->seconds_with_layouts);
    json_add_real(out, "layout_gap", r->layout_gap);
    json_add_count(out, "finalists", r->n_finalists);
    json_add_string(out, "slant", r->slant);
    add_corrections(out, r);
    if (r->n_timed == 0)
        return;
    add_contenders(out, r);
    add_summary(out, "measured_seconds_before", &r->times[0]);
    json_add_string(out, "layouts_before", r->layouts[0]);
    json_add_real(out, "timed_estimate_before", r->estimates[0]);
    json_add_real(out, "estimate_error_before", report_estimate_error(r, 0));
    if (r->n_timed < 2)
        return;
    add_summary(out, "measured_seconds_after", &r->times[1]);
    json_add_string(out, "layouts_after", r->layouts[1]);
    json_add_real(out, "timed_estimate_after", r->estimates[1]);
    json_add_real(out, "estimate_error_after", report_estimate_error(r, 1));
    json_add_real(out, "speedup", r->gain.ratio);
    json_add_real(out, "speedup_low", r->gain.low);
    json_add_real(out, "speedup_high", r->gain.high);
    json_add_count(out, "loads", r->gain.n_loads);
    json_add_bool(out, "interleaved", r->is_interleaved);
}

static void add_outputs(struct text *out, const char *key, const output_comparisons *outputs)
{
    json_begin(out, key, '[');
    for (size_t i = 0; i < outputs->count; i++) {
        const struct output_comparison *o = &outputs->items[i];
        json_begin(out, NULL, '{');
        json_add_string(out, "name", o->name);
        json_add_real(out, "max_difference", o->max_difference);
        json_add_real(out, "max_magnitude", o->max_magnitude);
        json_add_bool(out, "trustworthy", o->is_trustworthy);
        json_add_bool(out, "equal", o->is_equal_enough);
        json_end(out, '}');
    }
    json_end(out, ']');
}

static void add_check(struct text *out, const struct report *r)
{
    json_add_string(out, "check", verdict_names[r->verdict]);
    json_add_string(out, "check_reason", r->verdict_reason);
    json_add_real(out, "tolerance", r->tolerance);
    add_outputs(out, "outputs", &r->outputs);
    json_add_string(out, "runtime", r->runtime);
    add_outputs(out, "outputs_in_runtime", &r->in_runtime.outputs);
    json_begin(out, "outputs_not_compared", '[');
    for (size_t i = 0; i < r->uncompared.count; i++)
        json_add_string(out, NULL, r->uncompared.items[i].name);
    json_end(out, ']');
}

// How far the search had come, and the estimated cost of the best graph from there on.
static void add_course(struct text *out, const struct search_result *s)
{
    json_begin(out, "course", '[');
    for (size_t i = 0; i < s->course.count; i++) {
        json_begin(out, NULL, '{');
        json_add_count(out, "expanded", s->course.items[i].expanded);
        json_add_real(out, "elapsed", s->course.items[i].elapsed);
        json_add_real(out, "estimated_seconds", s->course.items[i].seconds);
        json_end(out, '}');
    }
    json_end(out, ']');
}

static void add_ends(struct text *out, const struct search_result *s)
{
    static const char *const names[] = {
#define END_NAME(constant, name, words) name,
        SEARCH_ENDS(END_NAME)
#undef END_NAME
    };
    json_begin(out, "ends", '[');
    for (size_t i = 0; i < s->ends.count; i++)
        json_add_string(out, NULL, names[s->ends.items[i]]);
    json_end(out, ']');
}

static void add_unions(struct text *out, const struct report *r)
{
    const struct search_result *s = r->search;
    json_begin(out, "unions", '{');
    for (size_t i = 0; i < s->unions.count; i++)
        if (s->unions.items[i])
            json_add_count(out, r->rules->rules.items[i]->name, s->unions.items[i]);
    json_end(out, '}');
}

static void add_saturation(struct text *out, const struct report *r)
{
    const struct saturation_figures *f = &r->search->saturation;
    json_begin(out, "saturation", '{');
    json_add_string(out, "end", f->last.end);
    json_add_bool(out, "better", f->is_better);
    json_add_count(out, "egraphs", f->egraphs);
    json_add_count(out, "rounds", f->last.rounds);
    json_add_count(out, "nodes", f->last.nodes);
    json_add_count(out, "classes", f->last.classes);
    json_add_count(out, "matches", f->matches);
    json_add_count(out, "unions_made", f->unions);
    json_add_count(out, "cycles_prevented", f->cycles_prevented);
    json_add_count(out, "cycles_resolved", f->cycles_resolved);
    json_add_count(out, "graphs_priced", f->graphs_priced);
    json_add_real(out, "extracted_seconds", f->last.extracted);
    json_add_real(out, "bound_seconds", f->last.bound);
    json_add_real(out, "seconds_exploring", f->seconds_exploring);
    json_add_real(out, "seconds_pricing", f->seconds_pricing);
    json_add_real(out, "seconds_extracting", f->seconds_extracting);
    add_unions(out, r);
    json_end(out, '}');
}

static void add_search(struct text *out, const struct report *r)
{
    const struct search_result *s = r->search;
    json_begin(out, "search", '{');
    json_add_real(out, "seconds", s->statistics.seconds);
#define PRINT_COUNT(field, name) json_add_count(out, name, s->statistics.field);
    SEARCH_COUNTS(PRINT_COUNT)
#undef PRINT_COUNT
    json_add_count(out, "adopted", s->statistics.adopted);
    json_add_count(out, "peak_queue", s->statistics.peak_queue);
    json_add_count(out, "rules_refuted", s->refuted.count);
    add_ends(out, s);
    add_course(out, s);
    if (s->saturation.is_done)
        add_saturation(out, r);
    json_end(out, '}');
}

static void add_kept(struct text *out, const struct report *r)
{
    json_add_count(out, "opaque_nodes", n_kept_nodes(r));
    json_begin(out, "opaque", '[');
    for (size_t i = 0; i < r->kept.count; i++) {
        const struct kept_operator *k = &r->kept.items[i];
        json_begin(out, NULL, '{');
        json_add_string(out, "domain", k->domain);
        json_add_string(out, "operator", k->name);
        json_add_count(out, "nodes", k->n_nodes);
        json_add_string(out, "reason", k->reason);
        json_end(out, '}');
    }
    json_end(out, ']');
}

static void add_gain_of_simplified(struct text *out, const struct report *r)
{
    const struct ratio_summary *gain = &r->of_simplified.times.gain;
    if (!r->of_simplified.is_timed)
        return;
    json_add_real(out, "simplified_speedup", gain->ratio);
    json_add_real(out, "simplified_speedup_low", gain->low);
    json_add_real(out, "simplified_speedup_high", gain->high);
}

static void add_phases(struct text *out, const char *key, const double *seconds)
{
    json_begin(out, key, '{');
    for (int i = 0; i < N_PHASES; i++)
        json_add_real(out, phase_names[i], seconds[i]);
    json_end(out, '}');
}

void report_print_json(struct text *out, const struct report *r)
{
    json_begin(out, NULL, '{');
    json_add_string(out, "input", r->input);
    json_add_string(out, "output", r->output);
    json_add_string(out, "device", r->device);
    json_add_bool(out, "optimized", r->is_optimized);
    json_add_string(out, "kept_reason", r->kept_reason);
    json_add_bool(out, "simplified", r->is_simplified);
    json_add_string(out, "not_simplified", r->not_simplified);
    add_gain_of_simplified(out, r);
    json_add_count(out, "nodes_before", r->nodes_in_file);
    json_add_count(out, "weight_bytes_before", r->bytes_in_file);
    json_add_bool(out, "compiled", r->is_compiled);
    if (!r->is_compiled) {
        json_add_count(out, "nodes_after", r->nodes_written);
        json_add_count(out, "weight_bytes_after", r->bytes_written);
    }
    add_operators(out, "operators_before", r->before);
    add_operators(out, "operators_after", r->after);
    report_print_symbols_json(out, r);
    add_rules(out, r);
    add_times(out, r);
    add_check(out, r);
    add_search(out, r);
    json_add_count(out, "constants_folded_at_import", r->import.folded);
    json_add_count(out, "identities_removed", r->import.identities);
    json_add_count(out, "normalizations_folded", r->import.normalizations);
    add_kept(out, r);
    json_add_count(out, "steps_measured", r->n_steps_measured);
    json_add_real(out, "seconds_measuring", r->seconds_measuring);
    json_add_real(out, "processor_seconds_measuring", r->processor_seconds_measuring);
    json_add_count(out, "peak_memory_bytes", r->peak_memory);
    json_add_real(out, "seconds", r->seconds);
    add_phases(out, "seconds_of", r->phases->seconds);
    add_phases(out, "processor_seconds_of", r->phases->processor_seconds);
    text_add(out, "}\n");
}
