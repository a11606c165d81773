// The report as text for people.
#include "optimizer/report/report.h"

#include "core/text/text.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t sum_of(const size_t *counts)
{
    size_t sum = 0;
    for (int op = 0; op < OP_COUNT; op++)
        sum += counts[op];
    return sum;
}

// Of what was found, which need not be what is written.
static void print_operators(struct text *out, const struct report *r)
{
    bool is_written = r->is_optimized || r->search->steps.count == 0;
    size_t before[OP_COUNT], after[OP_COUNT];
    report_count_operators(r->before, before);
    report_count_operators(r->after, after);
    text_printf(out, "%-24s %10s %10s\n", "operators", "before", is_written ? "after" : "not kept");
    for (int op = 0; op < OP_COUNT; op++)
        if (before[op] || after[op])
            text_printf(out, "  %-22s %10zu %10zu\n", operators[op]->name, before[op], after[op]);
    text_printf(out, "  %-22s %10zu %10zu\n", "all", sum_of(before), sum_of(after));
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

static void print_agreement(struct text *out, const struct report *r)
{
    for (int i = 0; i < r->n_timed && !r->runtime; i++)
        if (isfinite(report_estimate_error(r, i)))
            text_printf(out, "  agreement %-12s %+9.1f %%    (sum of steps %.3f ms, shortest run of the model %.3f)\n",
                        i == 0 ? "before" : "after", 1e2 * report_estimate_error(r, i), 1e3 * r->estimates[i],
                        1e3 * r->times[i].minimum);
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

// An interruption may come before a sum of costs is known, which is that of nodes that we know.
static void print_estimate(struct text *out, const struct report *r, const char *label, double seconds)
{
    if (isfinite(seconds))
        text_printf(out, "  %-22s %9.3f ms%s\n", label, 1e3 * seconds,
                    r->kept.count ? "   (without the nodes that are kept as they are)" : "");
    else
        text_printf(out, "  %-22s not known\n", label);
}

static void print_errors(struct text *out, const struct report *r)
{
    static const char *const labels[] = {"errors before", "errors after"};
    for (int i = 0; i < 2; i++) {
        const struct error_budget *e = &r->errors[i];
        if (r->allowed_error > 0 && e->n_inexact + e->n_refused > 0)
            text_printf(out,
                        "  %-22s %9.1e      of %.0e, by %u kernel%s that lose digits and gain %.3f ms; %u refused\n",
                        labels[i], e->error, r->allowed_error, e->n_inexact, plural_ending(e->n_inexact), 1e3 * e->gain,
                        e->n_refused);
    }
}

static void print_times(struct text *out, const struct report *r)
{
    text_add(out, "time\n");
    print_estimate(out, r, "estimated before", report_estimate(r, 0));
    print_estimate(out, r, "estimated after", report_estimate(r, 1));
    // What is not known is told above, and of what was timed the contenders tell.
    if (r->n_timed == 0 && isfinite(report_estimate(r, 1)) && r->seconds_with_layouts != r->search->seconds_after)
        print_estimate(out, r, "with its best layouts", r->seconds_with_layouts);
    print_errors(out, r);
    if (r->layout_gap > 0)
        text_printf(out, "  %-22s within %.2g %% of the least sum of costs that is possible\n", "layouts",
                    1e2 * r->layout_gap);
    print_corrections(out, r);
    if (r->n_timed == 0)
        return;
    text_printf(out, "  %-22s %s%s\n", "measured in", r->runtime ? r->runtime : "our own executor",
                !r->runtime && r->kept.count ? ", without the nodes that are kept as they are" : "");
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
    text_printf(out, "check                    %s", check_verdict_name(r->verdict));
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
        text_printf(out, " not compared%s, as it has no numbers of known sizes: ",
                    r->in_runtime.outputs.count ? " in our own executor" : "");
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

static bool unites_more(const struct search_result *s, size_t rule, size_t other)
{
    uint64_t of_rule = s->unions.items[rule], of_other = s->unions.items[other];
    return of_rule > of_other || (of_rule == of_other && rule < other);
}

// The five rules that united most classes.
static void print_unions(struct text *out, const struct report *r)
{
    const struct search_result *s = r->search;
    size_t none = s->unions.count, last = none;
    for (int n = 0; n < 5; n++) {
        size_t best = none;
        for (size_t i = 0; i < s->unions.count; i++)
            if ((last == none || unites_more(s, last, i)) && (best == none || unites_more(s, i, best)))
                best = i;
        if (best == none || s->unions.items[best] == 0)
            return;
        text_printf(out, "  %6" PRIu64 " unions by  %s\n", s->unions.items[best], r->rules->rules.items[best]->name);
        last = best;
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

static void print_kept(struct text *out, const struct report *r)
{
    if (r->kept.count)
        text_printf(out, "kept as they are         %zu node%s\n", report_kept_nodes(r),
                    plural_ending(report_kept_nodes(r)));
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
