// Names of the nodes that were made, each once, and the rules that made them as metadata.
#include "onnx/convert/export/node_names.h"

#include "onnx/convert/export/export_nodes.h"
#include "onnx/convert/export/value_names.h"
#include "onnx/format/visit.h"

// The name of the node that it came from, if that had one and nobody has it.
static bool takes_name_of_origin(struct exporter *x, struct onnx_node *made, uint32_t origin)
{
    if (origin >= source_of(x)->nodes.count)
        return false;
    const struct onnx_node *source = source_node(x, origin);
    if (!source->name.size || !onnx_string_is(&source->op_type, made->op_type.text) ||
        !name_set_add(&x->node_names, source->name.text))
        return false;
    made->name = source->name;
    return true;
}

// A node is named by what it makes, as values have one name each.
static void name_by_output(struct exporter *x, struct onnx_node *made)
{
    const char *output = made->outputs.count ? made->outputs.items[0].text : "";
    const char *name = arena_printf(x->arena, "taso/%s/%s", made->op_type.text, output);
    if (name_set_add(&x->node_names, name))
        set_name(&made->name, name);
}

static void tell_rule(struct exporter *x, struct onnx_node *made, uint32_t origin)
{
    uint32_t number = origin & ~ORIGIN_OF_RULES;
    if (origin < ORIGIN_OF_RULES || number >= x->model->n_rule_names)
        return;
    struct onnx_entry *entry = arena_new(x->arena, struct onnx_entry);
    set_name(&entry->key, "taso.rule");
    set_name(&entry->value, x->model->rule_names[number]);
    made->metadata = (struct onnx_list){arena_array(x->arena, void *, 1), 1};
    made->metadata.items[0] = entry;
}

void name_made_nodes(struct exporter *x)
{
    for (size_t i = 0; i < x->nodes.count; i++) {
        const struct emitted *e = &x->nodes.items[i];
        uint32_t origin = e->order < x->graph->nodes.count ? x->graph->nodes.items[e->order].origin : NO_ORIGIN;
        if (!e->is_made)
            continue;
        if (!takes_name_of_origin(x, e->node, origin))
            name_by_output(x, e->node);
        tell_rule(x, e->node, origin);
    }
}
