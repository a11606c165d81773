// Export's side of the table of ONNX operators: how a node of the graph is written as new ONNX nodes. Operators whose
// nodes are always constant, or never made by a rewrite, have no row.
#include "onnx/convert/export/export_rows.h"

#include "onnx/convert/export/making.h"
#include "operators/extra_operators.h"

static const struct row rows[OP_COUNT] = {
#define ONNX_OPERATOR(name, first, last, inputs, import, op, export) [OP_##op] = {name, first, make_##export},
#define EXPORTED_OPERATOR(op, name, first, export) [OP_##op] = {name, first, make_##export},
#include "onnx/convert/operators/operators.def"
};

#define FIRST_OPSET 7   // from which on anything new is written

bool make_nodes(struct exporter *x, node_id node)
{
    const struct node *n = &x->graph->nodes.items[node];
    const struct row *row = &rows[n->op->id];
    int64_t first_opset = row->first_opset < FIRST_OPSET ? FIRST_OPSET : row->first_opset;
    struct making m = {x, node, n, graph_inputs(x->graph, node), NULL};
    if (!row->make)
        return cannot_export(x, "the operator %s cannot be written as ONNX", n->op->name);
    if (x->model->opset < first_opset)
        return cannot_export(x, "the operator %s needs operator set %d", n->op->name, (int)first_opset);
    if (n->n_outputs == 1)
        m.output = name_of(x, n->first_output);
    if (n->n_inputs > 0 && !is_written_for(&m, row->onnx, input_type(&m, 0)->dtype))
        return false;
    return row->make(&m, row) && !x->failed;
}

const char *exported_operator_name(enum operator_id op)
{
    return rows[op].onnx;
}
