// A model with symbols is imported at many bindings, and what depends on weights only is mostly the same at all of
// them. What took long to compute is kept beside the elements that it was computed of, which may depend on the binding:
//     node of the model -> inputs (an initializer of the file, or elements that were computed themselves) -> an output
// Models do not copy an output that is kept: the cache lives as long as the one that stays.
#include "onnx/convert/constant_cache.h"

#include <string.h>

#define WORTH_KEEPING 1e5        // operations and elements
#define MOST_BYTES (256 << 20)   // of all that is kept

struct input_of_constant {
    const struct onnx_tensor *tensor;   // NULL: the data counts
    struct type type;
    const void *data;
};
struct computed_constant {
    uint32_t node, output, n_inputs;
    const struct input_of_constant *inputs;
    struct type type;
    const void *data;
};
struct constant_cache {
    struct arena arena;
    VEC(struct computed_constant) items;
    int64_t bytes;
    double operations;
};

struct constant_cache *constant_cache_new(void)
{
    return mem_alloc_zero(sizeof(struct constant_cache));
}

void constant_cache_free(struct constant_cache *k)
{
    vec_free(&k->items);
    arena_free(&k->arena);
    mem_free(k, sizeof *k);
}

// An omitted input is described by zeros. False: the elements are not at hand.
static bool describe_input(const struct conversion *c, tensor_id input, struct input_of_constant *ret_input)
{
    *ret_input = (struct input_of_constant){0};
    if (input == NO_TENSOR)
        return true;
    const struct imported_weight *w = weight_of(c->model, input);
    if (!w || w->sparse || w->is_of_binding || (!w->tensor && !w->data))
        return false;
    *ret_input = (struct input_of_constant){w->tensor, w->type, w->tensor ? NULL : w->data};
    return true;
}

static bool is_same_input(const struct input_of_constant *a, const struct input_of_constant *b)
{
    return a->tensor == b->tensor && !a->data == !b->data &&
           (a->data == b->data ||
            (type_equal(&a->type, &b->type) && !memcmp(a->data, b->data, (size_t)type_bytes(&a->type))));
}

static bool has_same_inputs(const struct computed_constant *known, const struct conversion *c)
{
    struct input_of_constant input;
    return ALL(uint32_t, i, c->n_inputs,
               describe_input(c, c->inputs[i], &input) && is_same_input(&known->inputs[i], &input));
}

static const void *keep_elements(struct constant_cache *k, const void *data, const struct type *type)
{
    if (!data || ANY(size_t, i, k->items.count, k->items.items[i].data == data))
        return data;
    size_t size = (size_t)type_bytes(type);
    void *copy = arena_alloc(&k->arena, size ? size : 1, 64);
    memcpy(copy, data, size);
    k->bytes += (int64_t)size;
    return copy;
}

static const struct type *type_of_output(const struct conversion *c, uint32_t output)
{
    return graph_type(&c->model->graph, c->outputs[output]);
}

static bool is_worth_keeping(const struct conversion *c, uint32_t output, double operations)
{
    return operations + (double)type_elements(type_of_output(c, output)) >= WORTH_KEEPING;
}

const void *constant_cache_find(const struct conversion *c, uint32_t output, double operations)
{
    struct constant_cache *k = c->importer->options->computed;
    if (!k || !is_worth_keeping(c, output, operations))
        return NULL;
    const struct computed_constant *known =
        vec_find(&k->items, x,
                 x->node == c->index && x->output == output && x->n_inputs == c->n_inputs &&
                     type_equal(&x->type, type_of_output(c, output)) && has_same_inputs(x, c));
    return known ? known->data : NULL;
}

struct arena *constant_cache_arena(const struct conversion *c, uint32_t output, double operations)
{
    struct constant_cache *k = c->importer->options->computed;
    struct input_of_constant ignored;
    bool is_kept = k && is_worth_keeping(c, output, operations) && k->bytes <= MOST_BYTES &&
                   ALL(uint32_t, i, c->n_inputs, describe_input(c, c->inputs[i], &ignored));
    return is_kept ? &k->arena : NULL;
}

void constant_cache_note(const struct conversion *c, uint32_t output, const void *data)
{
    struct constant_cache *k = c->importer->options->computed;
    struct input_of_constant *inputs = arena_array(&k->arena, struct input_of_constant, c->n_inputs + 1);
    for (uint32_t i = 0; i < c->n_inputs; i++) {
        describe_input(c, c->inputs[i], &inputs[i]);
        inputs[i].type = type_make(inputs[i].type.dtype, inputs[i].type.rank, inputs[i].type.dim);
        inputs[i].data = keep_elements(k, inputs[i].data, &inputs[i].type);
    }
    const struct type *t = type_of_output(c, output);
    struct type type = type_make(t->dtype, t->rank, t->dim);
    k->bytes += type_bytes(&type);
    vec_push(&k->items, ((struct computed_constant){c->index, output, c->n_inputs, inputs, type, data}));
}

void constant_cache_count(const struct conversion *c, double operations)
{
    if (c->importer->options->computed)
        c->importer->options->computed->operations += operations;
}

double constant_cache_operations(const struct constant_cache *k)
{
    return k->operations;
}
