// What a report says of a model with symbolic dimensions.
#include "core/text/text.h"
#include "optimizer/report/report.h"
#include <inttypes.h>

#define MOST_SHOWN 8

static const struct onnx_node *node_of(const struct imported_model *m, const struct imported_opaque *o)
{
    return m->file->model->graph->nodes.items[o->node];
}

static const char *name_of(const struct onnx_node *n)
{
    return n->name.size ? n->name.text : "(without a name)";
}

// What is kept as its inputs are has no sizes of its own to name.
static const char *symbols_of(const struct imported_opaque *o)
{
    return o->symbols && *o->symbols ? o->symbols : "what it reads";
}

static size_t count_kept(const struct imported_model *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->opaques.count; i++)
        n += m->opaques.items[i].is_kept_for_sizes;
    return n;
}

static bool was_checked(const struct report *r)
{
    return r->verdict != CHECK_SKIPPED && r->bindings->n_checks > 0;
}

// --- for a person ----------------------------------------------------------------------------------------------------

static void print_bindings(struct text *out, const char *label, const struct imported_model *m, size_t n,
                           const int64_t (*bindings)[MAX_SYMBOLS])
{
    text_add(out, label);
    for (size_t i = 0; i < n; i++) {
        text_add(out, i ? "; " : "");
        profile_print(out, m, bindings[i]);
    }
    text_add(out, "\n");
}

static void print_kept(struct text *out, const struct imported_model *m)
{
    size_t n_shown = 0;
    for (size_t i = 0; i < m->opaques.count && n_shown < MOST_SHOWN; i++) {
        const struct imported_opaque *o = &m->opaques.items[i];
        if (!o->is_kept_for_sizes)
            continue;
        text_add(out, "  ");
        text_add_shown(out, name_of(node_of(m, o)));
        text_add(out, " (");
        text_add_shown(out, node_of(m, o)->op_type.text);
        text_add(out, "): ");
        text_add_shown(out, o->reason);
        text_add(out, " (sizes of ");
        text_add_shown(out, symbols_of(o));
        text_add(out, ")\n");
        n_shown++;
    }
}

void report_print_symbols(struct text *out, const struct report *r)
{
    if (!r->model)
        return;
    print_bindings(out, "symbolic dimensions      kept; optimized for ", r->model, r->bindings->n_profiles,
                   r->bindings->profiles);
    if (was_checked(r))
        print_bindings(out, "                         checked at ", r->model, r->bindings->n_checks,
                       r->bindings->checks);
    if (count_kept(r->model) > 0)
        text_printf(out, "kept for their sizes     %zu nodes\n", count_kept(r->model));
    print_kept(out, r->model);
}

// --- JSON ------------------------------------------------------------------------------------------------------------

static void add_bindings(struct text *out, const char *key, const struct imported_model *m, size_t n,
                         const int64_t (*bindings)[MAX_SYMBOLS])
{
    text_printf(out, ", \"%s\": [", key);
    for (size_t i = 0; i < n; i++) {
        text_add(out, i ? ", {" : "{");
        for (size_t j = 0; j < m->symbols.count; j++) {
            text_add(out, j ? ", " : "");
            text_add_json(out, m->symbols.items[j].name);
            text_printf(out, ": %" PRId64, bindings[i][j]);
        }
        text_add(out, "}");
    }
    text_add(out, "]");
}

static void add_kept(struct text *out, const struct imported_model *m)
{
    bool is_first = true;
    text_add(out, ", \"kept\": [");
    for (size_t i = 0; i < m->opaques.count; i++) {
        const struct imported_opaque *o = &m->opaques.items[i];
        if (!o->is_kept_for_sizes)
            continue;
        text_add(out, is_first ? "{\"name\": " : ", {\"name\": ");
        text_add_json(out, name_of(node_of(m, o)));
        text_add(out, ", \"operator\": ");
        text_add_json(out, node_of(m, o)->op_type.text);
        text_add(out, ", \"reason\": ");
        text_add_json(out, o->reason);
        text_add(out, ", \"symbols\": ");
        text_add_json(out, symbols_of(o));
        text_add(out, "}");
        is_first = false;
    }
    text_add(out, "]");
}

void report_print_symbols_json(struct text *out, const struct report *r)
{
    if (!r->model)
        return;
    text_add(out, ", \"symbols\": {\"names\": [");
    for (size_t i = 0; i < r->model->symbols.count; i++) {
        text_add(out, i ? ", " : "");
        text_add_json(out, r->model->symbols.items[i].name);
    }
    text_add(out, "]");
    add_bindings(out, "profiles", r->model, r->bindings->n_profiles, r->bindings->profiles);
    add_bindings(out, "checked", r->model, was_checked(r) ? r->bindings->n_checks : 0, r->bindings->checks);
    text_printf(out, ", \"rewrites_not_general\": %" PRIu64, r->n_not_general);
    add_kept(out, r->model);
    text_add(out, "}");
}
