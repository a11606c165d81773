// A report's facts of a model with symbolic dimensions.
#include "optimizer/report/symbols.h"

#include "core/text/text.h"
#include "optimizer/report/facts.h"
#include "optimizer/report/report.h"

static const struct onnx_node *node_of(const struct imported_model *m, const struct imported_opaque *o)
{
    return m->file->model->graph->nodes.items[o->node];
}

static const char *name_of(const struct onnx_node *n)
{
    return n->name.size ? n->name.text : "(without a name)";
}

static bool was_checked(const struct report *r)
{
    return r->check.verdict != CHECK_SKIPPED && r->bindings->n_checks > 0;
}

static void add_bindings(struct facts *f, const char *key, const char *label, const struct imported_model *m, size_t n,
                         const int64_t (*bindings)[MAX_SYMBOLS])
{
    facts_begin(f, FACT_LIST, key, label);
    for (size_t i = 0; i < n; i++) {
        facts_begin(f, FACT_GROUP, NULL, NULL);
        for (size_t j = 0; j < m->symbols.list.count; j++)
            facts_add_integer(f, m->symbols.list.items[j].name, m->symbols.list.items[j].name, bindings[i][j]);
        facts_end(f);
    }
    facts_end(f);
}

static void add_kept(struct facts *f, const struct imported_model *m)
{
    facts_begin(f, FACT_LIST, "kept", "Nodes kept for their sizes");
    vec_each(&m->opaques, o) {
        if (!o->is_kept_for_sizes)
            continue;
        facts_begin(f, FACT_GROUP, NULL, NULL);
        facts_add_text(f, "name", "node", name_of(node_of(m, o)));
        facts_add_text(f, "operator", "operator", node_of(m, o)->op_type.text);
        facts_add_text(f, "reason", "why", o->reason);
        facts_add_text(f, "symbols", "sizes of", o->symbols && *o->symbols ? o->symbols : "what it reads");
        facts_end(f);
    }
    facts_end(f);
}

void report_add_symbols(struct facts *f, const struct report *r)
{
    if (!r->model)
        return;
    facts_begin(f, FACT_GROUP, "symbols", "Symbolic dimensions");
    facts_begin(f, FACT_LIST, "names", "symbols");
    for (size_t i = 0; i < r->model->symbols.list.count; i++)
        facts_add_text(f, NULL, NULL, r->model->symbols.list.items[i].name);
    facts_end(f);
    add_bindings(f, "profiles", "Sizes that it is optimized for", r->model, r->bindings->n_profiles,
                 r->bindings->profiles);
    add_bindings(f, "checked", "Sizes that outputs were compared at", r->model,
                 was_checked(r) ? r->bindings->n_checks : 0, r->bindings->checks);
    facts_add_count(f, "rewrites_not_general", "rewrites that do not hold at all sizes", r->found.n_not_general);
    add_kept(f, r->model);
    facts_end(f);
}

// --- sizes -----------------------------------------------------------------------------------------------------------

static bool is_symbol_alone(const struct size_factor *factor, int64_t *constant, const char **ret_name,
                            const struct imported_model *m)
{
    int n = 0, last = 0;
    for (uint32_t i = 0; i < m->symbols.sizes.n_symbols; i++)
        if (factor->weights[i]) {
            last = (int)i;
            n++;
        }
    if (n != 1 || factor->constant || factor->weights[last] != 1 || *constant % factor->divisor)
        return false;
    *constant /= factor->divisor;
    *ret_name = m->symbols.list.items[last].name;
    return true;
}

static void print_sum(struct text *out, const struct imported_model *m, const struct size_factor *factor)
{
    const char *plus = "";
    text_add(out, "(");
    for (uint32_t i = 0; i < m->symbols.sizes.n_symbols; i++) {
        int64_t weight = factor->weights[i];
        if (!weight)
            continue;
        text_add(out, plus);
        if (weight != 1)
            text_printf(out, "%lld*", (long long)weight);
        text_add(out, m->symbols.list.items[i].name);
        plus = " + ";
    }
    if (factor->constant)
        text_printf(out, " %c %lld", factor->constant < 0 ? '-' : '+',
                    (long long)(factor->constant < 0 ? -factor->constant : factor->constant));
    text_add(out, ")");
    if (factor->divisor != 1)
        text_printf(out, "/%lld", (long long)factor->divisor);
}

void symbols_print_size(struct text *out, const struct imported_model *m, int64_t size)
{
    if (!sizes_varies(&m->symbols.sizes, size)) {
        text_printf(out, "%lld", (long long)size);
        return;
    }
    struct size_form form = sizes_form_of(&m->symbols.sizes, size);
    TEXT(factors);
    for (uint32_t i = 0; i < m->symbols.sizes.n_factors; i++)
        for (int power = 0; power < form.powers[i]; power++) {
            const char *name = "";
            text_add(&factors, factors.count ? "*" : "");
            if (is_symbol_alone(&m->symbols.sizes.factors[i], &form.constant, &name, m))
                text_add(&factors, name);
            else
                print_sum(&factors, m, &m->symbols.sizes.factors[i]);
        }
    if (form.constant != 1)
        text_printf(out, "%lld*", (long long)form.constant);
    text_add(out, factors.chars);
}
