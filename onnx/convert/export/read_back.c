// Reading back is an import of the written file, at sizes at which the original has a result. Nothing is folded: only
// types are wanted. A tensor that a kept node makes may be of no type that is known.
#include "onnx/convert/export/read_back.h"

#include "core/text/error.h"
#include "core/text/text.h"
#include "onnx/convert/symbolic/at_binding.h"
#include "onnx/format/check.h"
#include "onnx/format/model_write.h"

#include <string.h>

struct reading {
    const struct exported_types *exported;
    const struct imported_model *original;
    struct onnx_file *written;
    struct error *error;
    struct at_binding there;   // the written file
    const int64_t *binding;
};

static bool is_wrong(const struct reading *r, const char *what, const char *name)
{
    return error_set_code(r->error, EXIT_UNSUPPORTED, r->written->path, "read back, %s %s is not what it was", what,
                          name);
}

// --- the interface ---------------------------------------------------------------------------------------------------

static const struct onnx_tensor_type *tensor_type_of(const struct onnx_value_info *info)
{
    return info->type ? info->type->tensor : NULL;
}

// A size as it was declared, or the one that an option gave.
static bool is_size_kept(const struct reading *r, const struct onnx_dimension *old, const struct onnx_dimension *new,
                         int64_t size)
{
    if (old && ONNX_HAS(old, 1))
        return ONNX_HAS(new, 1) && old->value == new->value;
    return ONNX_HAS(new, 1) ? new->value == size && !sizes_varies(&r->original->symbols.sizes, size)
                            : old &&onnx_string_is(&new->symbol, old->symbol.text ? old->symbol.text : "");
}

static bool is_shape_kept(const struct reading *r, const struct onnx_value_info *old, const struct onnx_value_info *new,
                          const struct type *type)
{
    const struct onnx_tensor_type *a = tensor_type_of(old), *b = tensor_type_of(new);
    if (!a || !b || a->elem_type != b->elem_type || !b->shape)
        return false;
    const struct onnx_list *dims = &b->shape->dimensions, *former = a->shape ? &a->shape->dimensions : NULL;
    return dims->count == (size_t)type->rank && !(former && former->count != dims->count) &&
           ALL(size_t, i, dims->count, is_size_kept(r, former ? former->items[i] : NULL, dims->items[i], type->dim[i]));
}

static bool is_input_kept(struct reading *r, const struct onnx_value_info *old, const struct onnx_value_info *new,
                          tensor_id tensor)
{
    return onnx_string_is(&old->name, new->name.text) &&
           (onnx_messages_are_equal(&r->there.im.scratch, &onnx_value_info_descriptor, old, new) ||
            is_shape_kept(r, old, new, graph_type(&r->original->graph, tensor)));
}

static const struct onnx_value_info *declared_input(const struct onnx_graph *g, const char *name)
{
    return ONNX_FIND(struct onnx_value_info, i, &g->inputs, onnx_string_is(&i->name, name));
}

static bool are_inputs_kept(struct reading *r)
{
    const struct onnx_graph *old = r->original->file->model->graph, *new = r->written->model->graph;
    if (r->there.model.inputs.count != r->original->inputs.count)
        return is_wrong(r, "the number of inputs of", new->name.text ? new->name.text : "the graph");
    for (size_t i = 0; i < r->there.model.inputs.count; i++) {
        const char *name = r->original->inputs.items[i].name;
        const struct onnx_value_info *a = declared_input(old, name),
                                     *b = declared_input(new, r->there.model.inputs.items[i].name);
        if (!a || !b || !is_input_kept(r, a, b, r->original->inputs.items[i].tensor))
            return is_wrong(r, "input", name);
    }
    return true;
}

static bool are_outputs_kept(struct reading *r)
{
    const struct onnx_list *old = &r->original->file->model->graph->outputs, *new = &r->written->model->graph->outputs;
    for (size_t i = 0; i < old->count; i++)
        if (i >= new->count ||
            !onnx_messages_are_equal(&r->there.im.scratch, &onnx_value_info_descriptor, old->items[i], new->items[i]))
            return is_wrong(r, "output", ((const struct onnx_value_info *)old->items[i])->name.text);
    return new->count == old->count || is_wrong(r, "the number of outputs of", new->count ? "the graph" : "a graph");
}

// --- types -----------------------------------------------------------------------------------------------------------

// The type in the exported graph at the binding; what no symbol tells there is taken as it is read.
static struct type expected_type(const struct reading *r, const struct type *exported, const struct type *read)
{
    const struct sizes *sizes = &r->original->symbols.sizes;
    if (r->original->symbols.list.count == 0 || !type_is_known(exported))
        return *exported;
    struct type type = sizes_type_at(sizes, exported, r->binding);
    bool is_first = memcmp(r->binding, sizes->probes[0], sizes->n_symbols * sizeof *r->binding) == 0;
    for (int i = 0; !is_first && type.rank == read->rank && i < type.rank; i++)
        if (!sizes_varies(sizes, exported->dim[i]))
            type.dim[i] = read->dim[i];
    return type;
}

static bool tell_difference(const struct reading *r, const char *name, const struct type *expected,
                            const struct type *read)
{
    TEXT(text);
    type_print(&text, read);
    text_add(&text, " and not ");
    type_print(&text, expected);
    error_set_code(r->error, EXIT_UNSUPPORTED, r->written->path, "read back, %s is %s", name, text.chars);
    return false;
}

static bool is_type_read(const struct reading *r, const char *name, const struct type *exported)
{
    struct onnx_string text = {name, strlen(name)};
    const struct named_value *value = name_find(&r->there.im, &text);
    if (!value || value->tensor == NO_TENSOR)
        return true;
    const struct type *read = graph_type(&r->there.model.graph, value->tensor);
    struct type expected = expected_type(r, exported, read);
    bool is_opaque = graph_producer(&r->there.model.graph, value->tensor)->op->id == OP_OPAQUE;
    return !type_is_known(&expected) || (is_opaque && !type_is_known(read)) || type_equal(&expected, read) ||
           tell_difference(r, name, &expected, read);
}

static bool are_types_read(const struct reading *r)
{
    const struct imported_model *original = r->original;
    return !ANY(size_t, i, r->exported->count,
                !is_type_read(r, r->exported->items[i].name, &r->exported->items[i].type)) &&
           ALL(size_t, i, original->outputs.count,
               is_type_read(r, original->outputs.items[i].name,
                            graph_type(&original->graph, original->outputs.items[i].tensor)));
}

// --- the file --------------------------------------------------------------------------------------------------------

static bool is_right_at(const struct exported_types *exported, struct onnx_file *written, const int64_t *binding,
                        struct error *error)
{
    struct import_options options = {.fold_limit = 0};
    struct reading r = {exported, exported->model, written, error, .binding = binding};
    bool is_read = at_binding_import(&r.there, exported->model, written, &options, binding);
    if (!is_read)
        *error = r.there.error;
    bool is_right = is_read && are_inputs_kept(&r) && are_outputs_kept(&r) && are_types_read(&r);
    at_binding_free(&r.there);
    if (!is_right)
        error->code = EXIT_UNSUPPORTED;
    return is_right;
}

bool exported_types_are_read_back(void *context, struct onnx_file *written, struct error *error)
{
    const struct exported_types *exported = context;
    if (!onnx_model_check(written->model, written->path, error)) {
        error->code = EXIT_UNSUPPORTED;
        return false;
    }
    const struct imported_model *m = exported->model;
    return is_right_at(exported, written, m->symbols.bindings[0], error) &&
           (m->symbols.list.count == 0 || is_right_at(exported, written, m->symbols.bindings[1], error));
}
