// Attributes of a node by name, with standard values.
#include "onnx/format/node.h"

#include "onnx/format/visit.h"

const struct onnx_attribute *onnx_node_find(const struct onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->attributes.count; i++) {
        const struct onnx_attribute *a = n->attributes.items[i];
        if (onnx_string_is(&a->name, name))
            return a;
    }
    return NULL;
}

int64_t onnx_node_int(const struct onnx_node *n, const char *name, int64_t standard)
{
    const struct onnx_attribute *a = onnx_node_find(n, name);
    return a ? a->i : standard;
}

double onnx_node_float(const struct onnx_node *n, const char *name, double standard)
{
    const struct onnx_attribute *a = onnx_node_find(n, name);
    return a ? (double)a->f : standard;
}

bool onnx_node_has_standard_domain(const struct onnx_node *n)
{
    return n->domain.size == 0 || onnx_string_is(&n->domain, "ai.onnx");
}
