// Which row types an opaque node, by its operator's name and domain; and what rows ask.
#include "onnx/convert/opaque/opaque_types.h"

#include "onnx/convert/operators/converters.h"

#include <string.h>

bool has_subgraphs(const struct onnx_node *n)
{
    return ONNX_FIND(struct onnx_attribute, a, &n->attributes, a->g || a->graphs.count);
}

const struct type *known_input(const struct conversion *c, uint32_t input)
{
    tensor_id tensor = input_of(c, input);
    const struct type *t = tensor == NO_TENSOR ? NULL : type_of(c, tensor);
    return t && type_is_known(t) ? t : NULL;
}

struct type without_splits(const struct type *t)
{
    return type_make(t->dtype, t->rank, t->dim);
}

void set_type(const struct conversion *c, struct type *types, uint32_t output, struct type type)
{
    if (output < c->n_outputs)
        types[output] = type;
}

bool constant_sizes(struct conversion *c, uint32_t input, struct integers *ret_sizes)
{
    return constant_ints(c, input_of(c, input), MAX_RANK, ret_sizes) &&
           ALL(uint32_t, i, ret_sizes->count, ret_sizes->items[i] >= 0 && ret_sizes->items[i] <= MAX_ELEMENTS);
}

bool constant_size(struct conversion *c, uint32_t input, int64_t *ret_size)
{
    struct integers sizes;
    bool is_known = constant_sizes(c, input, &sizes) && sizes.count == 1;
    *ret_size = is_known ? sizes.items[0] : -1;
    return is_known;
}

// A row may say that it cannot, which is no reason for anything.
static void infer_by_rows(enum typing_domain domain, struct conversion *c, struct type *ret_types)
{
    static const struct typing *const tables[] = {typings_of_shapes, typings_of_subgraphs};
    const struct type *x = known_input(c, 0);
    char reason[sizeof c->reason];
    memcpy(reason, c->reason, sizeof reason);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct typing *row = tables[i]; row->names; row++)
            if (row->domain == domain && (x || row->needs_no_input) &&
                onnx_words_have(row->names, c->node->op_type.text))
                row->infer(c, x, ret_types);
    memcpy(c->reason, reason, sizeof reason);
}

// Operators of ONNX Runtime that have the name of one of ONNX's that works entry by entry do so, too.
static bool is_called_as_a_function_of_entries(const struct onnx_node *node)
{
    const struct converter *same = converter_find(node->op_type.text);
    const struct operator* op = !same || same->parameter >= OP_COUNT ? NULL : operators[same->parameter];
    return op && op->flags & OPERATOR_IS_ELEMENTWISE && operator_most_inputs(op) == 1;
}

// A function of the model may have the name of a runtime's operator.
void infer_opaque_types(struct conversion *c, struct type *ret_types)
{
    if (onnx_node_has_standard_domain(c->node))
        infer_by_rows(STANDARD, c, ret_types);
    else if (onnx_string_is(&c->node->domain, "com.microsoft") &&
             !onnx_function_called_by(c->model->file->model, c->node)) {
        infer_by_rows(MICROSOFT, c, ret_types);
        const struct type *x = is_called_as_a_function_of_entries(c->node) ? known_input(c, 0) : NULL;
        if (x)
            set_type(c, ret_types, 0, without_splits(x));
    }
}
