// Writes TASO's protobuf messages: what its optimizer reads of operators, tensors and parameters.
#include "generator/output/export_pb.h"

#include "core/formats/wire.h"
#include "core/system/file.h"
#include "substitutions/taso_format.h"
#include <string.h>

// --- protobuf --------------------------------------------------------------------------------------------------------

typedef VEC(uint8_t) message;

static void append(void *target, const void *bytes, size_t size)
{
    message *m = target;
    for (size_t i = 0; i < size; i++)
        vec_push(m, ((const uint8_t *)bytes)[i]);
}

static struct wire_sink sink_of(message *m)
{
    return (struct wire_sink){append, m};
}

static void put_int(message *m, uint32_t field, int64_t value)
{
    struct wire_sink sink = sink_of(m);
    wire_put_key(&sink, field, WIRE_VARINT);
    wire_put_varint(&sink, (uint64_t)value);
}

static void put_message(message *m, uint32_t field, message *part)
{
    struct wire_sink sink = sink_of(m);
    wire_put_key(&sink, field, WIRE_BYTES);
    wire_put_varint(&sink, part->count);
    wire_put_bytes(&sink, part->items, part->count);
    vec_free(part);
}

static void put_parameter(message *op, int key, int64_t value)
{
    message m = {0};
    put_int(&m, 1, key);
    put_int(&m, 2, value);
    put_message(op, 3, &m);
}

// --- operators -------------------------------------------------------------------------------------------------------

static const struct attribute_value *value_of(const struct instance *in, enum attribute_role role)
{
    static const struct attribute_value none = {0};
    int i = operator_find_role(in->op, role);
    return i < 0 ? &none : &in->attributes[i];
}

static int64_t entry_or(const struct attribute_value *value, uint32_t i, int64_t standard)
{
    return i < value->count ? value->ints[i] : standard;
}

static int rank_of(const struct rule_graph *rg, reference r)
{
    if (reference_is_variable(r))
        return rg->variables[r].rank;
    if (reference_is_node(r))
        return rank_of(rg, rg->nodes[reference_node(r)].inputs[0]);
    return (int)value_of(&rg->family->leaves[r - RULE_GRAPH_CONSTANT].constant, ROLE_SHAPE)->count;
}

// The window sizes of a kernel.
static void window_of(const struct rule_graph *rg, reference r, int64_t ret_window[2])
{
    if (reference_is_variable(r)) {
        for (int i = 0; i < 2; i++)
            ret_window[i] = rg->variables[r].rank == 4 ? rg->variables[r].dim[2 + i] : 1;
        return;
    }
    const struct instance *in = reference_is_node(r) ? &rg->family->instances[rg->nodes[reference_node(r)].instance]
                                                     : &rg->family->leaves[r - RULE_GRAPH_CONSTANT].constant;
    if (in->op->id == OP_ENLARGE || !reference_is_node(r)) {
        const struct attribute_value *sizes = value_of(in, reference_is_node(r) ? ROLE_KERNEL : ROLE_SHAPE);
        for (uint32_t i = 0; i < 2; i++)
            ret_window[i] = entry_or(sizes, reference_is_node(r) ? i : 2 + i, 1);
        return;
    }
    window_of(rg, rg->nodes[reference_node(r)].inputs[0], ret_window);
}

static int padding_of(const struct instance *in, const int64_t window[2])
{
    const struct attribute_value *pad = value_of(in, ROLE_WINDOW_PADS);
    bool is_same = true, is_valid = true;
    for (uint32_t i = 0; i < 4; i++) {
        is_same = is_same && 2 * entry_or(pad, i, 0) == window[i % 2] - 1;
        is_valid = is_valid && entry_or(pad, i, 0) == 0;
    }
    return is_same ? PAD_SAME : is_valid ? PAD_VALID : PAD_OTHER;
}

static int64_t activation_of(const struct instance *in)
{
    return entry_or(value_of(in, ROLE_ACTIVATION), 0, 0) ? ACTIVATION_RELU_OF_TASO : 0;
}

static bool put_window(message *op, const struct instance *in, const int64_t window[2])
{
    const struct attribute_value *stride = value_of(in, ROLE_STRIDE);
    int padding = padding_of(in, window);
    put_parameter(op, PARAMETER_KERNEL_H, window[0]);
    put_parameter(op, PARAMETER_KERNEL_W, window[1]);
    put_parameter(op, PARAMETER_STRIDE_H, entry_or(stride, 0, 1));
    put_parameter(op, PARAMETER_STRIDE_W, entry_or(stride, 1, 1));
    put_parameter(op, PARAMETER_PAD, padding);
    put_parameter(op, PARAMETER_ACTIVATION, activation_of(in));
    return padding != PAD_OTHER && value_of(in, ROLE_DILATION)->count == 0;
}

static void put_transpose(message *op, const struct instance *in)
{
    const struct attribute_value *perm = value_of(in, ROLE_PERMUTATION);
    int64_t code = 0;
    for (uint32_t i = 0; i < perm->count; i++)
        code = code * perm->count + perm->ints[i];
    put_parameter(op, PARAMETER_NUM_DIM, perm->count);
    put_parameter(op, PARAMETER_PERM, code);
    put_parameter(op, PARAMETER_SHUFFLE, 1);
}

static bool put_parameters(message *op, const struct rule_graph *rg, const struct instance *in, const reference *inputs,
                           int taso)
{
    int64_t window[2];
    switch (taso) {
    case TASO_CONV:
        window_of(rg, inputs[1], window);
        return put_window(op, in, window);
    case TASO_POOL_MAX:
    case TASO_POOL_AVG:
        put_parameter(op, PARAMETER_OP_TYPE, taso);
        return put_window(op, in, value_of(in, ROLE_KERNEL)->ints);
    case TASO_CONCAT:
        put_parameter(op, PARAMETER_NUM_INPUTS, in->n_inputs);
        put_parameter(op, PARAMETER_AXIS, entry_or(value_of(in, ROLE_AXIS), 0, 0));
        put_parameter(op, PARAMETER_NUM_DIM, rank_of(rg, inputs[0]));
        return true;
    case TASO_SPLIT:
        put_parameter(op, PARAMETER_NUM_OUTPUTS, 2);
        put_parameter(op, PARAMETER_AXIS, entry_or(value_of(in, ROLE_AXIS), 0, 0));
        return true;
    case TASO_ENLARGE:
        put_parameter(op, PARAMETER_KERNEL_H, value_of(in, ROLE_KERNEL)->ints[0]);
        put_parameter(op, PARAMETER_KERNEL_W, value_of(in, ROLE_KERNEL)->ints[1]);
        return true;
    case TASO_MERGE:
        put_parameter(op, PARAMETER_MERGE_COUNT, value_of(in, ROLE_MERGED_GROUPS)->ints[0]);
        return true;
    case TASO_CONSTANT_ICONV:
    case TASO_CONSTANT_POOL:
        put_parameter(op, PARAMETER_KERNEL_H, entry_or(value_of(in, ROLE_SHAPE), 2, 1));
        put_parameter(op, PARAMETER_KERNEL_W, entry_or(value_of(in, ROLE_SHAPE), 3, 1));
        return true;
    case TASO_MATMUL:
        put_parameter(op, PARAMETER_ACTIVATION, activation_of(in));
        return true;
    case TASO_TRANSPOSE:
        put_transpose(op, in);
        return true;
    default:
        return true;
    }
}

// --- rules -----------------------------------------------------------------------------------------------------------

struct side {
    const struct rule_graph *rg;
    message *rule;
    unsigned field;
    int n_ops, op_of_node[MAX_RULE_GRAPH_NODES], op_of_constant[MAX_LEAVES];
};

static bool put_reference(struct side *s, reference r);

static void put_tensor(const struct side *s, message *op, reference r)
{
    message m = {0};
    int id = reference_is_variable(r) ? -1 - r
             : reference_is_node(r)   ? s->op_of_node[reference_node(r)]
                                      : s->op_of_constant[r - RULE_GRAPH_CONSTANT];
    put_int(&m, 1, id);
    put_int(&m, 2, reference_is_node(r) ? reference_output(r) : 0);
    put_message(op, 2, &m);
}

static bool put_operator(struct side *s, const struct instance *in, const reference *inputs, int *ret_op)
{
    int taso = taso_format_number(in->op);
    message op = {0};
    if (taso < 0)
        return false;
    for (int i = 0; i < in->n_inputs; i++)
        if (!put_reference(s, inputs[i]))
            return false;
    put_int(&op, 1, taso);
    for (int i = 0; i < in->n_inputs; i++)
        put_tensor(s, &op, inputs[i]);
    bool is_sayable = put_parameters(&op, s->rg, in, inputs, taso);
    put_message(s->rule, s->field, &op);
    *ret_op = s->n_ops++;
    return is_sayable;
}

// Operators stand after what they read; each once.
static bool put_reference(struct side *s, reference r)
{
    if (reference_is_variable(r))
        return true;
    if (!reference_is_node(r)) {
        int leaf = r - RULE_GRAPH_CONSTANT;
        return s->op_of_constant[leaf] >= 0 ||
               put_operator(s, &s->rg->family->leaves[leaf].constant, NULL, &s->op_of_constant[leaf]);
    }
    int node = reference_node(r);
    const struct rule_graph_node *n = &s->rg->nodes[node];
    return s->op_of_node[node] >= 0 ||
           put_operator(s, &s->rg->family->instances[n->instance], n->inputs, &s->op_of_node[node]);
}

static bool put_side(struct side *s, const struct rule_graph *rg, message *rule, unsigned field, const reference *roots)
{
    *s = (struct side){.rg = rg, .rule = rule, .field = field};
    memset(s->op_of_node, -1, sizeof s->op_of_node);
    memset(s->op_of_constant, -1, sizeof s->op_of_constant);
    for (int i = 0; i < rg->n_outputs; i++)
        if (!reference_is_node(roots[i]) || !put_reference(s, roots[i]))
            return false;
    return true;
}

static bool put_rule(message *rule, const struct rule_graph *rg)
{
    struct side source, target;
    if (!put_side(&source, rg, rule, 1, rg->source) || !put_side(&target, rg, rule, 2, rg->target))
        return false;
    for (int i = 0; i < rg->n_outputs; i++) {
        message m = {0};
        put_int(&m, 1, source.op_of_node[reference_node(rg->source[i])]);
        put_int(&m, 2, target.op_of_node[reference_node(rg->target[i])]);
        put_int(&m, 3, reference_output(rg->source[i]));
        put_int(&m, 4, reference_output(rg->target[i]));
        put_message(rule, 3, &m);
    }
    return true;
}

bool export_pb_write(const char *path, const struct candidates *c, struct error *error)
{
    message all = {0};
    if (!path)
        return true;
    for (size_t i = 0; i < c->rules.count; i++) {
        message rule = {0};
        if (c->rules.items[i].n_unified == 0 && put_rule(&rule, &c->rules.items[i].graph))
            put_message(&all, 1, &rule);
        else
            vec_free(&rule);
    }
    bool is_written = file_write_text(path, (const char *)all.items, all.count, error);
    vec_free(&all);
    return is_written;
}
