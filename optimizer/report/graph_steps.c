// The steps of a graph's plan as texts with seconds, and which nodes each has.
#include "optimizer/report/graph_steps.h"

#include "backends/costs/graph_cost.h"
#include "backends/planning/plan_text.h"
#include "core/text/text.h"
#include "onnx/convert/export/export.h"
#include "optimizer/limits.def"

void graph_steps_free(struct graph_steps *s)
{
    vecs_free(s, steps, values);
    arena_free(&s->arena);
}

static const char *keep_text(struct graph_steps *s, struct text *text)
{
    const char *kept = text->count ? arena_copy_array(&s->arena, text->chars, text->count + 1) : "";
    text_clear(text);
    return kept;
}

static const char *name_of_operator(const struct operator* op)
{
    const char *name = exported_operator_name(op->id);
    return name ? name : op->name;
}

static void print_kind(struct text *out, const struct plan *plan, const struct step *step)
{
    int n = 0;
    for (node_id node = step->origin.first_node; node != NO_NODE; node = plan->next_node[node]) {
        if (n++ == MOST_NAMES_OF_A_STEP) {
            text_add(out, " + ...");
            return;
        }
        text_printf(out, "%s%s", n > 1 ? " + " : "", name_of_operator(plan->graph->nodes.items[node].op));
    }
    if (n == 0)
        text_add(out, "copy");
}

static const char *layout_of_view(const struct view *v)
{
    for (enum layout layout = LAYOUT_ROWS; layout < LAYOUT_COUNT; layout++)
        if (view_has_layout(v, layout))
            return layout_name(layout);
    return "strided";
}

static void print_views(struct text *out, int n, const struct view *views)
{
    for (int i = 0; i < n; i++)
        text_printf(out, "%s%s", i ? ", " : "", layout_of_view(&views[i]));
}

static void print_layouts(struct text *out, const struct step *step)
{
    if (step->n_results == 0)
        return;
    print_views(out, step->n_operands, step->operands);
    text_add(out, " -> ");
    print_views(out, step->n_results, step->results);
}

static void add_step(void *context, const struct plan *plan, const struct step *step, const struct step_cost *cost)
{
    struct graph_steps *s = context;
    TEXT(text);
    struct step_summary summary = {.seconds = cost->seconds, .first_value = s->values.count};
    print_kind(&text, plan, step);
    summary.kind = keep_text(s, &text);
    print_layouts(&text, step);
    summary.layouts = keep_text(s, &text);
    step_print(&text, plan, step);
    summary.text = keep_text(s, &text);
    for (node_id n = step->origin.first_node; n != NO_NODE; n = plan->next_node[n])
        vec_push(&s->values, plan->graph->tensors.items[plan->graph->nodes.items[n].first_output].value);
    summary.n_values = s->values.count - summary.first_value;
    vec_push(&s->steps, summary);
}

bool graph_steps_collect(struct graph_steps *s, struct backend *b, const struct graph *g, struct error *error)
{
    return backend_visit_steps(b, g, add_step, s, error);
}
