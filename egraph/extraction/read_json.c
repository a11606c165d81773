// The JSON reader on top of jansson, which bounds depth and numbers, refuses broken UTF-8 and keys that stand twice,
// and tells line and column. What is well-formed and yet no e-graph is refused by the name of the node.
#include "egraph/extraction/read_json.h"
#include "core/system/file.h"
#include "core/text/error.h"
#include <jansson.h>
#include <string.h>

struct reading {
    const char *path;
    struct error *error;
    struct extraction_problem *problem;
    struct extraction_names *names;
    json_t *nodes;
    json_t *class_ids;        // class name to integer
    VEC(uint32_t) children;   // of the node that is read
};

static bool refuse_node(const struct reading *r, const char *node, const char *reason)
{
    return error_set(r->error, r->path, 0, 0, "node \"%.100s\" %s", node, reason);
}

static uint32_t find_class(const struct reading *r, const char *name)
{
    const json_t *id = json_object_get(r->class_ids, name);
    return id ? (uint32_t)json_integer_value(id) : EXTRACTION_NONE;
}

static void add_class_once(struct reading *r, const char *name)
{
    if (find_class(r, name) != EXTRACTION_NONE)
        return;
    json_object_set_new(r->class_ids, name, json_integer(extraction_add_class(r->problem)));
    vec_push(&r->names->classes, arena_string(&r->names->arena, name));
}

static bool list_classes(struct reading *r)
{
    const char *name;
    json_t *node;
    json_object_foreach(r->nodes, name, node)
    {
        const char *class_name = json_string_value(json_object_get(node, "eclass"));
        if (!class_name)
            return refuse_node(r, name, json_is_object(node) ? "has no text \"eclass\"" : "is not an object");
        add_class_once(r, class_name);
    }
    return true;
}

static bool read_cost(const struct reading *r, const char *name, const json_t *node, double *ret_cost)
{
    const json_t *cost = json_object_get(node, "cost");
    *ret_cost = cost ? json_number_value(cost) : 1;
    if (cost && !json_is_number(cost))
        return refuse_node(r, name, "has a \"cost\" that is not a number");
    return (*ret_cost >= 0 && *ret_cost <= 1e100) || refuse_node(r, name, "has a \"cost\" that is not from 0 to 1e100");
}

static bool read_child(const struct reading *r, const char *name, const json_t *child, uint32_t *ret_class)
{
    const char *child_name = json_string_value(child);
    if (!child_name)
        return refuse_node(r, name, "has a child that is not a text");
    const json_t *node = json_object_get(r->nodes, child_name);
    if (!node)
        return error_set(r->error, r->path, 0, 0, "node \"%.100s\" has the child \"%.100s\", which does not exist",
                         name, child_name);
    *ret_class = find_class(r, json_string_value(json_object_get(node, "eclass")));
    return true;
}

static bool read_children(struct reading *r, const char *name, const json_t *children)
{
    size_t i;
    json_t *child;
    vec_clear(&r->children);
    if (children && !json_is_array(children))
        return refuse_node(r, name, "has \"children\" that are not a list");
    json_array_foreach(children, i, child)
    {
        uint32_t class_id = EXTRACTION_NONE;
        if (!read_child(r, name, child, &class_id))
            return false;
        vec_push(&r->children, class_id);
    }
    return true;
}

static bool read_node(struct reading *r, const char *name, const json_t *node)
{
    const char *class_name = json_string_value(json_object_get(node, "eclass"));
    double cost;
    if (!read_cost(r, name, node, &cost) || !read_children(r, name, json_object_get(node, "children")))
        return false;
    extraction_add_node(r->problem, find_class(r, class_name), cost, (uint32_t)r->children.count, r->children.items);
    vec_push(&r->names->nodes, arena_string(&r->names->arena, name));
    return true;
}

static bool read_nodes(struct reading *r)
{
    const char *name;
    json_t *node;
    json_object_foreach(r->nodes, name, node)
    {
        if (!read_node(r, name, node))
            return false;
    }
    return true;
}

static bool read_roots(struct reading *r, const json_t *roots)
{
    size_t i;
    json_t *root;
    if (!json_is_array(roots) || !json_array_size(roots))
        return error_set(r->error, r->path, 0, 0, "\"root_eclasses\" is not a list of at least one class");
    json_array_foreach(roots, i, root)
    {
        const char *name = json_string_value(root);
        if (!name || find_class(r, name) == EXTRACTION_NONE)
            return error_set(r->error, r->path, 0, 0, "\"root_eclasses\" has \"%.100s\", which is no class of a node",
                             name ? name : "(not a text)");
        extraction_add_root(r->problem, find_class(r, name));
    }
    return true;
}

static bool read_problem(struct reading *r, const json_t *top)
{
    r->nodes = json_object_get(top, "nodes");
    if (!json_is_object(r->nodes))
        return error_set(r->error, r->path, 0, 0, "\"nodes\" is not an object");
    if (!list_classes(r) || !read_nodes(r) || !read_roots(r, json_object_get(top, "root_eclasses")))
        return false;
    extraction_finish(r->problem);
    return true;
}

static json_t *parse(const char *path, struct error *error)
{
    struct file_map map FREED_BY(file_map_close) = {0};
    json_error_t refusal;
    if (!file_map_open(&map, path, error))
        return NULL;
    json_t *top = json_loadb(map.size ? (const char *)map.bytes : "", map.size, JSON_REJECT_DUPLICATES, &refusal);
    if (!top)
        error_set(error, path, (unsigned)refusal.line, (unsigned)refusal.column, "%s", refusal.text);
    return top;
}

void extraction_names_free(struct extraction_names *names)
{
    vecs_free(names, nodes, classes);
    arena_free(&names->arena);
}

bool extraction_read_json(const char *path, struct extraction_problem *ret_problem, struct extraction_names *ret_names,
                          struct error *error)
{
    *ret_problem = (struct extraction_problem){0};
    *ret_names = (struct extraction_names){0};
    struct reading r = {path, error, ret_problem, ret_names, .class_ids = json_object()};
    json_t *top = parse(path, error);
    bool is_read = top && read_problem(&r, top);
    if (!is_read) {
        extraction_free(ret_problem);
        extraction_names_free(ret_names);
    }
    json_decref(top);
    json_decref(r.class_ids);
    vec_free(&r.children);
    return is_read;
}
