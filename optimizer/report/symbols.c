// What a report says of a model with symbolic dimensions.
#include "core/text/json.h"
#include "core/text/text.h"
#include "optimizer/report/report.h"

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
        text_printf(out, "kept for their sizes     %zu node%s\n", count_kept(r->model),
                    plural_ending(count_kept(r->model)));
    print_kept(out, r->model);
}

// --- JSON ------------------------------------------------------------------------------------------------------------

static void add_bindings(struct text *out, const char *key, const struct imported_model *m, size_t n,
                         const int64_t (*bindings)[MAX_SYMBOLS])
{
    json_begin(out, key, '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(out, NULL, '{');
        for (size_t j = 0; j < m->symbols.count; j++)
            json_add_integer(out, m->symbols.items[j].name, bindings[i][j]);
        json_end(out, '}');
    }
    json_end(out, ']');
}

static void add_kept(struct text *out, const struct imported_model *m)
{
    json_begin(out, "kept", '[');
    for (size_t i = 0; i < m->opaques.count; i++) {
        const struct imported_opaque *o = &m->opaques.items[i];
        if (!o->is_kept_for_sizes)
            continue;
        json_begin(out, NULL, '{');
        json_add_string(out, "name", name_of(node_of(m, o)));
        json_add_string(out, "operator", node_of(m, o)->op_type.text);
        json_add_string(out, "reason", o->reason);
        json_add_string(out, "symbols", symbols_of(o));
        json_end(out, '}');
    }
    json_end(out, ']');
}

void report_print_symbols_json(struct text *out, const struct report *r)
{
    if (!r->model)
        return;
    json_begin(out, "symbols", '{');
    json_begin(out, "names", '[');
    for (size_t i = 0; i < r->model->symbols.count; i++)
        json_add_string(out, NULL, r->model->symbols.items[i].name);
    json_end(out, ']');
    add_bindings(out, "profiles", r->model, r->bindings->n_profiles, r->bindings->profiles);
    add_bindings(out, "checked", r->model, was_checked(r) ? r->bindings->n_checks : 0, r->bindings->checks);
    json_add_count(out, "rewrites_not_general", r->n_not_general);
    add_kept(out, r->model);
    json_end(out, '}');
}
