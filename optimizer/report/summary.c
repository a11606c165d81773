// Each line is a function of the report; a line that has nothing to say is left out.
#include "optimizer/report/summary.h"

#include "core/text/text.h"
#include "optimizer/limits.def"
#include "optimizer/report/facts.h"
#include "optimizer/report/report.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

// --- where it was seen -----------------------------------------------------------------------------------------------

static const char *file_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

// "onnxruntime 1.32.0 CPUExecutionProvider" is "ONNX Runtime 1.32".
static void print_name_of_runtime(struct text *out, const char *name)
{
    const char *version = name + strlen("onnxruntime "), *provider = strchr(version, ' ');
    size_t n = provider ? (size_t)(provider - version) : strlen(version);
    if (strncmp(name, "onnxruntime ", strlen("onnxruntime ")) != 0) {
        text_printf(out, "the command %s", name);
        return;
    }
    text_add(out, "ONNX Runtime ");
    text_add_n(out, version, n > 2 && strncmp(version + n - 2, ".0", 2) == 0 ? n - 2 : n);
    if (provider && strcmp(provider, " CPUExecutionProvider") != 0)
        text_printf(out, " (%s)", provider + 1);
}

static void print_place(struct text *out, const struct report *r)
{
    text_add(out, " in ");
    if (r->there.name)
        print_name_of_runtime(out, r->there.name);
    else
        text_add(out, r->job.is_on_gpu ? "our own executor on the GPU" : "our own executor");
    if (!r->job.is_on_gpu)
        text_printf(out, ", %d thread%s", r->job.n_threads, plural_ending((uint64_t)r->job.n_threads));
    if (!r->there.name && r->kept.count)
        text_add(out, ", without the nodes that are not understood");
    for (size_t i = 0; r->model && i < r->bindings->n_profiles; i++) {
        text_add(out, i ? " and " : ", at ");
        profile_print(out, r->model, r->bindings->profiles[i]);
    }
}

static void print_interval(struct text *out, const struct ratio_summary *gain)
{
    text_printf(out, "%.2f to %.2f", gain->low, gain->high);
}

// --- the headline ----------------------------------------------------------------------------------------------------

static void print_gain(struct text *out, const struct report *r, const struct ratio_summary *gain)
{
    text_printf(out, "%.2f x faster (", gain->ratio);
    print_interval(out, gain);
    text_add(out, ")");
    print_place(out, r);
}

static bool is_as_fast(const struct ratio_summary *gain)
{
    return gain->low >= 1 - LARGEST_EQUAL_DIFFERENCE && gain->high <= 1 + LARGEST_EQUAL_DIFFERENCE;
}

// A gain that the two digits behind the point do not show is none to speak of, and a wide interval with 1 in it says
// nothing of equal times.
static void print_measured(struct text *out, const struct report *r, const struct ratio_summary *gain)
{
    if (ratio_is_a_gain(gain) && gain->ratio >= LEAST_SHOWN_GAIN) {
        print_gain(out, r, gain);
        return;
    }
    text_add(out, is_as_fast(gain) ? "as fast as before (" : "no difference in time to be told (");
    print_interval(out, gain);
    text_add(out, " x)");
    print_place(out, r);
}

static void print_optimized(struct text *out, const struct report *r)
{
    double before = report_estimate(r, 0), after = report_estimate(r, 1);
    if (r->timing.n_timed == 2)
        print_measured(out, r, &r->timing.gain);
    else if (isfinite(before) && isfinite(after) && after > 0)
        text_printf(out, "rewritten, not measured: its steps cost %.2f x less %s", before / after,
                    r->job.is_computed ? "by made-up costs" : "when each runs alone");
    else
        text_add(out, "rewritten, not measured");
}

static bool has_been_beaten(const struct report *r)
{
    return r->timing.n_timed == 2 && !r->timing.is_faster && r->timing.gain.n_loads > 0;
}

static void print_kept(struct text *out, const struct report *r)
{
    if (r->written.is_simplified) {
        text_add(out, "only simplified, ");
        if (r->there.simplified.is_timed)
            print_measured(out, r, &r->there.simplified.times.gain);
        else
            text_add(out, "not measured");
    } else if (has_been_beaten(r)) {
        text_add(out, "not made faster: what was found runs ");
        print_interval(out, &r->timing.gain);
        text_add(out, " times as fast");
        print_place(out, r);
    } else {
        text_printf(out, "unchanged, because %s", r->written.kept_reason);
    }
}

// The comparison that speaks of what was written, where it was made: the runtime's, which reads both files.
static const output_comparisons *comparison_of(const struct report *r)
{
    const output_comparisons *none = NULL;
    if (!r->written.is_optimized)
        return r->written.is_simplified && r->there.simplified.outputs.count ? &r->there.simplified.outputs : none;
    return r->there.result.outputs.count ? &r->there.result.outputs : r->check.outputs.count ? &r->check.outputs : none;
}

// "3e-7"
static void print_short(struct text *out, double value)
{
    int exponent = (int)floor(log10(value));
    double digit = ceil(value / pow(10, exponent) - 1e-9);
    text_printf(out, "%.0fe%d", digit < 10 ? digit : 1, digit < 10 ? exponent : exponent + 1);
}

static void print_agreement(struct text *out, const struct report *r)
{
    const output_comparisons *outputs = comparison_of(r);
    double worst = -1;
    if (!r->written.is_optimized && !r->written.is_simplified)
        return;
    for (size_t i = 0; outputs && i < outputs->count; i++)
        if (outputs->items[i].is_trustworthy)
            worst = fmax(worst, relative_difference(&outputs->items[i]));
    text_add(out, "; ");
    if (!outputs)
        text_add(out, "outputs not compared");
    else if (worst < 0)
        text_add(out, "outputs are constant or not finite, which says nothing");
    else if (worst == 0)
        text_add(out, "outputs are equal");
    else {
        text_add(out, "outputs agree to ");
        print_short(out, worst);
    }
    if (outputs == &r->check.outputs && r->check.uncompared.count > 0)
        text_printf(out, ", but for %zu that cannot be compared", r->check.uncompared.count);
}

static bool is_refused(const struct report *r)
{
    return r->written.is_optimized && r->check.verdict == CHECK_FAILED;
}

static void print_headline(struct text *out, const struct report *r)
{
    text_printf(out, "%s: ", file_name_of(r->job.input));
    if (is_refused(r)) {
        text_add(out, "nothing is written, because the outputs of the optimized model differ");
        return;
    }
    if (r->written.is_optimized)
        print_optimized(out, r);
    else
        print_kept(out, r);
    if (r->written.is_compiled)
        text_printf(out, "; compiled from %zu node%s", r->written.nodes_before, plural_ending(r->written.nodes_before));
    else if (!r->written.is_optimized && !r->written.is_simplified)
        text_printf(out, "; %zu node%s", r->written.nodes_before, plural_ending(r->written.nodes_before));
    else
        text_printf(out, "; %zu → %zu nodes", r->written.nodes_before, r->written.nodes_after);
    print_agreement(out, r);
}

// --- lines -----------------------------------------------------------------------------------------------------------

static double mebibytes(size_t bytes)
{
    return (double)bytes / 1048576;
}

static void print_bytes(struct text *out, size_t bytes)
{
    if (bytes >= 1 << 20)
        text_printf(out, "%.1f MiB", mebibytes(bytes));
    else if (bytes >= 1 << 10)
        text_printf(out, "%.1f KiB", (double)bytes / 1024);
    else
        text_printf(out, "%zu bytes", bytes);
}

static void print_weights(struct text *out, const struct report *r)
{
    text_add(out, "; weights ");
    print_bytes(out, r->written.bytes_before);
    if (r->written.bytes_before == r->written.bytes_after)
        return;
    text_add(out, " → ");
    print_bytes(out, r->written.bytes_after);
}

static void print_written(struct text *out, const struct report *r)
{
    bool is_to_pipe = r->job.output && strcmp(r->job.output, "-") == 0;
    if (!r->job.output)
        text_add(out, "nothing, as no file was named (-o)");
    else if (is_refused(r))
        text_add(out, "nothing");
    else
        text_add(out, is_to_pipe ? "to standard output" : r->job.output);
    if (!r->job.output || is_refused(r))
        return;
    if (!r->written.is_optimized)
        text_add(out, r->written.is_simplified ? ": the original, simplified" : ": the original");
    if (!r->written.is_optimized && (r->written.is_simplified || has_been_beaten(r)))
        text_printf(out, ", because %s", r->written.kept_reason);
    if (r->written.is_compiled)
        text_add(out, ", compiled for our own executor");
    else
        print_weights(out, r);
}

struct change {
    const char *name;
    size_t before, after;
};

static size_t find_count(const struct node_types *types, const char *name)
{
    const struct node_type *found = vec_find(types, t, strcmp(t->name, name) == 0);
    return found ? found->n : 0;
}

static size_t distance(const struct change *c)
{
    return c->before > c->after ? c->before - c->after : c->after - c->before;
}

// The largest change first, then the largest number.
COMPARISON(compare_changes, struct change,
           ORDER(distance(y), distance(x)) ?: ORDER(y->before, x->before) ?: strcmp(x->name, y->name))

static void print_changes(struct text *out, const struct change *changes, size_t n)
{
    size_t n_shown = n < MOST_TYPES ? n : MOST_TYPES;
    for (size_t i = 0; i < n_shown; i++) {
        const struct change *c = &changes[i];
        text_printf(out, "%s%s %zu", i ? ", " : "", c->name, c->before);
        if (c->before != c->after)
            text_printf(out, " → %zu", c->after);
    }
    if (n > n_shown)
        text_printf(out, ", and %zu other type%s%s", n - n_shown, plural_ending(n - n_shown),
                    distance(&changes[n_shown]) == 0 ? " as before" : "");
}

static void print_nodes(struct text *out, const struct report *r)
{
    const struct node_types *before = &r->written.types[0], *after = &r->written.types[1];
    LOCAL_VEC(struct change, changes);
    if (r->written.is_compiled || is_refused(r))
        return;
    for (size_t i = 0; i < before->count; i++) {
        const char *name = before->items[i].name;
        vec_push(&changes, ((struct change){name, before->items[i].n, find_count(after, name)}));
    }
    for (size_t i = 0; i < after->count; i++)
        if (find_count(before, after->items[i].name) == 0)
            vec_push(&changes, ((struct change){after->items[i].name, 0, after->items[i].n}));
    vec_sort(&changes, compare_changes);
    print_changes(out, changes.items, changes.count);
}

static void print_not_understood(struct text *out, const struct report *r)
{
    size_t n_shown = 0, n = report_kept_nodes(r);
    if (n == 0)
        return;
    text_printf(out, "%zu node%s, kept as %s: ", n, plural_ending(n), n == 1 ? "it is" : "they are");
    for (size_t i = 0; i < r->kept.count && i < MOST_REASONS; i++) {
        const struct kept_operator *k = &r->kept.items[i];
        text_printf(out, "%s%zu %s (%s)", i ? ", " : "", k->n_nodes, k->name, k->reason);
        n_shown += k->n_nodes;
    }
    if (n > n_shown)
        text_printf(out, ", and %zu more", n - n_shown);
}

// A time of less than a hundredth of a millisecond would be told by zeros.
static void print_time(struct text *out, double seconds)
{
    text_printf(out, seconds < 1e-5 ? "%.2f µs" : "%.3f ms", seconds * (seconds < 1e-5 ? 1e6 : 1e3));
}

static void print_both_times(struct text *out, const struct report *r, double before, double after)
{
    print_time(out, before);
    text_add(out, " → ");
    print_time(out, after);
    text_add(out, r->written.is_optimized ? "" : ", which is not kept");
}

static void print_one_run(struct text *out, const struct report *r)
{
    double before = report_estimate(r, 0), after = report_estimate(r, 1);
    if (r->timing.n_timed == 2) {
        print_both_times(out, r, r->timing.times[0].median, r->timing.times[1].median);
        text_printf(out, ": medians of %zu and %zu runs by turns%s, in %zu load%s", r->timing.times[0].count,
                    r->timing.times[1].count, r->timing.is_earlier ? " now; before" : "", r->timing.gain.n_loads,
                    plural_ending(r->timing.gain.n_loads));
        if (r->timing.is_earlier) {
            text_add(out, " of ");
            text_add_date(out, r->timing.run_of_verdict);
        }
        text_printf(out, "%s the 95 %% interval of the ratio is %.3f to %.3f", r->timing.is_earlier ? "," : ";",
                    r->timing.gain.low, r->timing.gain.high);
    } else if (r->timing.n_timed == 1) {
        print_time(out, r->timing.times[0].median);
        text_printf(out, ": median of %zu runs of the original in our own executor", r->timing.times[0].count);
    } else if (r->found.search->steps.count && isfinite(before) && isfinite(after)) {
        print_both_times(out, r, before, after);
        text_printf(out, ", by %s%s",
                    r->job.is_computed ? "made-up costs, of no machine" : "the sum of what steps take alone",
                    r->kept.count ? ", without the nodes that are not understood" : "");
    }
}

static void print_rewrites(struct text *out, const struct report *r)
{
    size_t n_rules = 0, n_all = r->found.rules->rules.count;
    LOCAL_ARRAY(uint64_t, counts, n_all + 1);
    report_count_applications(r, counts);
    for (size_t i = 0; i < n_all; i++)
        n_rules += counts[i] > 0;
    if (r->found.search->steps.count)
        text_printf(out, "%zu, by %zu rule%s%s (--explain lists them)", r->found.search->steps.count, n_rules,
                    plural_ending(n_rules), r->written.is_optimized ? "" : ", none of which is kept");
    else
        text_add(out, "none");
    uint64_t n_checked = r->found.search->steps.count - report_applications(r, rule_claims_proof);
    if (n_checked)
        text_printf(out, "; %" PRIu64 " application%s of rules that are checked and not proved", n_checked,
                    plural_ending(n_checked));
    if (r->found.n_rules_left_out)
        text_printf(out, "; %zu rule%s not used, as this build does not know %s as proved", r->found.n_rules_left_out,
                    plural_ending(r->found.n_rules_left_out), r->found.n_rules_left_out == 1 ? "it" : "them");
    for (size_t i = 0; i < r->found.search->refuted.count; i++)
        text_printf(out, "%s%s",
                    i ? ", " : "; REFUTED and not used any more: ", r->found.search->refuted.items[i]->name);
}

static void print_bindings(struct text *out, const struct report *r, size_t n, const int64_t (*bindings)[MAX_SYMBOLS])
{
    for (size_t i = 0; i < n; i++) {
        text_add(out, i == 0 ? "" : i + 1 < n ? "; " : " and ");
        profile_print(out, r->model, bindings[i]);
    }
}

static void print_sizes(struct text *out, const struct report *r)
{
    if (!r->model)
        return;
    for (size_t i = 0; i < r->model->symbols.list.count; i++)
        text_printf(out, "%s%s", i ? ", " : "", r->model->symbols.list.items[i].name);
    text_printf(out, " stay%s symbolic; optimized for ", r->model->symbols.list.count == 1 ? "s" : "");
    print_bindings(out, r, r->bindings->n_profiles, r->bindings->profiles);
    if (r->check.verdict == CHECK_SKIPPED || r->bindings->n_checks == 0)
        return;
    text_add(out, "; outputs compared at ");
    print_bindings(out, r, r->bindings->n_checks, r->bindings->checks);
}

static void print_worst_outputs(struct text *out, const output_comparisons *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (!outputs->items[i].is_equal_enough || !outputs->items[i].is_trustworthy) {
            const struct output_comparison *o = &outputs->items[i];
            text_printf(out, "; %s ", o->name ? o->name : "an output");
            if (o->is_trustworthy)
                text_printf(out, "DIFFERS by %.1e of its largest value", relative_difference(o));
            else
                text_add(out, "is constant, zero or not finite, which says nothing");
        }
}

static void print_uncompared(struct text *out, const struct report *r)
{
    for (size_t i = 0; i < r->check.uncompared.count; i++)
        text_printf(out, "%s%s", i ? ", " : "; not compared, as they have no numbers of known sizes: ",
                    r->check.uncompared.items[i].name);
}

static void print_check(struct text *out, const struct report *r)
{
    const output_comparisons *theirs = &r->there.result.outputs;
    if (r->found.search->steps.count == 0)
        return;
    text_add(out, check_verdict_name(r->check.verdict));
    if (r->check.reason)
        text_printf(out, ": %s", r->check.reason);
    else
        text_printf(out, ": outputs may differ by %.0e of their largest value in our own executor", r->check.tolerance);
    print_worst_outputs(out, &r->check.outputs);
    if (theirs->count) {
        text_add(out, "; the two files were compared in ");
        if (r->there.name)
            print_name_of_runtime(out, r->there.name);
        else
            text_add(out, "the runtime, where the time was over before they were timed");
        print_worst_outputs(out, theirs);
    }
    print_uncompared(out, r);
}

static void print_simplifying(struct text *out, const struct report *r)
{
    if (!r->written.is_optimized && r->written.not_simplified)
        text_printf(out, "the original could be, but %s", r->written.not_simplified);
}

static void print_tuned_kernels(struct text *out, const struct tuning_progress *p)
{
    text_printf(out, "%zu step%s of the untuned result from %.3f to %.3f ms, by %zu trial%s and %zu known before; ",
                p->n_steps, plural_ending(p->n_steps), p->before * 1e3, p->now * 1e3, p->n_tried,
                plural_ending(p->n_tried), p->n_recalled);
}

static void print_tuned_passes(struct text *out, const struct passes_report *p)
{
    for (size_t i = 0; i < N_TUNED_PASSES; i++)
        if (p->joint.of[i].n_steps)
            text_printf(out, "%s %.3f x in %zu step%s; ", pass_names[i], p->joint.of[i].gain, p->joint.of[i].n_steps,
                        plural_ending(p->joint.of[i].n_steps));
}

static void print_tuned(struct text *out, const struct report *r)
{
    if (r->tuned.kernels.n_steps)
        print_tuned_kernels(out, &r->tuned.kernels);
    print_tuned_passes(out, &r->tuned.passes);
    if (out->count && !r->tuned.is_timed)
        text_add(out, "not timed as a whole");
    else if (out->count && r->tuned.gain > 0)
        text_printf(out, "%.3f x as a whole", r->tuned.gain);
    else if (out->count)
        text_add(out, "given up as the whole is not faster");
}

static void print_took(struct text *out, const struct report *r)
{
    text_printf(out, "%.1f s", r->seconds);
    for (int i = 0, n = 0; i < N_PHASES; i++)
        if (r->phases->seconds[i] > LONG_SHARE * r->seconds && r->phases->seconds[i] >= 0.05)
            text_printf(out, "%s%s %.1f", n++ ? ", " : ": ", phase_names[i], r->phases->seconds[i]);
    text_printf(out, "; %.0f MiB of memory at most", mebibytes(r->peak_memory));
}

static const struct line {
    const char *key, *label;
    void (*print)(struct text *out, const struct report *r);
} lines[] = {
    {"written", "wrote", print_written},
    {"nodes", "nodes", print_nodes},
    {"not_understood", "not understood", print_not_understood},
    {"one_run", "one run", print_one_run},
    {"rewrites", "rewrites", print_rewrites},
    {"sizes", "sizes", print_sizes},
    {"check", "check", print_check},
    {"simplifying", "simplifying", print_simplifying},
    {"tuned", "tuned", print_tuned},
    {"took", "took", print_took},
};

static void add_line(struct facts *f, const struct line *line, const struct report *r)
{
    TEXT(text);
    line->print(&text, r);
    if (text.count)
        facts_add_text(f, line->key, line->label, text.chars);
}

void summary_add(struct facts *f, const struct report *r)
{
    TEXT(headline);
    print_headline(&headline, r);
    facts_add_text(f, "headline", NULL, headline.chars);
    facts_begin(f, FACT_GROUP, "summary", NULL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        add_line(f, &lines[i], r);
    facts_end(f);
}
