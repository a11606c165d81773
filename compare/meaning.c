// Values within subgraphs and functions are numbered in the order in which nodes that are needed make them; a nested
// graph sees the numbers of the graphs around it. Constants are told by their elements, wherever they are read.
#include "compare/meaning.h"

#include "core/memory/key_set.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "onnx/convert/importer.h"
#include "onnx/format/model_write.h"
#include "onnx/format/tensor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 64   // of graphs and functions within one another

// The meaning of a name.
struct meant_value {
    uint32_t number;
    const struct onnx_tensor *constant;   // or NULL
    const struct onnx_sparse_tensor *sparse;
};
struct scope {
    const struct scope *outer;   // NULL: the model's graph, or a function's caller, whose names are not seen
    struct key_set names;
    VEC(struct meant_value) values;   // by the numbers of names
};
struct telling {
    struct text *out;
    struct arena *arena;
    struct meaning_context *context;
    const struct onnx_list *opsets;   // of the model or of the function
    uint32_t n_values;                // numbers given so far
    int depth;
};

// --- constants -------------------------------------------------------------------------------------------------------

static void tell_bytes(struct text *out, const void *bytes, size_t size)
{
    text_printf(out, "%zu:", size);
    text_add_n(out, bytes, size);
}

// Strings, segments and unknown types, as they are encoded.
static void tell_encoded_tensor(struct text *out, struct arena *arena, const struct onnx_tensor *t)
{
    struct onnx_tensor bare = *t;
    bare.name = bare.doc_string = (struct onnx_string){0};
    bare.metadata = bare.external_data = (struct onnx_list){0};
    bare.data_location = 0;
    bare.m.has &= ~(UINT32_C(1) << 14);
    struct onnx_bytes bytes = onnx_message_encode(arena, &onnx_tensor_descriptor, &bare);
    tell_bytes(out, bytes.at, bytes.size);
    if (t->external.size)
        tell_bytes(out, t->external.at, t->external.size);
}

void meaning_of_tensor(struct text *out, struct arena *arena, const char *path, const struct onnx_tensor *t)
{
    ARENA(own);
    struct error ignored = {0};
    struct onnx_bytes bytes;
    text_printf(out, "[%" PRId64, t->data_type);
    for (size_t i = 0; i < t->dims.count; i++)
        text_printf(out, " %" PRId64, t->dims.items[i]);
    text_add(out, "]");
    bool has_elements = t->data_type != ONNX_STRING && !t->segment && onnx_type_bits(t->data_type) > 0;
    if (has_elements && onnx_tensor_decode(t, &own, path, &bytes, &ignored))
        tell_bytes(out, bytes.at, bytes.size);
    else
        tell_encoded_tensor(out, arena, t);
}

void meaning_of_sparse_tensor(struct text *out, struct arena *arena, const char *path,
                              const struct onnx_sparse_tensor *t)
{
    text_add(out, "sparse");
    for (size_t i = 0; i < t->dims.count; i++)
        text_printf(out, " %" PRId64, t->dims.items[i]);
    if (t->values)
        meaning_of_tensor(out, arena, path, t->values);
    if (t->indices)
        meaning_of_tensor(out, arena, path, t->indices);
}

// --- values ----------------------------------------------------------------------------------------------------------

static struct meant_value *find_in(const struct scope *s, const struct onnx_string *name)
{
    uint32_t found = name->size == 0 ? KEY_NONE : key_set_find(&s->names, name->text, name->size);
    return found == KEY_NONE ? NULL : &s->values.items[found];
}

static void enter(struct scope *s, const struct onnx_string *name, struct meant_value value)
{
    if (name->size && key_set_find(&s->names, name->text, name->size) == KEY_NONE) {
        key_set_add(&s->names, NULL, name->text, name->size);
        vec_push(&s->values, value);
    }
}

static void enter_new(struct telling *t, struct scope *s, const struct onnx_string *name)
{
    enter(s, name, (struct meant_value){.number = t->n_values++});
}

// Values of the model's own graph are numbered as they are read.
static uint32_t number_of_captured(struct telling *t, const struct onnx_string *name)
{
    struct meaning_context *c = t->context;
    for (uint32_t i = 0; i < c->n_read; i++)
        if (onnx_string_is(name, c->captured[c->ret_read[i]]))
            return i;
    for (uint32_t i = 0; i < c->n_captured; i++)
        if (onnx_string_is(name, c->captured[i])) {
            c->ret_read[c->n_read] = i;
            return c->n_read++;
        }
    return UINT32_MAX;
}

static void tell_value(struct telling *t, const struct scope *s, const struct onnx_string *name)
{
    const struct meant_value *found = NULL;
    for (; s && !found; s = s->outer)
        found = find_in(s, name);
    if (name->size == 0)
        text_add(t->out, "-,");
    else if (found && found->constant)
        meaning_of_tensor(t->out, t->arena, t->context->path, found->constant);
    else if (found && found->sparse)
        meaning_of_sparse_tensor(t->out, t->arena, t->context->path, found->sparse);
    else
        text_printf(t->out, found ? "%%%u," : "outer %u,", found ? found->number : number_of_captured(t, name));
}

size_t meaning_count_named(const struct onnx_strings *names)
{
    size_t n = names->count;
    while (n > 0 && names->items[n - 1].size == 0)
        n--;
    return n;
}

static void free_scope(struct scope *s)
{
    key_set_free(&s->names);
    vec_free(&s->values);
}

// --- what is needed --------------------------------------------------------------------------------------------------

static void add_name(struct key_set *names, const struct onnx_string *name)
{
    if (name->size)
        key_set_add(names, NULL, name->text, name->size);
}

static bool makes_needed(const struct key_set *needed, const struct onnx_node *n)
{
    return ANY(size_t, i, n->outputs.count,
               n->outputs.items[i].size &&
                   key_set_find(needed, n->outputs.items[i].text, n->outputs.items[i].size) != KEY_NONE);
}

// A flag for each node: does one of these values depend on it? Nested graphs are read, too.
static bool *find_needed(struct telling *t, const struct onnx_list *nodes, struct key_set *needed)
{
    LOCAL_LIST(name_list, read);
    bool *is_needed = arena_array(t->arena, bool, nodes->count + 1);
    for (size_t i = nodes->count; i-- > 0;) {
        is_needed[i] = makes_needed(needed, nodes->items[i]);
        if (is_needed[i])
            names_add_read(&onnx_node_descriptor, nodes->items[i], &read);
        while (read.count > 0)
            add_name(needed, vec_pop(&read));
    }
    return is_needed;
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static void tell_node(struct telling *t, const struct scope *s, const struct onnx_node *n);

static void enter_again(struct telling *t, struct scope *s, const struct onnx_string *name,
                        const struct onnx_string *as)
{
    const struct meant_value *found = NULL;
    for (const struct scope *at = s; at && !found; at = at->outer)
        found = find_in(at, as);
    if (found)
        enter(s, name, *found);
    else
        enter_new(t, s, name);
}

static void tell_nodes(struct telling *t, struct scope *s, const struct onnx_list *nodes, struct key_set *needed)
{
    const bool *is_needed = find_needed(t, nodes, needed);
    for (size_t i = 0; i < nodes->count; i++) {
        const struct onnx_node *n = nodes->items[i];
        bool is_alias = onnx_node_is(n, "Identity") && n->inputs.count == 1 && find_in(s, &n->inputs.items[0]);
        if (!is_needed[i])
            continue;
        if (is_alias) {
            enter_again(t, s, &n->outputs.items[0], &n->inputs.items[0]);
            continue;
        }
        tell_node(t, s, n);
        for (size_t k = 0; k < n->inputs.count; k++)
            tell_value(t, s, &n->inputs.items[k]);
        for (size_t k = 0; k < n->outputs.count; k++)
            enter_new(t, s, &n->outputs.items[k]);
        text_add(t->out, ";");
    }
}

static void enter_initializers(struct scope *s, const struct onnx_graph *g)
{
    for (size_t i = 0; i < g->initializers.count; i++) {
        const struct onnx_tensor *tensor = g->initializers.items[i];
        enter(s, &tensor->name, (struct meant_value){.constant = tensor});
    }
    for (size_t i = 0; i < g->sparse_initializers.count; i++) {
        const struct onnx_sparse_tensor *tensor = g->sparse_initializers.items[i];
        enter(s, &tensor->values->name, (struct meant_value){.sparse = tensor});
    }
}

static void tell_graph(struct telling *t, const struct scope *outer, const struct onnx_graph *g)
{
    struct scope s FREED_BY(free_scope) = {.outer = outer};
    struct key_set needed FREED_BY(key_set_free) = {0};
    text_printf(t->out, "{%zu:", g->inputs.count);
    for (size_t i = 0; i < g->inputs.count; i++)
        enter_new(t, &s, &((const struct onnx_value_info *)g->inputs.items[i])->name);
    enter_initializers(&s, g);
    for (size_t i = 0; i < g->outputs.count; i++)
        add_name(&needed, &((const struct onnx_value_info *)g->outputs.items[i])->name);
    tell_nodes(t, &s, &g->nodes, &needed);
    for (size_t i = 0; i < g->outputs.count; i++)
        tell_value(t, &s, &((const struct onnx_value_info *)g->outputs.items[i])->name);
    text_add(t->out, "}");
}

// --- attributes ------------------------------------------------------------------------------------------------------

COMPARISON(by_name, struct onnx_attribute *,
           strcmp((*x)->name.text ? (*x)->name.text : "", (*y)->name.text ? (*y)->name.text : ""))

// Tensors and graphs follow the attribute, which is encoded without them.
static void tell_attribute(struct telling *t, const struct scope *s, const struct onnx_attribute *a)
{
    struct onnx_attribute bare = *a;
    bare.doc_string = (struct onnx_string){0};
    bare.t = NULL;
    bare.g = NULL;
    bare.sparse_tensor = NULL;
    bare.tensors = bare.graphs = bare.sparse_tensors = (struct onnx_list){0};
    struct onnx_bytes bytes = onnx_message_encode(t->arena, &onnx_attribute_descriptor, &bare);
    tell_bytes(t->out, bytes.at, bytes.size);
    if (a->t)
        meaning_of_tensor(t->out, t->arena, t->context->path, a->t);
    if (a->g)
        tell_graph(t, s, a->g);
    if (a->sparse_tensor)
        meaning_of_sparse_tensor(t->out, t->arena, t->context->path, a->sparse_tensor);
    for (size_t i = 0; i < a->tensors.count; i++)
        meaning_of_tensor(t->out, t->arena, t->context->path, a->tensors.items[i]);
    for (size_t i = 0; i < a->graphs.count; i++)
        tell_graph(t, s, a->graphs.items[i]);
    for (size_t i = 0; i < a->sparse_tensors.count; i++)
        meaning_of_sparse_tensor(t->out, t->arena, t->context->path, a->sparse_tensors.items[i]);
}

static void tell_attributes(struct telling *t, const struct scope *s, const struct onnx_list *attributes)
{
    void **sorted = arena_array(t->arena, void *, attributes->count + 1);
    if (attributes->count) {
        memcpy(sorted, attributes->items, attributes->count * sizeof *sorted);
        qsort(sorted, attributes->count, sizeof *sorted, by_name);
    }
    for (size_t i = 0; i < attributes->count; i++)
        tell_attribute(t, s, sorted[i]);
}

// --- operators -------------------------------------------------------------------------------------------------------

static void tell_strings(struct telling *t, const struct onnx_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        tell_bytes(t->out, strings->items[i].text, strings->items[i].size);
}

static void tell_function(struct telling *t, const struct onnx_function *f)
{
    struct scope s FREED_BY(free_scope) = {0};
    struct key_set needed FREED_BY(key_set_free) = {0};
    const struct onnx_list *opsets = t->opsets;
    t->opsets = &f->opsets;
    text_printf(t->out, "function %zu(", f->inputs.count);
    tell_strings(t, &f->attributes);
    tell_attributes(t, NULL, &f->attribute_protos);
    for (size_t i = 0; i < f->inputs.count; i++)
        enter_new(t, &s, &f->inputs.items[i]);
    for (size_t i = 0; i < f->outputs.count; i++)
        add_name(&needed, &f->outputs.items[i]);
    tell_nodes(t, &s, &f->nodes, &needed);
    for (size_t i = 0; i < f->outputs.count; i++)
        tell_value(t, &s, &f->outputs.items[i]);
    text_add(t->out, ")");
    t->opsets = opsets;
}

// Optional outputs are there or not.
static void tell_presence(struct text *out, const struct onnx_strings *names)
{
    for (size_t i = 0; i < meaning_count_named(names); i++)
        text_add(out, names->items[i].size ? "+" : "-");
}

static void tell_node(struct telling *t, const struct scope *s, const struct onnx_node *n)
{
    const char *domain = onnx_domain(&n->domain);
    const struct onnx_function *f = onnx_function_called_by(t->context->model, n);
    tell_bytes(t->out, domain, strlen(domain));
    tell_bytes(t->out, n->op_type.text, n->op_type.size);
    tell_bytes(t->out, n->overload.text, n->overload.size);
    text_printf(t->out, "=%" PRId64, onnx_version(t->opsets, domain));
    tell_presence(t->out, &n->outputs);
    text_add(t->out, "<");
    if (t->depth++ < DEEPEST) {
        tell_attributes(t, s, &n->attributes);
        if (f)
            tell_function(t, f);
    }
    t->depth--;
    text_add(t->out, ">");
}

void meaning_of_node(struct text *out, struct arena *arena, struct meaning_context *context, const struct onnx_node *n)
{
    struct telling t = {.out = out, .arena = arena, .context = context, .opsets = &context->model->opsets};
    context->n_read = 0;
    tell_node(&t, NULL, n);
}
