// Union-find over tensors by operators that keep ranks, and ranks that lists of attributes leave.
#include "instances/rank_classes.h"

#include "core/memory/union_find.h"
#include <string.h>

struct making {
    const struct pattern *p;
    uint32_t parents[MAX_RANK_CLASSES];   // variables stand behind the nodes
};

static uint8_t find(struct making *m, uint32_t item)
{
    return (uint8_t)union_find_root(m->parents, item);
}

static uint32_t item_of_term(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    return t->is_variable ? MAX_RULE_NODES + t->index : t->index;
}

static bool keeps_rank(const struct pattern_node *node)
{
    return node->op->flags & (OPERATOR_KEEPS_RANK | OPERATOR_IS_ELEMENTWISE);
}

// The length of a list that is written out; 0: it is not.
static uint32_t written_length(const struct attribute_pattern *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!attribute_term_is_one_entry(list->terms[i]))
            return 0;
    return list->count;
}

static uint16_t ranks_of_axes(uint32_t axes)
{
    return axes + 2 < 16 ? (uint16_t)(1u << (axes + 2)) : 0;
}

// The ranks for a list of windows of this length; all, where it has none, or is no such list.
static uint16_t ranks_of_list(enum attribute_role role, uint32_t length)
{
    bool says_rank = length && attribute_roles[role].is_of_window;
    return says_rank ? ranks_of_axes(length / (uint32_t)attribute_roles[role].per_axis) : UINT16_MAX;
}

static uint16_t ranks_of_written_lists(const struct pattern_node *node)
{
    uint16_t ranks = UINT16_MAX;
    for (int i = 0; i < operator_n_attributes(node->op); i++)
        ranks &= ranks_of_list(node->op->attributes[i].role, written_length(&node->attributes[i]));
    return ranks;
}

// Constants have a size for each axis.
static uint16_t ranks_of_constant(const struct pattern_node *node)
{
    uint32_t length =
        operator_most_inputs(node->op) == 0 ? written_length(pattern_node_attribute(node, ROLE_SHAPE)) : 0;
    return length && length < 16 ? (uint16_t)(1u << length) : UINT16_MAX;
}

static void unite_inputs(struct making *m, uint32_t node)
{
    const struct pattern_node *n = &m->p->nodes.items[node];
    for (uint32_t i = 0; i < n->n_inputs; i++)
        union_find_join(m->parents, item_of_term(m->p, n->inputs[i]), node);
}

void rank_classes_make(struct rank_classes *ret_classes, struct ranks_left *ret_left, const struct pattern *p,
                       node_set nodes)
{
    struct making m = {.p = p};
    *ret_classes = (struct rank_classes){.nodes = nodes};
    memset(ret_left, 0xff, sizeof *ret_left);
    union_find_init(m.parents, MAX_RANK_CLASSES);
    for (uint32_t n = 0; n < p->nodes.count; n++)
        if ((nodes >> n & 1) && keeps_rank(&p->nodes.items[n]))
            unite_inputs(&m, n);
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        ret_classes->class_of_variable[v] = find(&m, MAX_RULE_NODES + v);
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        ret_classes->class_of_node[n] = find(&m, n);
        if (nodes >> n & 1)
            ret_left->of_class[find(&m, n)] &=
                keeps_rank(node) ? ranks_of_written_lists(node) : ranks_of_constant(node);
    }
}

void ranks_left_restrict(struct ranks_left *left, const struct rank_classes *classes, node_set nodes, uint32_t axes)
{
    for (uint32_t n = 0; (nodes & classes->nodes) >> n; n++)
        if ((nodes & classes->nodes) >> n & 1)
            left->of_class[classes->class_of_node[n]] &= ranks_of_axes(axes);
}

void ranks_left_restrict_node(struct ranks_left *left, const struct rank_classes *classes, const struct pattern *p,
                              uint32_t node, const struct attribute_value *attributes)
{
    const struct operator* op = p->nodes.items[node].op;
    if (keeps_rank(&p->nodes.items[node]) && (classes->nodes >> node & 1))
        for (int i = 0; i < operator_n_attributes(op); i++)
            left->of_class[classes->class_of_node[node]] &= ranks_of_list(op->attributes[i].role, attributes[i].count);
}

bool ranks_left_are_any(const struct ranks_left *left, const struct rank_classes *classes)
{
    for (uint32_t n = 0; classes->nodes >> n; n++)
        if ((classes->nodes >> n & 1) && left->of_class[classes->class_of_node[n]] == 0)
            return false;
    return true;
}
