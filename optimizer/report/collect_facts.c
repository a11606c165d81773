// All facts of a report, with the keys that programs know them by. What is said first, and of what, is summary.c's.
#include "optimizer/report/collect_facts.h"

#include "core/text/text.h"
#include "optimizer/report/facts.h"
#include "optimizer/report/step_text.h"
#include "optimizer/report/summary.h"
#include "optimizer/report/symbols.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of_rule(const struct report *r, size_t i)
{
    return r->found.rules->rules.items[i]->name;
}

// --- the files -------------------------------------------------------------------------------------------------------

static void add_types(struct facts *f, const char *key, const char *label, const struct node_types *types)
{
    facts_begin(f, FACT_GROUP, key, label);
    for (size_t i = 0; i < types->count; i++)
        facts_add_count(f, types->items[i].name, types->items[i].name, types->items[i].n);
    facts_end(f);
}

static void add_kept(struct facts *f, const struct report *r)
{
    facts_add_count(f, "opaque_nodes", "nodes not understood", report_kept_nodes(r));
    facts_begin(f, FACT_LIST, "opaque", "Not understood, and kept as they are");
    vec_each(&r->kept, k) {
        facts_begin(f, FACT_GROUP, NULL, NULL);
        facts_add_text(f, "domain", NULL, k->domain);
        facts_add_text(f, "operator", "operator", k->name);
        facts_add_count(f, "nodes", "nodes", k->n_nodes);
        facts_add_text(f, "reason", "why", k->reason);
        facts_end(f);
    }
    facts_end(f);
}

static void add_gain(struct facts *f, const char *const *keys, const char *label, const struct ratio_summary *gain)
{
    facts_add_real(f, keys[0], label, UNIT_TIMES, gain->ratio);
    facts_add_real(f, keys[1], "  95 % interval from", UNIT_TIMES, gain->low);
    facts_add_real(f, keys[2], "  to", UNIT_TIMES, gain->high);
}

static void add_files(struct facts *f, const struct report *r)
{
    static const char *const keys[] = {"simplified_speedup", "simplified_speedup_low", "simplified_speedup_high"};
    facts_add_flag(f, "optimized", "a rewritten model is written", r->written.is_optimized);
    facts_add_text(f, "kept_reason", "why the original is kept", r->written.kept_reason);
    facts_add_flag(f, "simplified", "the original is simplified", r->written.is_simplified);
    facts_add_text(f, "not_simplified", "why it is not", r->written.not_simplified);
    if (r->there.simplified.is_timed)
        add_gain(f, keys, "simplified, times as fast", &r->there.simplified.times.gain);
    facts_add_count(f, "nodes_before", "nodes of the original", r->written.nodes_before);
    facts_add_bytes(f, "weight_bytes_before", "its weights", r->written.bytes_before);
    facts_add_flag(f, "compiled", "a compiled model is written", r->written.is_compiled);
    if (!r->written.is_compiled) {
        facts_add_count(f, "nodes_after", "nodes of what is written", r->written.nodes_after);
        facts_add_bytes(f, "weight_bytes_after", "its weights", r->written.bytes_after);
    }
    add_types(f, "operators_before", "Nodes of the original", &r->written.types[0]);
    add_types(f, "operators_after", "Nodes of what is written", &r->written.types[1]);
}

// --- rules -----------------------------------------------------------------------------------------------------------

static void add_counts_of_rules(struct facts *f, const struct report *r, const char *key, const char *label,
                                const uint64_t *counts, size_t n)
{
    facts_begin(f, FACT_GROUP, key, label);
    for (size_t i = 0; i < n; i++)
        if (counts[i])
            facts_add_count(f, name_of_rule(r, i), name_of_rule(r, i), counts[i]);
    facts_end(f);
}

static void add_rewrites(struct facts *f, const struct report *r)
{
    double last = r->found.search->seconds_before;
    facts_begin(f, FACT_LIST, "rewrites", "Rewrites in order, with what each gains by estimated costs");
    vec_each(&r->found.search->steps, step) {
        facts_begin(f, FACT_GROUP, NULL, NULL);
        facts_add_real(f, "gain_seconds", "gain", UNIT_MILLISECONDS, last - step->seconds_after);
        facts_add_real(f, "estimated_seconds_after", "then", UNIT_MILLISECONDS, step->seconds_after);
        facts_add_text(f, "rule", "rule", step->rule->name);
        facts_end(f);
        last = step->seconds_after;
    }
    facts_end(f);
}

static void add_rules(struct facts *f, const struct report *r)
{
    size_t n = r->found.rules->rules.count;
    LOCAL_ARRAY(uint64_t, counts, n + 1);
    report_count_applications(r, counts);
    add_counts_of_rules(f, r, "rules_applied", "Rules, and how often each was applied", counts, n);
    uint64_t n_all = r->found.search->steps.count, n_generated = report_applications(r, rule_is_generated);
    uint64_t n_proved = report_applications(r, rule_claims_proof);
    facts_add_count(f, "applications_of_generated_rules", "applications of generated rules", n_generated);
    facts_add_count(f, "applications_of_written_rules", "applications of written rules", n_all - n_generated);
    facts_add_count(f, "applications_of_proved_rules", "applications of proved rules", n_proved);
    facts_add_count(f, "applications_of_checked_rules", "applications of checked rules", n_all - n_proved);
    facts_add_count(f, "rules_proved", "rules that it may use, proved", report_proved_rules(r));
    facts_add_count(f, "rules_checked", "rules that it may use, only checked",
                    r->found.rules->rules.count - report_proved_rules(r));
    facts_add_count(f, "rules_left_out", "rules left out, not known as proved", r->found.n_rules_left_out);
    facts_add_count(f, "rules_left_out_for_symbols", "checked rules left out, as sizes are symbolic",
                    r->found.n_rules_of_known_sizes);
    add_rewrites(f, r);
}

// --- times -----------------------------------------------------------------------------------------------------------

static void add_sample(struct facts *f, const char *key, const char *label, const struct sample_summary *s)
{
    facts_begin(f, FACT_LINE, key, label);
    facts_add_count(f, "runs", "runs", s->count);
    facts_add_real(f, "minimum", "least", UNIT_MILLISECONDS, s->minimum);
    facts_add_real(f, "quartile1", "quartile", UNIT_MILLISECONDS, s->quartile1);
    facts_add_real(f, "median", "median", UNIT_MILLISECONDS, s->median);
    facts_add_real(f, "quartile3", "quartile", UNIT_MILLISECONDS, s->quartile3);
    facts_end(f);
}

static double weight_of_correction(const struct cost_correction *c)
{
    return fabs(c->after - c->before) * c->n_noted;
}

COMPARISON(compare_corrections, struct cost_correction, ORDER(weight_of_correction(y), weight_of_correction(x)))

static void add_step(struct facts *f, const char *step)
{
    TEXT(shown);
    text_add_step(&shown, step);
    facts_add_text(f, "operators", "step", shown.chars);
}

// The costs that the models were most wrong about stand first.
static void add_corrections(struct facts *f, const struct report *r)
{
    size_t n = r->costs.corrections.count;
    struct cost_correction *sorted = arena_array(&f->arena, struct cost_correction, n + 1);
    if (n) {
        memcpy(sorted, r->costs.corrections.items, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, compare_corrections);
    }
    facts_add_count(f, "searches", "searches", r->found.n_searches);
    facts_begin(f, FACT_LIST, "costs_corrected", "Costs corrected by what steps take in the models");
    for (size_t i = 0; i < n; i++) {
        facts_begin(f, FACT_GROUP, NULL, NULL);
        facts_add_real(f, "seconds_before", "believed", UNIT_MILLISECONDS, sorted[i].before);
        facts_add_real(f, "seconds_after", "measured", UNIT_MILLISECONDS, sorted[i].after);
        facts_add_count(f, "met", "steps", sorted[i].n_noted);
        facts_add_text(f, "step", NULL, sorted[i].step);
        add_step(f, sorted[i].step);
        facts_end(f);
    }
    facts_end(f);
}

static void add_contenders(struct facts *f, const struct report *r)
{
    facts_begin(f, FACT_LIST, "contenders", "Ways to run the models that were timed");
    vec_each(&r->timing.contenders, c) {
        if (c->seconds.count == 0)   // an interruption came first
            continue;
        facts_begin(f, FACT_GROUP, NULL, NULL);
        facts_add_text(f, "model", "model", c->is_result ? "result" : "original");
        facts_add_text(f, "preference", "search", c->preference);
        facts_add_text(f, "layouts", "layouts", c->layouts);
        facts_add_real(f, "estimated_seconds", "estimated", UNIT_MILLISECONDS, c->estimate);
        add_sample(f, "seconds", "measured", &c->seconds);
        facts_end(f);
    }
    facts_end(f);
}

// 0: not known.
static void add_estimate(struct facts *f, const char *key, const char *label, double seconds)
{
    facts_add_real(f, key, label, UNIT_MILLISECONDS, seconds > 0 ? seconds : NAN);
}

// The facts of the fastest way to run the original (0) or the result (1).
static void add_timed(struct facts *f, const struct report *r, int which)
{
    static const char *const keys[][4] = {
        {"measured_seconds_before", "layouts_before", "timed_estimate_before", "estimate_error_before"},
        {"measured_seconds_after", "layouts_after", "timed_estimate_after", "estimate_error_after"},
    };
    static const char *const labels[][4] = {
        {"one run of the original", "  its layouts", "  the sum of its steps", "  which is off the shortest run by"},
        {"one run of what was found", "  its layouts", "  the sum of its steps", "  which is off the shortest run by"},
    };
    add_sample(f, keys[which][0], labels[which][0], &r->timing.times[which]);
    facts_add_text(f, keys[which][1], labels[which][1], r->timing.layouts[which]);
    add_estimate(f, keys[which][2], labels[which][2], r->timing.estimates[which]);
    facts_add_real(f, keys[which][3], labels[which][3], UNIT_PERCENT, report_estimate_error(r, which));
}

// How far kernels that lose digits may move outputs, and do.
static void add_errors(struct facts *f, const struct report *r)
{
    static const char *const keys[] = {"before", "after"}, *const labels[] = {"the original's", "the result's"};
    facts_begin(f, FACT_GROUP, "error_budget", r->costs.allowed_error > 0 ? "Kernels that lose digits" : NULL);
    facts_add_real(f, "allowed", "outputs may move by", UNIT_NONE, r->costs.allowed_error);
    for (int i = 0; i < 2; i++) {
        facts_begin(f, FACT_LINE, keys[i], labels[i]);
        facts_add_count(f, "kernels", "kernels", r->costs.inexact[i].n_taken);
        facts_add_count(f, "taken_back", "taken back", r->costs.inexact[i].n_taken_back);
        facts_add_real(f, "error", "outputs moved by", UNIT_NONE, r->costs.within[i].difference);
        facts_add_real(f, "gain_seconds", "gain", UNIT_MILLISECONDS, r->costs.inexact[i].gain);
        facts_end(f);
    }
    facts_end(f);
}

static void add_tuned_kernels(struct facts *f, const char *key, const char *label, const struct tuning_progress *p)
{
    facts_begin(f, FACT_LINE, key, label);
    facts_add_count(f, "steps", "steps", p->n_steps);
    facts_add_count(f, "trials", "trials", p->n_tried);
    facts_add_count(f, "known_trials", "known before", p->n_recalled);
    facts_add_real(f, "seconds_before", "from", UNIT_MILLISECONDS, p->before);
    facts_add_real(f, "seconds_after", "to", UNIT_MILLISECONDS, p->now);
    facts_end(f);
}

static void add_tuned_pass(struct facts *f, const char *name, const struct pass_report *p)
{
    facts_begin(f, FACT_LINE, name, name);
    facts_add_count(f, "steps", "steps", p->n_steps);
    facts_add_count(f, "gains", "gains", p->n_gains);
    facts_add_real(f, "gain", "times as fast", UNIT_NONE, p->gain);
    facts_end(f);
}

static void add_choices_in_place(struct facts *f, const struct places_outcome *p)
{
    facts_begin(f, FACT_LINE, "in_place", "other choices in the model");
    facts_add_count(f, "steps", "steps", p->n_changed);
    facts_add_real(f, "seconds_before", "from", UNIT_MILLISECONDS, p->before);
    facts_add_real(f, "seconds_after", "to", UNIT_MILLISECONDS, p->now);
    facts_end(f);
}

// The kernels of the untuned result, then what each pass gave.
static void add_tuning(struct facts *f, const struct report *r)
{
    const struct joint_report *j = &r->tuned.passes.joint;
    if (!r->tuned.kernels.n_steps && j->before == 0)
        return;
    facts_begin(f, FACT_GROUP, "tuning", "Tuning");
    add_tuned_kernels(f, "kernels", "the original's kernels", &r->tuned.kernels);
    for (size_t i = 0; i < N_TUNED_PASSES; i++)
        if (j->of[i].n_steps)
            add_tuned_pass(f, pass_names[i], &j->of[i]);
    if (r->tuned.in_place.n_changed)
        add_choices_in_place(f, &r->tuned.in_place);
    if (r->tuned.is_timed)
        facts_add_real(f, "gain", "times as fast as untuned", UNIT_NONE, r->tuned.gain);
    facts_end(f);
}

static void add_times(struct facts *f, const struct report *r)
{
    static const char *const keys[] = {"speedup", "speedup_low", "speedup_high"};
    TEXT(date);
    text_add_date(&date, r->timing.run_of_verdict);
    facts_add_real(f, "estimated_seconds_before", "estimated for the original", UNIT_MILLISECONDS,
                   r->found.search->seconds_before);
    facts_add_real(f, "estimated_seconds_after", "estimated for what was found", UNIT_MILLISECONDS,
                   r->found.search->seconds_after);
    facts_add_text(f, "layout", "strategy of layouts", r->costs.layout_strategy);
    facts_add_real(f, "estimated_seconds_with_layouts", "  with its best layouts", UNIT_MILLISECONDS,
                   r->costs.seconds_with_layouts);
    facts_add_real(f, "layout_gap", "  better ones, not found, cost less by at most", UNIT_PERCENT,
                   r->costs.layout_gap);
    add_errors(f, r);
    add_tuning(f, r);
    facts_add_count(f, "finalists", "different results that were timed", r->found.n_finalists);
    facts_add_text(f, "preference", "search that found it, by which costs", r->found.preference);
    add_corrections(f, r);
    if (r->timing.n_timed == 0)
        return;
    facts_add_flag(f, "on_one_thread", "timed on one thread, as this machine was busy", r->timing.is_on_one_thread);
    add_contenders(f, r);
    add_timed(f, r, 0);
    if (r->timing.n_timed < 2)
        return;
    add_timed(f, r, 1);
    add_gain(f, keys, "what was found, times as fast", &r->timing.gain);
    facts_add_count(f, "loads", "  loads of both", r->timing.gain.n_loads);
    facts_add_flag(f, "interleaved", "  runs of both alternate in a load", r->timing.is_interleaved);
    if (r->timing.is_earlier)
        facts_add_text(f, "verdict_of", "  by a contest of an earlier run, which runs of now are not against",
                       date.chars);
}

// --- the check -------------------------------------------------------------------------------------------------------

static void add_outputs(struct facts *f, const char *key, const char *label, const output_comparisons *outputs)
{
    facts_begin(f, FACT_LIST, key, label);
    vec_each(outputs, o) {
        facts_begin(f, FACT_GROUP, NULL, NULL);
        facts_add_text(f, "name", "output", o->name);
        facts_add_real(f, "max_difference", "largest difference", UNIT_NONE, o->max_difference);
        facts_add_real(f, "max_magnitude", "largest value", UNIT_NONE, o->max_magnitude);
        facts_add_flag(f, "trustworthy", "neither constant nor zero", o->is_trustworthy);
        facts_add_flag(f, "equal", "within the tolerance", o->is_equal_enough);
        facts_end(f);
    }
    facts_end(f);
}

static void add_check(struct facts *f, const struct report *r)
{
    facts_add_text(f, "check", "comparison of outputs", check_verdict_name(r->check.verdict));
    facts_add_text(f, "check_reason", "because", r->check.reason);
    facts_add_real(f, "tolerance", "tolerance", UNIT_NONE, r->check.tolerance);
    add_outputs(f, "outputs", "Outputs, compared in our own executor", &r->check.outputs);
    facts_add_text(f, "runtime", "measured in", r->there.name);
    add_outputs(f, "outputs_in_runtime", "Outputs, compared in the runtime", &r->there.result.outputs);
    facts_begin(f, FACT_LIST, "outputs_not_compared", "outputs not compared");
    for (size_t i = 0; i < r->check.uncompared.count; i++)
        facts_add_text(f, NULL, NULL, r->check.uncompared.items[i].name);
    facts_end(f);
    facts_add_text(f, "never_finite_output", "output that is not finite at any inputs", r->check.never_finite);
    facts_add_text(f, "failed_output", "output at which a rewrite failed the check", r->check.failed_output);
    facts_begin(f, FACT_LIST, "failed_rules", "rules that were left out for it");
    for (size_t i = 0; i < r->check.n_failed_rules; i++)
        facts_add_text(f, NULL, NULL, r->check.failed_rules[i]);
    facts_end(f);
}

// --- the search ------------------------------------------------------------------------------------------------------

// How far the search had come, and the estimated cost of the best graph from there on: pages draw it.
static void add_trajectory(struct facts *f, const struct search_result *s)
{
    facts_begin(f, FACT_LIST, "trajectory", NULL);
    for (size_t i = 0; i < s->trajectory.count; i++) {
        facts_begin(f, FACT_GROUP, NULL, NULL);
        facts_add_count(f, "expanded", NULL, s->trajectory.items[i].expanded);
        facts_add_real(f, "elapsed", NULL, UNIT_SECONDS, s->trajectory.items[i].elapsed);
        facts_add_real(f, "estimated_seconds", NULL, UNIT_SECONDS, s->trajectory.items[i].seconds);
        facts_end(f);
    }
    facts_end(f);
}

static void add_ends(struct facts *f, const struct search_result *s)
{
    static const char *const names[][2] = {
#define END_NAME(constant, name, words) {name, words},
        SEARCH_ENDS(END_NAME)
#undef END_NAME
    };
    facts_begin(f, FACT_LIST, "ends", NULL);
    for (size_t i = 0; i < s->ends.count; i++)
        facts_add_text(f, NULL, NULL, names[s->ends.items[i]][0]);
    facts_end(f);
    facts_begin(f, FACT_LIST, "ended", "why searches ended");
    for (size_t i = 0; i < s->ends.count; i++)
        facts_add_text(f, NULL, NULL, names[s->ends.items[i]][1]);
    facts_end(f);
}

static void add_saturation(struct facts *f, const struct report *r)
{
    const struct saturation_figures *s = &r->found.search->saturation;
    const struct egraph_figures *last = &s->last;
    facts_begin(f, FACT_GROUP, "saturation", "Saturation of e-graphs");
    facts_add_text(f, "end", "the last one ended", last->end);
    facts_add_flag(f, "better", "gave the result", s->is_better);
    facts_add_count(f, "egraphs", "e-graphs", s->egraphs);
    facts_add_count(f, "rounds", "rounds of the last", last->rounds);
    facts_add_count(f, "nodes", "its e-nodes", last->nodes);
    facts_add_count(f, "classes", "its classes", last->classes);
    facts_add_count(f, "matches", "matches", s->matches);
    facts_add_count(f, "unions_made", "unions", s->unions);
    facts_add_count(f, "cycles_prevented", "applications left out as cyclic", s->cycles_prevented);
    facts_add_count(f, "cycles_resolved", "e-nodes filtered as cyclic", s->cycles_resolved);
    facts_add_count(f, "graphs_priced", "graphs priced as a whole", s->graphs_priced);
    facts_add_real(f, "extracted_seconds", "cheapest sum of e-nodes", UNIT_MILLISECONDS, last->extracted);
    facts_add_real(f, "bound_seconds", "no sum is below", UNIT_MILLISECONDS, last->bound);
    facts_add_real(f, "seconds_exploring", "exploring", UNIT_SECONDS, s->seconds_exploring);
    facts_add_real(f, "seconds_pricing", "pricing", UNIT_SECONDS, s->seconds_pricing);
    facts_add_real(f, "seconds_extracting", "extracting", UNIT_SECONDS, s->seconds_extracting);
    add_counts_of_rules(f, r, "unions", "Rules, and how many classes each united", r->found.search->unions.items,
                        r->found.search->unions.count);
    facts_end(f);
}

static void add_search(struct facts *f, const struct report *r)
{
    const struct search_result *s = r->found.search;
    facts_begin(f, FACT_GROUP, "search", "Search");
    facts_add_real(f, "seconds", "took", UNIT_SECONDS, s->statistics.seconds);
    add_ends(f, s);
#define ADD_COUNT(field, name, label) facts_add_count(f, name, label, s->statistics.field);
    SEARCH_COUNTS(ADD_COUNT)
#undef ADD_COUNT
    facts_add_count(f, "adopted", "times that a better graph was found", s->statistics.adopted);
    facts_add_count(f, "peak_queue", "longest queue", s->statistics.peak_queue);
    facts_add_count(f, "rules_refuted", "rules found wrong, and not used any more", s->refuted.count);
    add_trajectory(f, s);
    if (s->saturation.is_done)
        add_saturation(f, r);
    facts_end(f);
}

// --- the whole -------------------------------------------------------------------------------------------------------

static void add_phases(struct facts *f, const char *key, const char *label, const double *seconds)
{
    facts_begin(f, FACT_LINE, key, label);
    for (int i = 0; i < N_PHASES; i++)
        facts_add_real(f, phase_names[i], phase_names[i], UNIT_SECONDS, seconds[i]);
    facts_end(f);
}

static void add_work(struct facts *f, const struct report *r)
{
    facts_add_count(f, "constants_folded_at_import", "constants computed", r->import.folded);
    facts_add_count(f, "identities_removed", "idle nodes removed", r->import.identities);
    facts_add_count(f, "normalizations_folded", "normalizations made parts of weights", r->import.normalizations);
    add_kept(f, r);
    facts_add_count(f, "steps_measured", "costs of steps measured", r->costs.n_steps_measured);
    facts_add_real(f, "seconds_measuring", "  which took", UNIT_SECONDS, r->costs.seconds_measuring);
    facts_add_real(f, "processor_seconds_measuring", "  of processors", UNIT_SECONDS,
                   r->costs.processor_seconds_measuring);
    facts_add_bytes(f, "peak_memory_bytes", "memory at most", r->peak_memory);
    facts_add_real(f, "seconds", "time in all", UNIT_SECONDS, r->seconds);
    add_phases(f, "seconds_of", "  of this", r->phases->seconds);
    add_phases(f, "processor_seconds_of", "  of processors", r->phases->processor_seconds);
}

void report_collect(struct facts *ret_facts, const struct report *r)
{
    struct facts *f = ret_facts;
    facts_init(f);
    facts_add_text(f, "input", NULL, r->job.input);
    facts_add_text(f, "output", NULL, r->job.output);
    summary_add(f, r);
    facts_add_text(f, "command", "command", r->job.command);
    facts_add_text(f, "date", "date", r->job.date);
    facts_add_text(f, "device", "device", r->job.device);
    facts_add_count(f, "threads", "threads", (uint64_t)r->job.n_threads);
    add_files(f, r);
    report_add_symbols(f, r);
    add_rules(f, r);
    add_times(f, r);
    add_check(f, r);
    add_search(f, r);
    add_work(f, r);
    facts_end(f);
}
