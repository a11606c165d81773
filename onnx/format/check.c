// Checking graphs: one scope per graph, linked to the scope around it. Names of values are entered in the order in
// which the standard defines them: inputs, initializers (which may give an input its default), then the outputs of each
// node. A use of a name that no scope has is one before its definition, as in a cycle, or of nothing at all.
#include "onnx/format/check.h"

#include "core/memory/key_set.h"
#include "core/text/error.h"

struct scope {
    const struct scope *outer;
    struct key_set names;
    const struct onnx_list *nodes;   // NULL: of no graph
};
struct checker {
    const char *file;
    struct error *error;
};

// ---- scopes ----

static bool is_visible(const struct scope *s, const struct onnx_string *name)
{
    while (s && key_set_find(&s->names, name->text, name->size) == KEY_NONE)
        s = s->outer;
    return s != NULL;
}

static bool enter_name(struct scope *s, const struct onnx_string *name)
{
    size_t count = s->names.keys.count;
    return key_set_add(&s->names, NULL, name->text, name->size) == count;
}

static void leave_scope(struct scope *s)
{
    key_set_free(&s->names);
}

// ---- use before definition ----

static const char *label_of(const struct onnx_node *n)
{
    return n->name.text && n->name.size ? n->name.text : n->op_type.text ? n->op_type.text : "(without an operator)";
}

// A node of the graph or of one around it; NULL: none.
static const struct onnx_node *find_producer(const struct scope *s, const struct onnx_string *name)
{
    const struct onnx_node *producer = NULL;
    for (; s && !producer; s = s->outer)
        producer = s->nodes ? ONNX_FIND(struct onnx_node, n, s->nodes,
                                        vec_find(&n->outputs, output, onnx_string_is(output, name->text)))
                            : NULL;
    return producer;
}

static bool report_order(struct checker *c, const struct scope *s, const struct onnx_node *user,
                         const struct onnx_string *name)
{
    const struct onnx_node *producer = find_producer(s, name);
    if (producer)
        return error_set(c->error, c->file, 0, 0, "node %s uses %s before node %s produces it", label_of(user),
                         name->text, label_of(producer));
    return error_set(c->error, c->file, 0, 0, "node %s uses %s, which nothing produces", label_of(user), name->text);
}

// ---- graphs ----

static bool check_graph(struct checker *c, const struct onnx_graph *g, const struct scope *outer);

static bool check_attribute_names(struct checker *c, const struct onnx_node *n)
{
    struct scope names FREED_BY(leave_scope) = {0};
    for (size_t i = 0; i < n->attributes.count; i++) {
        const struct onnx_string *name = &((const struct onnx_attribute *)n->attributes.items[i])->name;
        if (!name->text || name->size == 0)
            return error_set(c->error, c->file, 0, 0, "node %s has an attribute without a name", label_of(n));
        if (!enter_name(&names, name))
            return error_set(c->error, c->file, 0, 0, "node %s has two attributes %s", label_of(n), name->text);
    }
    return true;
}

static bool check_attributes(struct checker *c, const struct onnx_node *n, const struct scope *s)
{
    if (!check_attribute_names(c, n))
        return false;
    for (size_t i = 0; i < n->attributes.count; i++) {
        const struct onnx_attribute *a = n->attributes.items[i];
        if ((a->g && !check_graph(c, a->g, s)) ||
            ANY(size_t, k, a->graphs.count, !check_graph(c, a->graphs.items[k], s)))
            return false;
    }
    return true;
}

static bool check_node(struct checker *c, uint32_t index, struct scope *s)
{
    const struct onnx_node *n = s->nodes->items[index];
    if (!n->op_type.text || n->op_type.size == 0)
        return error_set(c->error, c->file, 0, 0, "node %u (%s) names no operator", (unsigned)index, label_of(n));
    for (size_t i = 0; i < n->inputs.count; i++)
        if (n->inputs.items[i].size && !is_visible(s, &n->inputs.items[i]))
            return report_order(c, s, n, &n->inputs.items[i]);
    if (!check_attributes(c, n, s))
        return false;
    for (size_t i = 0; i < n->outputs.count; i++)
        if (n->outputs.items[i].size && !enter_name(s, &n->outputs.items[i]))
            return error_set(c->error, c->file, 0, 0, "node %s produces %s, which exists already", label_of(n),
                             n->outputs.items[i].text);
    return true;
}

static bool check_nodes(struct checker *c, const struct onnx_list *nodes, struct scope *s)
{
    s->nodes = nodes;
    return ALL(size_t, i, nodes->count, check_node(c, (uint32_t)i, s));
}

static bool enter_inputs(struct checker *c, const struct onnx_graph *g, struct scope *s)
{
    for (size_t i = 0; i < g->inputs.count; i++) {
        const struct onnx_value_info *v = g->inputs.items[i];
        if (!v->name.text || v->name.size == 0)
            return error_set(c->error, c->file, 0, 0, "input %zu of the graph has no name", i);
        if (!enter_name(s, &v->name))
            return error_set(c->error, c->file, 0, 0, "two inputs are called %s", v->name.text);
    }
    return true;
}

static bool enter_initializer(struct checker *c, struct scope *all, struct scope *initializers,
                              const struct onnx_tensor *t)
{
    if (!t || !t->name.text || t->name.size == 0)
        return error_set(c->error, c->file, 0, 0, "an initializer has no name");
    if (!enter_name(initializers, &t->name))
        return error_set(c->error, c->file, 0, 0, "two initializers are called %s", t->name.text);
    enter_name(all, &t->name);
    return true;
}

static bool enter_initializers(struct checker *c, const struct onnx_graph *g, struct scope *s)
{
    struct scope initializers FREED_BY(leave_scope) = {0};
    return ALL(size_t, i, g->initializers.count, enter_initializer(c, s, &initializers, g->initializers.items[i])) &&
           ALL(size_t, i, g->sparse_initializers.count,
               enter_initializer(c, s, &initializers,
                                 ((const struct onnx_sparse_tensor *)g->sparse_initializers.items[i])->values));
}

static bool check_outputs(struct checker *c, const struct onnx_graph *g, const struct scope *s)
{
    for (size_t i = 0; i < g->outputs.count; i++) {
        const struct onnx_value_info *v = g->outputs.items[i];
        if (!v->name.text || v->name.size == 0)
            return error_set(c->error, c->file, 0, 0, "output %zu of the graph has no name", i);
        if (!is_visible(s, &v->name))
            return error_set(c->error, c->file, 0, 0, "nothing produces the output %s", v->name.text);
    }
    return true;
}

static bool check_graph(struct checker *c, const struct onnx_graph *g, const struct scope *outer)
{
    struct scope s FREED_BY(leave_scope) = {.outer = outer};
    return enter_inputs(c, g, &s) && enter_initializers(c, g, &s) && check_nodes(c, &g->nodes, &s) &&
           check_outputs(c, g, &s);
}

static bool check_function(struct checker *c, const struct onnx_function *f)
{
    struct scope s FREED_BY(leave_scope) = {0};
    for (size_t i = 0; i < f->inputs.count; i++)
        if (!enter_name(&s, &f->inputs.items[i]))
            return error_set(c->error, c->file, 0, 0, "function %s has two inputs %s", f->name.text ? f->name.text : "",
                             f->inputs.items[i].text);
    if (!check_nodes(c, &f->nodes, &s))
        return false;
    for (size_t i = 0; i < f->outputs.count; i++)
        if (!is_visible(&s, &f->outputs.items[i]))
            return error_set(c->error, c->file, 0, 0, "nothing produces the output %s of function %s",
                             f->outputs.items[i].text, f->name.text ? f->name.text : "");
    return true;
}

// A domain may be named twice, but with one version.
static bool check_opsets(struct checker *c, const struct onnx_model *model)
{
    struct key_set domains FREED_BY(key_set_free) = {0};
    LOCAL_VEC(int64_t, versions);
    for (size_t i = 0; i < model->opsets.count; i++) {
        const struct onnx_opset *o = model->opsets.items[i];
        uint32_t id = key_set_add(&domains, NULL, o->domain.text, o->domain.size);
        if (id == versions.count)
            vec_push(&versions, o->version);
        else if (versions.items[id] != o->version)
            return error_set(c->error, c->file, 0, 0, "two versions of the operator set \"%s\" are imported",
                             o->domain.text ? o->domain.text : "");
    }
    return true;
}

bool onnx_model_check(const struct onnx_model *model, const char *file, struct error *error)
{
    struct checker c = {file, error};
    return check_opsets(&c, model) && check_graph(&c, model->graph, NULL) &&
           ALL(size_t, i, model->functions.count, check_function(&c, model->functions.items[i]));
}
