// Visits every application to tensors of smaller levels; those of values not met yet become tensors of the next level.
#include "generator/enumerate/fingerprint.h"
#include "generator/enumerate/inputs.h"

#include <string.h>

// --- closures --------------------------------------------------------------------------------------------------------

static int closure_of_tensor(const struct tensor_store *s, uint32_t tensor, const uint32_t **ret_nodes)
{
    uint32_t node = tensor == NO_TENSOR ? NO_NODE : s->tensors.items[tensor].node;
    if (node == NO_NODE)
        return 0;
    *ret_nodes = s->nodes.items[node].closure;
    return s->nodes.items[node].level;
}

int tensor_store_closure_of(const struct tensor_store *s, const uint32_t *arguments, uint32_t *ret_nodes)
{
    const uint32_t *a = NULL, *b = NULL;
    int n_a = closure_of_tensor(s, arguments[0], &a), n_b = closure_of_tensor(s, arguments[1], &b), n = 0;
    for (int i = 0, j = 0; i < n_a || j < n_b; n++) {
        uint32_t next = j == n_b || (i < n_a && a[i] <= b[j]) ? a[i] : b[j];
        i += i < n_a && a[i] == next;
        j += j < n_b && b[j] == next;
        ret_nodes[n] = next;
    }
    return n;
}

static uint32_t store_leaves_of(const struct tensor_store *s, const struct combination *c)
{
    uint32_t leaves = s->tensors.items[c->arguments[0]].leaves;
    return c->arguments[1] == NO_TENSOR ? leaves : leaves | s->tensors.items[c->arguments[1]].leaves;
}

uint32_t tensor_store_support_of(const struct tensor_store *s, const uint32_t *arguments)
{
    uint32_t support = s->tensors.items[arguments[0]].support;
    return arguments[1] == NO_TENSOR ? support : support | s->tensors.items[arguments[1]].support;
}

static bool repeats_input(const struct tensor_store *s, const uint32_t *arguments)
{
    const struct tensor *a = &s->tensors.items[arguments[0]];
    if (arguments[1] == NO_TENSOR)
        return a->repeats_input;
    const struct tensor *b = &s->tensors.items[arguments[1]];
    return a->repeats_input || b->repeats_input || a->leaves & b->leaves & inputs_of_family(s->family);
}

// x - x has lost them; a product with it may be zero.
static bool has_lost_all_inputs(const struct tensor_store *s, const struct tensor *t)
{
    return t->support == 0 && t->leaves & inputs_of_family(s->family);
}

bool tensor_store_keeps_support(const struct tensor_store *s, const uint32_t *arguments)
{
    const struct tensor *a = &s->tensors.items[arguments[0]];
    if (arguments[1] == NO_TENSOR)
        return !a->repeats_input;
    const struct tensor *b = &s->tensors.items[arguments[1]];
    return !(a->support & b->support) && !has_lost_all_inputs(s, a) && !has_lost_all_inputs(s, b);
}

static bool share_a_value(const struct tensor_store *s, const struct node *x, const struct node *y)
{
    const struct tensor *of_x = &s->tensors.items[x->first_tensor], *of_y = &s->tensors.items[y->first_tensor];
    return ANY(uint32_t, i, x->n_outputs, ANY(uint32_t, j, y->n_outputs, of_x[i].value == of_y[j].value));
}

// Does joining the closures of two tensors compute some value twice?
static bool repeat_a_value(const struct tensor_store *s, uint32_t a, uint32_t b)
{
    const uint32_t *x = NULL, *y = NULL;
    int n_x = closure_of_tensor(s, a, &x), n_y = closure_of_tensor(s, b, &y);
    return ANY(int, i, n_x,
               ANY(int, j, n_y, x[i] != y[j] && share_a_value(s, &s->nodes.items[x[i]], &s->nodes.items[y[j]])));
}

// --- what nodes stand on ---------------------------------------------------------------------------------------------

// The node that stands on some nodes of a closure; NULL: none does.
static const nodes_above *nodes_on(const struct tensor_store *s, const uint32_t *closure, uint32_t chosen)
{
    uint32_t ground[MAX_OPS];
    size_t n = 0;
    for (int i = 0; chosen >> i; i++)
        if (chosen >> i & 1)
            ground[n++] = closure[i];
    uint32_t found = key_set_find(&s->by_ground, ground, n * sizeof *ground);
    return found == KEY_NONE ? NULL : &s->grounds.items[found];
}

static void add_to_ground(struct tensor_store *s, uint32_t node)
{
    const struct node *n = &s->nodes.items[node];
    uint32_t ground = key_set_add(&s->by_ground, &s->data, n->closure, (size_t)(n->level - 1) * sizeof *n->closure);
    if (ground == s->grounds.count)
        vec_push(&s->grounds, ((nodes_above){0}));
    vec_push(&s->grounds.items[ground], node);
}

// --- applications of a level -----------------------------------------------------------------------------------------

struct visiting {
    const struct tensor_store *s;
    struct lookup *l;
    bool is_last;
    combination_fn *visit;
    void *context;
};

static bool is_wanted(const struct visiting *v, uint32_t a, uint32_t b)
{
    return !v->is_last || inputs_are_first(v->s->family, tensor_store_support_of(v->s, (uint32_t[]){a, b}));
}

static void visit_all(const struct visiting *v, const struct applications *all, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct combination c = {all->items[i].instance, {a, b}, all->items[i].signature, all, i};
        v->visit(v->context, &c);
    }
}

static void visit_unary(const struct visiting *v, uint32_t a)
{
    const struct tensor *x = &v->s->tensors.items[a];
    int kind = x->node == NO_NODE ? 0 : FIRST_IS_NODE;
    if (is_wanted(v, a, NO_TENSOR))
        visit_all(v, lookup_applications(v->l, x->type, NULL, kind), a, NO_TENSOR);
}

static void visit_ordered_pair(const struct visiting *v, uint32_t a, uint32_t b)
{
    const struct tensor *x = &v->s->tensors.items[a], *y = &v->s->tensors.items[b];
    int kind = (a > b ? SECOND_ORDER : 0) | (x->node == NO_NODE ? 0 : FIRST_IS_NODE) |
               (y->node == NO_NODE ? 0 : SECOND_IS_NODE);
    visit_all(v, lookup_applications(v->l, x->type, y->type, kind), a, b);
}

static void visit_pair(const struct visiting *v, uint32_t a, uint32_t b)
{
    if (v->s->tensors.items[b].is_final || !is_wanted(v, a, b) || repeat_a_value(v->s, a, b))
        return;
    visit_ordered_pair(v, a < b ? a : b, a < b ? b : a);
    if (a != b)
        visit_ordered_pair(v, a < b ? b : a, a < b ? a : b);
}

static void visit_pairs_with_leaves(const struct visiting *v, uint32_t a)
{
    uint32_t n = (uint32_t)v->s->family->n_leaves;
    for (uint32_t b = 0; b < n && b <= a; b++)
        visit_pair(v, a, b);
}

static void visit_pairs_with_node(const struct visiting *v, uint32_t a, uint32_t node)
{
    const struct node *n = &v->s->nodes.items[node];
    for (uint32_t b = n->first_tensor; b < n->first_tensor + n->n_outputs; b++)
        if (b <= a)
            visit_pair(v, a, b);
}

// The other argument's closure lies inside of a's.
static void visit_pairs_inside(const struct visiting *v, uint32_t a)
{
    const uint32_t *closure = NULL;
    int n = closure_of_tensor(v->s, a, &closure);
    visit_pairs_with_leaves(v, a);
    for (int i = 0; i < n; i++)
        visit_pairs_with_node(v, a, closure[i]);
}

static bool is_in_closure(const struct node *of, uint32_t node)
{
    return ANY(int, i, of->level, of->closure[i] == node);
}

// The other argument's node, which is an earlier one, stands on nodes of a's closure alone, and not on a.
static void visit_pairs_beside(const struct visiting *v, uint32_t a)
{
    uint32_t node = v->s->tensors.items[a].node;
    const struct node *n = &v->s->nodes.items[node];
    for (uint32_t chosen = 0; chosen < 1u << (n->level - 1); chosen++) {
        const nodes_above *above = nodes_on(v->s, n->closure, chosen);
        for (size_t i = 0; above && i < above->count && above->items[i] < node; i++)
            if (!is_in_closure(n, above->items[i]))
                visit_pairs_with_node(v, a, above->items[i]);
    }
}

// The other argument is of level 2 too, and shares nothing with a.
static void visit_pairs_apart(const struct visiting *v, uint32_t a)
{
    const struct tensor_store *s = v->s;
    uint32_t node = s->tensors.items[a].node, below = s->nodes.items[node].closure[0];
    for (uint32_t b = s->first_node[2]; b < node; b++)
        if (s->nodes.items[b].closure[0] != below)
            visit_pairs_with_node(v, a, b);
}

void tensor_store_visit(const struct tensor_store *s, struct lookup *l, int level, uint32_t tensor,
                        combination_fn *visit, void *context)
{
    struct visiting v = {s, l, level == s->max_ops, visit, context};
    int own = s->tensors.items[tensor].level;
    if (s->tensors.items[tensor].is_final)
        return;
    if (own == level - 1) {
        visit_unary(&v, tensor);
        visit_pairs_inside(&v, tensor);
    } else if (own == level - 2 && own > 0)
        visit_pairs_beside(&v, tensor);
    else if (own == level - 3 && own == 2)
        visit_pairs_apart(&v, tensor);
}

// --- building --------------------------------------------------------------------------------------------------------

static bool is_equal_value(const void *owner, uint32_t id, const void *key)
{
    const struct tensor_store *s = owner;
    const struct tensor *known = &s->tensors.items[id], *asked = key;
    return known->type->plain == asked->type->plain &&
           memcmp(known->data, asked->data, known->type->elements * sizeof(uint64_t)) == 0;
}

static void number_value(struct tensor_store *s, uint32_t tensor)
{
    struct tensor *t = &s->tensors.items[tensor];
    uint32_t found = table_find(&s->by_value, t->fingerprint.low, is_equal_value, s, t);
    if (found == TABLE_NONE) {
        t->value = (uint32_t)s->supports.count;
        vec_push(&s->supports, inputs_of_family(s->family));
        table_insert(&s->by_value, t->fingerprint.low, tensor);
    } else {
        t->value = s->tensors.items[found].value;
    }
    s->supports.items[t->value] &= t->leaves;
}

static void set_supports(struct tensor_store *s)
{
    for (size_t i = 0; i < s->tensors.count; i++)
        s->tensors.items[i].support = s->supports.items[s->tensors.items[i].value];
}

static void add_leaf(struct tensor_store *s, struct lookup *l, int i)
{
    struct tensor t = {.node = NO_NODE, .leaves = 1u << i};
    if (s->family->leaves[i].is_constant) {
        t.type = s->family_types->constants[i].type;
        t.data = s->family_types->constants[i].data;
    } else {
        t.type = family_types_type(s->family_types, &s->family->leaves[i].type);
        t.data = family_types_random(s->family_types, i);
    }
    t.fingerprint = fingerprint_of(t.type, t.data, &l->scratch);
    vec_push(&s->tensors, t);
    number_value(s, (uint32_t)i);
}

typedef VEC(struct combination) combination_list;

static void collect(void *context, const struct combination *c)
{
    combination_list *list = context;
    vec_push(list, *c);
}

static void add_node(struct tensor_store *s, int level, const struct combination *c)
{
    struct node n = {.first_tensor = (uint32_t)s->tensors.count,
                     .arguments = {c->arguments[0], c->arguments[1]},
                     .instance = (uint16_t)c->instance,
                     .n_outputs = (uint8_t)c->signature->n_outputs,
                     .level = (uint8_t)level};
    int below = tensor_store_closure_of(s, c->arguments, n.closure);
    n.closure[below] = (uint32_t)s->nodes.count;
    for (int i = 0; i < n.n_outputs; i++) {
        struct tensor t = {.type = c->signature->outputs[i],
                           .node = (uint32_t)s->nodes.count,
                           .leaves = store_leaves_of(s, c),
                           .repeats_input = repeats_input(s, c->arguments),
                           .output = (uint8_t)i,
                           .level = (uint8_t)level};
        t.data = arena_alloc(&s->data, t.type->elements * sizeof(uint64_t), _Alignof(uint64_t));
        vec_push(&s->tensors, t);
    }
    vec_push(&s->nodes, n);
}

static void evaluate_node(struct tensor_store *s, struct lookup *l, const struct combination *c, const struct node *n)
{
    uint64_t *outputs[MAX_NODE_OUTPUTS];
    for (int i = 0; i < n->n_outputs; i++)
        outputs[i] = (uint64_t *)s->tensors.items[n->first_tensor + (uint32_t)i].data;
    const uint64_t *b = n->arguments[1] == NO_TENSOR ? NULL : s->tensors.items[n->arguments[1]].data;
    lookup_evaluate(l, c->signature, s->tensors.items[n->arguments[0]].data, b, outputs);
    for (int i = 0; i < n->n_outputs; i++) {
        struct tensor *t = &s->tensors.items[n->first_tensor + (uint32_t)i];
        t->fingerprint = fingerprint_of(t->type, t->data, &l->scratch);
    }
}

static bool repeats_a_value_below(const struct tensor_store *s, const struct node *n)
{
    const struct tensor *leaves = s->tensors.items, *own = leaves + n->first_tensor;
    return ANY(uint32_t, i, n->n_outputs,
               ANY(int, leaf, s->family->n_leaves, leaves[leaf].value == own[i].value) ||
                   ANY(uint32_t, other, i, own[other].value == own[i].value)) ||
           ANY(int, i, n->level - 1, share_a_value(s, n, &s->nodes.items[n->closure[i]]));
}

static void evaluate_level(struct tensor_store *s, const combination_list *list, uint32_t first_node)
{
#pragma omp parallel num_threads(s->family_types->threads)
    {
        struct lookup l FREED_BY(lookup_free);
        lookup_init(&l, s->family_types);
#pragma omp for schedule(dynamic, 256)
        for (size_t i = 0; i < list->count; i++)
            evaluate_node(s, &l, &list->items[i], &s->nodes.items[first_node + i]);
    }
}

static void build_level(struct tensor_store *s, struct lookup *l, int level)
{
    LOCAL_LIST(combination_list, list);
    uint32_t end = (uint32_t)s->tensors.count, first_node = (uint32_t)s->nodes.count;
    for (uint32_t tensor = 0; tensor < end; tensor++)
        tensor_store_visit(s, l, level, tensor, collect, &list);
    for (size_t i = 0; i < list.count; i++)
        add_node(s, level, &list.items[i]);
    evaluate_level(s, &list, first_node);
    for (uint32_t tensor = end; tensor < s->tensors.count; tensor++)
        number_value(s, tensor);
    set_supports(s);
    for (uint32_t node = first_node; node < s->nodes.count; node++) {
        const struct node *n = &s->nodes.items[node];
        uint32_t inputs = s->tensors.items[n->first_tensor].leaves & inputs_of_family(s->family);
        bool is_final = inputs == 0 || repeats_a_value_below(s, n);
        for (uint32_t i = n->first_tensor; i < n->first_tensor + n->n_outputs; i++)
            s->tensors.items[i].is_final = is_final;
    }
}

void tensor_store_init(struct tensor_store *s, struct family_types *u, int max_ops)
{
    *s = (struct tensor_store){.family_types = u, .family = u->family, .max_ops = max_ops};
    struct lookup l FREED_BY(lookup_free);
    lookup_init(&l, u);
    for (int i = 0; i < u->family->n_leaves; i++)
        add_leaf(s, &l, i);
    set_supports(s);
    for (int level = 1; level < max_ops; level++) {
        s->first_tensor[level] = (uint32_t)s->tensors.count;
        s->first_node[level] = (uint32_t)s->nodes.count;
        build_level(s, &l, level);
        s->first_node[level + 1] = (uint32_t)s->nodes.count;
        for (uint32_t node = s->first_node[level]; node < s->nodes.count && level <= max_ops - 2; node++)
            add_to_ground(s, node);
    }
}

void tensor_store_free(struct tensor_store *s)
{
    for (size_t i = 0; i < s->grounds.count; i++)
        vec_free(&s->grounds.items[i]);
    vec_free(&s->grounds);
    key_set_free(&s->by_ground);
    vecs_free(s, tensors, nodes, supports);
    table_free(&s->by_value);
    arena_free(&s->data);
}
