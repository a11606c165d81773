// The report as JSON.
#include "optimizer/report/report.h"

#include "core/text/json.h"
#include "core/text/text.h"
#include <math.h>

static void add_operators(struct text *out, const char *key, const struct graph *g)
{
    size_t counts[OP_COUNT];
    report_count_operators(g, counts);
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

// 0: not known.
static void add_estimate(struct text *out, const char *key, double seconds)
{
    json_add_real(out, key, seconds > 0 ? seconds : NAN);
}

static void add_errors(struct text *out, const struct report *r)
{
    static const char *const keys[] = {"before", "after"};
    json_begin(out, "error_budget", '{');
    json_add_real(out, "allowed", r->allowed_error);
    for (int i = 0; i < 2; i++) {
        json_begin(out, keys[i], '{');
        json_add_count(out, "kernels", r->errors[i].n_inexact);
        json_add_count(out, "refused", r->errors[i].n_refused);
        json_add_real(out, "error", r->errors[i].error);
        json_add_real(out, "gain_seconds", r->errors[i].gain);
        json_end(out, '}');
    }
    json_end(out, '}');
}

static void add_times(struct text *out, const struct report *r)
{
    json_add_real(out, "estimated_seconds_before", r->search->seconds_before);
    json_add_real(out, "estimated_seconds_after", r->search->seconds_after);
    json_add_string(out, "layout", r->layout_strategy);
    json_add_real(out, "estimated_seconds_with_layouts", r->seconds_with_layouts);
    json_add_real(out, "layout_gap", r->layout_gap);
    add_errors(out, r);
    json_add_count(out, "finalists", r->n_finalists);
    json_add_string(out, "slant", r->slant);
    add_corrections(out, r);
    if (r->n_timed == 0)
        return;
    add_contenders(out, r);
    add_summary(out, "measured_seconds_before", &r->times[0]);
    json_add_string(out, "layouts_before", r->layouts[0]);
    add_estimate(out, "timed_estimate_before", r->estimates[0]);
    json_add_real(out, "estimate_error_before", report_estimate_error(r, 0));
    if (r->n_timed < 2)
        return;
    add_summary(out, "measured_seconds_after", &r->times[1]);
    json_add_string(out, "layouts_after", r->layouts[1]);
    add_estimate(out, "timed_estimate_after", r->estimates[1]);
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
    json_add_string(out, "check", check_verdict_name(r->verdict));
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
    json_add_count(out, "opaque_nodes", report_kept_nodes(r));
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
