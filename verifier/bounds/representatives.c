// Marks the entries to compare, then what they are made of, from the outputs down (bounds.md, 2.1).
#include "verifier/bounds/representatives.h"

#include "verifier/bounds/classes/index_classes.h"
#include <string.h>

#define FEW_ENTRIES 16   // of all outputs together, of which none is left out

// --- entries that stand for others -----------------------------------------------------------------------------------

// Are the positions of the class alike: compared with nothing but one another, and as many on every axis?
static bool is_of_labels(struct analysis *an, uint32_t class)
{
    for (uint32_t i = 0; i < an->n_items; i++) {
        bool is_axis = i >= MAX_RULE_VARIABLES * MAX_RANK || an->size[i] > 0;
        if (is_axis && classes_find(an, i) == class &&
            ((an->flags[i] & ~(HAS_COUNT | HAS_FIXED_SIZE)) || an->size[i] != an->size[class]))
            return false;
    }
    return true;
}

// The first of all entries that permutations of labels make of one another: the labels of each class, axis by axis, are
// 0 or at most one more than those before.
static bool is_first_of_its_kind(const uint32_t *class_of_axis, const int64_t *place, int rank)
{
    for (int axis = 0; axis < rank; axis++) {
        int64_t most = 0;
        for (int before = 0; before < axis; before++)
            if (class_of_axis[before] == class_of_axis[axis] && place[before] >= most)
                most = place[before] + 1;
        if (class_of_axis[axis] != NO_ITEM && place[axis] > most)
            return false;
    }
    return true;
}

static void unite_outputs(struct analysis *an, uint32_t pair)
{
    const struct equation *eq = an->in->equation;
    int rank = typing_type(an->in->typing, instance_term_type(an->in, eq->left[pair]))->rank;
    for (int axis = 0; axis < rank; axis++)
        classes_unite(an, classes_item_of_axis(an, eq->left[pair], axis),
                      classes_item_of_axis(an, eq->right[pair], axis));
}

static void need_term(struct instance *in, struct needs *needs, term_id term, int64_t entry)
{
    const struct term *t = &in->equation->pattern->terms.items[term];
    if (!t->is_variable) {
        const struct definition *d = typing_definition(in->typing, in->calls[t->index]);
        needs->of_node[t->index][d->outputs[t->output]][entry] = 1;
    }
}

// Gives how many entries of a pair are left out.
static int64_t need_representatives(struct analysis *an, uint32_t pair, struct needs *needs)
{
    const struct equation *eq = an->in->equation;
    const struct type *type = typing_type(an->in->typing, instance_term_type(an->in, eq->left[pair]));
    uint32_t class_of_axis[MAX_RANK];
    int64_t place[MAX_RANK] = {0}, n = type_elements(type), left_out = 0;
    for (int axis = 0; axis < type->rank; axis++) {
        uint32_t class = classes_find(an, classes_item_of_axis(an, eq->left[pair], axis));
        class_of_axis[axis] = is_of_labels(an, class) ? class : NO_ITEM;
    }
    for (int64_t entry = 0; entry < n; entry++) {
        needs->of_pair[pair][entry] = is_first_of_its_kind(class_of_axis, place, type->rank);
        if (needs->of_pair[pair][entry]) {
            need_term(an->in, needs, eq->left[pair], entry);
            need_term(an->in, needs, eq->right[pair], entry);
        } else
            left_out++;
        for (int i = type->rank - 1; i >= 0 && ++place[i] == type->dim[i]; i--)
            place[i] = 0;
    }
    return left_out;
}

// --- what they are made of -------------------------------------------------------------------------------------------

struct marking {
    struct instance *in;
    struct needs *needs;
    uint32_t node;
    const struct definition *d;
    int64_t *variables;
};

// Nothing is needed of what a variable stands for: all of its entries are there.
static bool is_of_variable(const struct instance *in, uint32_t node, const struct definition *d,
                           const struct expr_node *read)
{
    const struct pattern *p = in->equation->pattern;
    return read->value < d->n_inputs && p->terms.items[p->nodes.items[node].inputs[read->value]].is_variable;
}

static bool reads_variables_alone(const struct instance *in, uint32_t node, const struct definition *d)
{
    for (expr e = 0; e < d->nodes.count; e++)
        if (d->nodes.items[e].kind == EXPR_READ && !is_of_variable(in, node, d, &d->nodes.items[e]))
            return false;
    return true;
}

static void mark_read(const struct marking *m, const struct expr_node *n)
{
    const struct type *type = definition_tensor(m->d, n->value);
    int64_t offset = 0;
    if (is_of_variable(m->in, m->node, m->d, n))
        return;
    for (int i = 0; i < n->count; i++) {
        int64_t place = index_value(m->d, m->d->indices.items[n->a + (expr)i], m->variables);
        if (place < 0 || place >= type->dim[i])
            return;
        offset = offset * type->dim[i] + place;
    }
    if (n->value >= m->d->n_inputs)
        m->needs->of_node[m->node][n->value - m->d->n_inputs][offset] = 1;
    else
        need_term(m->in, m->needs, m->in->equation->pattern->nodes.items[m->node].inputs[n->value], offset);
}

static void mark_scalar(const struct marking *m, expr e)
{
    const struct expr_node *n = &m->d->nodes.items[e];
    int arity;
    switch ((enum expr_kind)n->kind) {
    case EXPR_READ:
        mark_read(m, n);
        break;
    case EXPR_APPLY:
        arity = function_arity((enum scalar_function)n->fn);
        mark_scalar(m, n->a);
        if (arity > 1)
            mark_scalar(m, n->b);
        if (arity > 2)
            mark_scalar(m, n->c);
        break;
    case EXPR_REDUCE:
        for (int64_t t = 0; t < m->d->extents.items[n->value]; t++) {
            m->variables[n->value] = t;
            mark_scalar(m, n->a);
        }
        break;
    case EXPR_SELECT:
        mark_scalar(m, index_value(m->d, n->a, m->variables) >= 0 ? n->b : n->c);
        break;
    default:
        break;
    }
}

static void mark_stage(const struct marking *m, const struct stage *s, const uint8_t *needed)
{
    int64_t elements = type_elements(&s->type), *place = &m->variables[s->first_variable];
    for (int i = 0; i < s->type.rank; i++)
        place[i] = 0;
    for (int64_t entry = 0; entry < elements; entry++) {
        if (needed[entry])
            mark_scalar(m, s->body);
        for (int i = s->type.rank - 1; i >= 0 && ++place[i] == s->type.dim[i]; i--)
            place[i] = 0;
    }
}

// What is needed of the node is known, as all that reads it stands behind it.
static void mark_node(struct instance *in, struct needs *needs, uint32_t node)
{
    const struct definition *d = typing_definition(in->typing, in->calls[node]);
    struct marking m = {.in = in, .needs = needs, .node = node, .d = d};
    if (reads_variables_alone(in, node, d))
        return;
    struct arena_mark mark = arena_mark(in->scratch);
    m.variables = arena_array(in->scratch, int64_t, d->extents.count + 1);
    for (int s = d->n_stages - 1; s >= 0; s--)
        mark_stage(&m, &d->stages[s], needs->of_node[node][s]);
    arena_release(in->scratch, mark);
}

static bool is_worth_it(const struct instance *in, uint32_t pairs, node_set nodes)
{
    const struct equation *eq = in->equation;
    int64_t entries = 0;
    for (uint32_t i = 0; i < eq->n_pairs; i++)
        if (pairs >> i & 1)
            entries += type_elements(typing_type(in->typing, instance_term_type(in, eq->left[i])));
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        if ((nodes >> n & 1) && (!in->calls[n] || typing_definition(in->typing, in->calls[n])->is_data_dependent))
            return false;
    return entries >= FEW_ENTRIES;
}

static void clear_needs(struct instance *in, uint32_t pairs, node_set nodes, struct needs *ret)
{
    for (uint32_t i = 0; i < in->equation->n_pairs; i++)
        if (pairs >> i & 1) {
            const struct type *type = typing_type(in->typing, instance_term_type(in, in->equation->left[i]));
            ret->of_pair[i] = arena_array(in->scratch, uint8_t, type_elements(type) + 1);
        }
    for (uint32_t n = 0; n < in->equation->pattern->nodes.count; n++) {
        ret->of_node[n] = NULL;
        if (!(nodes >> n & 1))
            continue;
        const struct definition *d = typing_definition(in->typing, in->calls[n]);
        ret->of_node[n] = arena_array(in->scratch, uint8_t *, d->n_stages + 1);
        for (int i = 0; i < d->n_stages; i++) {
            int64_t entries = type_elements(&d->stages[i].type);
            ret->of_node[n][i] = arena_array(in->scratch, uint8_t, entries + 1);
            memset(ret->of_node[n][i], 0, (size_t)entries);
        }
    }
}

bool representatives_find(struct instance *in, uint32_t pairs, node_set nodes, struct needs *ret_needs)
{
    if (!is_worth_it(in, pairs, nodes))
        return false;
    clear_needs(in, pairs, nodes, ret_needs);
    struct arena_mark mark = arena_mark(in->scratch);
    struct analysis *an = arena_new(in->scratch, struct analysis);
    int64_t left_out = 0;
    an->in = in;
    classes_number_items(an);
    if (!an->has_too_many)
        classes_note_nodes(an);
    for (uint32_t i = 0; i < in->equation->n_pairs && !an->has_too_many; i++)
        if (pairs >> i & 1)
            unite_outputs(an, i);
    for (uint32_t i = 0; i < in->equation->n_pairs && !an->has_too_many; i++)
        if (pairs >> i & 1)
            left_out += need_representatives(an, i, ret_needs);
    arena_release(in->scratch, mark);
    for (uint32_t n = (uint32_t)in->equation->pattern->nodes.count; left_out && n-- > 0;)
        if (nodes >> n & 1)
            mark_node(in, ret_needs, n);
    return left_out > 0;
}
