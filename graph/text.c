// Graphs as text: one let for each node, then the outputs.
#include "graph/text.h"

#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/call_text.h"
#include "graph/graph.h"
#include <string.h>

// --- printing --------------------------------------------------------------------------------------------------------

static bool is_typed_by_caller(const struct operator* op)
{
    return op->flags & (OPERATOR_IS_LEAF | OPERATOR_IS_OPAQUE);
}

static void print_names(struct text *out, const struct node *n)
{
    bool is_single = n->n_outputs == 1 && !(n->op->flags & OPERATOR_IS_OPAQUE);
    text_add(out, is_single ? "" : "(");
    for (uint32_t i = 0; i < n->n_outputs; i++)
        text_printf(out, "%st%u", i ? " " : "", n->first_output + i);
    text_add(out, is_single ? "" : ")");
}

static void print_node(struct text *out, const struct graph *g, node_id id)
{
    const struct node *n = &g->nodes.items[id];
    text_add(out, "  (let ");
    print_names(out, n);
    text_add(out, " ");
    call_text_print(out, n->op, -1, n->attributes);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        text_printf(out, " t%u", graph_inputs(g, id)[i]);
    text_add(out, ")");
    for (uint32_t i = 0; is_typed_by_caller(n->op) && i < n->n_outputs; i++) {
        text_add(out, " ");
        type_print(out, graph_type(g, n->first_output + i));
    }
    text_add(out, ")\n");
}

void graph_print(struct text *out, const struct graph *g)
{
    text_add(out, "(graph\n");
    for (node_id n = 0; n < g->nodes.count; n++)
        print_node(out, g, n);
    text_add(out, "  (output");
    for (size_t i = 0; i < g->outputs.count; i++)
        text_printf(out, " t%u", g->outputs.items[i]);
    text_add(out, "))\n");
}

// --- parsing ---------------------------------------------------------------------------------------------------------

struct reader {
    const char *file;
    struct graph *g;
    struct error *error;
    struct key_set names;
    VEC(tensor_id) tensors;   // by the name's number
};

static bool find_tensor(const struct reader *r, const struct sexp *s, tensor_id *ret_tensor)
{
    if (s->kind != SEXP_SYMBOL)
        return sexp_error(r->error, r->file, s, "expected the name of a tensor");
    uint32_t found = key_set_find(&r->names, s->text, strlen(s->text));
    if (found == KEY_NONE)
        return sexp_error(r->error, r->file, s, "no tensor is called %s", s->text);
    *ret_tensor = r->tensors.items[found];
    return true;
}

static bool bind_name(struct reader *r, const struct sexp *s, tensor_id tensor)
{
    if (s->kind != SEXP_SYMBOL)
        return sexp_error(r->error, r->file, s, "expected a new name");
    if (key_set_add(&r->names, NULL, s->text, strlen(s->text)) < r->tensors.count)
        return sexp_error(r->error, r->file, s, "%s is bound twice", s->text);
    vec_push(&r->tensors, tensor);
    return true;
}

static bool read_types(struct reader *r, const struct sexp *let, struct type **ret_types, uint32_t *ret_count)
{
    *ret_count = (uint32_t)let->count - 3;
    *ret_types = arena_array(r->g->arena, struct type, *ret_count + 1);
    return ALL(uint32_t, i, *ret_count, type_parse(&let->items[3 + i], r->file, &(*ret_types)[i], r->error));
}

static bool add_node(struct reader *r, const struct sexp *let, const struct call_text *call, node_id *ret_node)
{
    struct attribute_value values[MAX_ATTRIBUTES];
    tensor_id *inputs = arena_array(r->g->arena, tensor_id, call->n_arguments + 1);
    struct type *types;
    uint32_t n_types;
    if (!call_text_attributes(call, r->file, r->g->arena, values, r->error) || !read_types(r, let, &types, &n_types) ||
        ANY(size_t, i, call->n_arguments, !find_tensor(r, &call->arguments[i], &inputs[i])))
        return false;
    if (call->op->flags & OPERATOR_IS_LEAF) {
        if (n_types != 1)
            return sexp_error(r->error, r->file, let, "%s needs one type", call->op->name);
        tensor_id t = graph_add_leaf(r->g, call->op, values[0].ints[0], &types[0]);
        *ret_node = r->g->tensors.items[t].producer;
        return true;
    }
    if (call->op->flags & OPERATOR_IS_OPAQUE) {
        *ret_node = graph_add_opaque(r->g, values[0].ints[0], (uint32_t)call->n_arguments, inputs, n_types, types);
        return true;
    }
    if (n_types)
        return sexp_error(r->error, r->file, let, "the type of %s follows from its inputs", call->op->name);
    return graph_add(r->g, call->op, values, (uint32_t)call->n_arguments, inputs, ret_node) ||
           sexp_error(r->error, r->file, &let->items[2], "%s", graph_refusal(r->g));
}

static bool read_let(struct reader *r, const struct sexp *let)
{
    struct call_text call;
    node_id node;
    if (let->count < 3)
        return sexp_error(r->error, r->file, let, "expected (let NAME APPLICATION)");
    if (!call_text_parse(&let->items[2], r->file, NULL, &call, r->error))
        return false;
    if (call.output >= 0)
        return sexp_error(r->error, r->file, &let->items[2], "name all outputs of %s", call.op->name);
    if (!add_node(r, let, &call, &node))
        return false;
    const struct sexp *names = &let->items[1];
    size_t n = names->kind == SEXP_LIST ? names->count : 1;
    if (n != r->g->nodes.items[node].n_outputs)
        return sexp_error(r->error, r->file, names, "%s has %u outputs here", call.op->name,
                          r->g->nodes.items[node].n_outputs);
    return ALL(uint32_t, i, n,
               bind_name(r, names->kind == SEXP_LIST ? &names->items[i] : names, graph_output_of(r->g, node, i)));
}

static bool read_outputs(struct reader *r, const struct sexp *outputs)
{
    for (size_t i = 1; i < outputs->count; i++) {
        tensor_id tensor = NO_TENSOR;
        if (!find_tensor(r, &outputs->items[i], &tensor))
            return false;
        graph_add_output(r->g, tensor);
    }
    return true;
}

static bool read_item(struct reader *r, const struct sexp *item)
{
    if (sexp_is_call(item, "let"))
        return read_let(r, item);
    if (sexp_is_call(item, "output"))
        return read_outputs(r, item);
    return sexp_error(r->error, r->file, item, "expected (let ...) or (output ...)");
}

bool graph_parse(const struct sexp *s, const char *file, struct graph *g, struct error *error)
{
    if (!sexp_is_call(s, "graph"))
        return sexp_error(error, file, s, "expected (graph ...)");
    struct reader r = {.file = file, .g = g, .error = error};
    bool is_read = true;
    for (size_t i = 1; is_read && i < s->count; i++)
        is_read = read_item(&r, &s->items[i]);
    key_set_free(&r.names);
    vec_free(&r.tensors);
    return is_read;
}
