// Cases of ranks and axes, each with the most generic shapes that are found.
#include "selection/example.h"

#include "core/memory/hash.h"
#include "graph/field_entries.h"
#include "graph/graph_whole.h"
#include "instances/random_instances.h"
#include "substitutions/pattern.h"

enum { MAX_EXAMPLES = 8, INSTANCES_PER_ASSIGNMENT = 1000 };
#define KEY 0x7461736f
#define MOST_OPERATIONS 1e6   // for one entry; dearer ones are not looked at

// --- finding shapes --------------------------------------------------------------------------------------------------

// Sizes of which no two are alike and that add up to each other, when there are such; else whatever there is, and at
// last pads that differ by as much as kernels do, of one axis.
static const struct shape_search {
    uint32_t sizes;
    int max_rank;
    enum domain_extent extent;
    uint64_t step_limit, steps_per_assignment;
} searches[] = {{1 << 2 | 1 << 3 | 1 << 5, 4, DOMAIN_ALIKE, 40000, 15000},
                {1 << 2 | 1 << 3 | 1 << 5, 4, DOMAIN_ALIKE, 1000000, 200000},
                {SIZES_UP_TO(4), 4, DOMAIN_ALIKE, 1000000, 200000},
                {SIZES_UP_TO(6), 4, DOMAIN_ALIKE, 1000000, 200000},
                {SIZES_UP_TO(4), 4, DOMAIN_ALIKE, 8000000, 4000000},
                {SIZES_UP_TO(2), 4, DOMAIN_SOME, 1000000, 1000000},
                {SIZES_UP_TO(3), 3, DOMAIN_SMALL, 1000000, 1000000}};

// Cases of instances with the same ranks and axes: the first and the last one of the best score. What is small in one
// is large in the other.
struct shape_case {
    uint64_t group;
    int score;
    bool is_first;
    struct type *types;   // of all variables
    bool has_type[MAX_RULE_VARIABLES];
    struct attribute_value attributes[MAX_RULE_VARIABLES];
};
struct finding {
    const struct rule *rule;
    const struct equation *equation;
    struct typing *typing;
    struct arena *arena, scratch;
    const struct shape_search *search;
    const struct box *box;   // of the search
    uint64_t steps;
    int seen, n_cases;
    struct shape_case cases[MAX_EXAMPLES];
};

static bool names_axes(const struct pattern *p, uint32_t variable)
{
    static const enum attribute_role roles[] = {ROLE_AXIS, ROLE_AXES, ROLE_PERMUTATION};
    for (size_t n = 0; n < p->nodes.count; n++)
        for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
            const struct attribute_pattern *value = pattern_node_attribute(&p->nodes.items[n], roles[i]);
            for (uint32_t j = 0; j < value->count; j++)
                if (value->terms[j]->kind == TERM_VARIABLE && value->terms[j]->value == (int64_t)variable)
                    return true;
        }
    return false;
}

static uint64_t group_of(const struct instance *in)
{
    const struct pattern *p = in->equation->pattern;
    uint64_t hash = 1;
    for (uint32_t v = 0; v < p->n_variables; v++)
        hash = hash_mix(hash, in->types[v] ? (uint64_t)in->types[v]->rank : MAX_RANK + 1);
    for (uint32_t v = 0; v < p->n_attribute_variables; v++)
        for (uint32_t i = 0; names_axes(p, v) && i < in->attributes[v].count; i++)
            hash = hash_mix(hash, (uint64_t)in->attributes[v].ints[i]);
    return hash;
}

// Sizes that differ are no coincidence, and sizes of 1 are one.
static int score_of(const struct instance *in)
{
    uint64_t sizes = 0;
    int ones = 0, distinct = 0;
    for (uint32_t v = 0; v < in->equation->pattern->n_variables; v++)
        for (int a = 0; in->types[v] && a < in->types[v]->rank; a++) {
            sizes |= (uint64_t)1 << (in->types[v]->dim[a] & 63);
            ones += in->types[v]->dim[a] == 1;
        }
    for (; sizes; sizes &= sizes - 1)
        distinct++;
    return 4 * distinct - ones;
}

// The first of the two cases of a group.
static struct shape_case *find_cases(struct finding *f, uint64_t group)
{
    for (int i = 0; i < f->n_cases; i++)
        if (f->cases[i].group == group)
            return &f->cases[i];
    if (f->n_cases + 2 > MAX_EXAMPLES)
        return NULL;
    for (int i = 0; i < 2; i++)
        f->cases[f->n_cases + i] = (struct shape_case){.group = group,
                                                       .score = -1000,
                                                       .is_first = i == 0,
                                                       .types = arena_array(f->arena, struct type, MAX_RULE_VARIABLES)};
    f->n_cases += 2;
    return &f->cases[f->n_cases - 2];
}

static void note_type(struct shape_case *c, uint32_t variable, const struct type *type)
{
    c->has_type[variable] = type != NULL;
    if (type)
        c->types[variable] = *type;
}

static void note_shapes(struct finding *f, struct shape_case *c, const struct instance *in, int score)
{
    if (score > c->score || (score == c->score && !c->is_first)) {
        c->score = score;
        for (uint32_t v = 0; v < in->equation->pattern->n_variables; v++)
            note_type(c, v, in->types[v]);
        for (uint32_t v = 0; v < in->equation->pattern->n_attribute_variables; v++)
            if (!attribute_value_equal(&c->attributes[v], &in->attributes[v]))
                c->attributes[v] = attribute_value_copy(f->arena, &in->attributes[v]);
    }
}

static bool note_instance(void *context, struct instance *in)
{
    struct finding *f = context;
    struct shape_case *cases = find_cases(f, group_of(in));
    int score = score_of(in);
    if (!cases)
        return false;
    note_shapes(f, &cases[0], in, score);
    note_shapes(f, &cases[1], in, score);
    return ++f->seen < INSTANCES_PER_ASSIGNMENT;
}

static bool find_with_attributes(void *context, const struct attribute_value *attributes)
{
    struct finding *f = context;
    struct enumeration e = {.equation = f->equation,
                            .typing = f->typing,
                            .scratch = &f->scratch,
                            .box = f->box,
                            .wanted = WANTED_BOTH,
                            .attributes = attributes,
                            .step_limit = f->search->steps_per_assignment,
                            .visit = note_instance,
                            .context = f};
    f->seen = 0;
    enumerate_instances(&e);
    f->steps += e.steps + 1;
    return f->steps < f->search->step_limit && f->n_cases < MAX_EXAMPLES;
}

static struct box box_of_search(const struct shape_search *s)
{
    struct box box = {.max_rank = s->max_rank};
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= box.max_rank; r++)
            for (int a = 0; a < MAX_RANK; a++)
                box.sizes[v][r][a] = s->sizes;
    return box;
}

static void find_shapes(struct finding *f)
{
    for (size_t i = 0; i < sizeof searches / sizeof *searches && f->n_cases == 0; i++) {
        struct box box = box_of_search(&searches[i]);
        f->search = &searches[i];
        f->box = &box;
        f->steps = 0;
        struct attribute_walk all = {.equation = f->equation,
                                     .max_rank = box.max_rank,
                                     .extent = searches[i].extent,
                                     .scratch = &f->scratch,
                                     .visit = find_with_attributes,
                                     .context = f};
        enumerate_attributes(&all);
    }
}

// --- graphs ----------------------------------------------------------------------------------------------------------

uint32_t rule_weights(const struct rule *r)
{
    uint32_t weights = 0;
    for (uint32_t i = 0; i < r->n_conditions; i++)
        if (r->conditions[i].kind == CONDITION_WEIGHT || r->conditions[i].kind == CONDITION_GIVEN)
            weights |= 1u << r->conditions[i].variable;
    return weights;
}

static bool add_nodes(struct graph *g, const struct rule *r, const struct shape_case *c, const tensor_id *leaves,
                      uint32_t first, uint32_t end, tensor_id (*ret_outputs)[MAX_RULE_OUTPUTS])
{
    const struct type *types[MAX_RULE_VARIABLES];
    for (uint32_t v = 0; v < r->pattern.n_variables; v++)
        types[v] = c->has_type[v] ? &c->types[v] : NULL;
    struct term_bindings bindings = {types, c->attributes};
    for (uint32_t n = first; n < end; n++) {
        const struct pattern_node *node = &r->pattern.nodes.items[n];
        struct attribute_value values[MAX_ATTRIBUTES];
        tensor_id inputs[MAX_RULE_VARIABLES];
        node_id added;
        if (!pattern_evaluate_attributes(node, &bindings, g->arena, values))
            return false;
        for (uint32_t i = 0; i < node->n_inputs; i++) {
            const struct term *t = &r->pattern.terms.items[node->inputs[i]];
            inputs[i] = t->is_variable ? leaves[t->index] : ret_outputs[t->index][t->output];
        }
        if (!graph_add(g, node->op, values, node->n_inputs, inputs, &added))
            return false;
        for (uint32_t i = 0; i < g->nodes.items[added].n_outputs && i < MAX_RULE_OUTPUTS; i++)
            ret_outputs[n][i] = graph_output_of(g, added, i);
    }
    return true;
}

static bool build_side(struct graph *g, const struct rule *r, const struct shape_case *c, bool is_target)
{
    tensor_id leaves[MAX_RULE_VARIABLES], outputs[MAX_RULE_NODES][MAX_RULE_OUTPUTS];
    const term_id *terms = is_target ? r->targets : r->sources;
    for (uint32_t v = 0; v < r->pattern.n_variables; v++)
        leaves[v] = graph_add_leaf(g, operators[OP_INPUT], v, &c->types[v]);
    if (!add_nodes(g, r, c, leaves, 0, is_target ? (uint32_t)r->pattern.nodes.count : r->n_source_nodes, outputs))
        return false;
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        const struct term *t = &r->pattern.terms.items[terms[i]];
        graph_add_output(g, t->is_variable ? leaves[t->index] : outputs[t->index][t->output]);
    }
    return true;
}

static const struct operator* leaf_operator(const struct node *leaf, const uint32_t *weights)
{
    return weights ? operators[*weights >> (leaf->attributes[0].ints[0] & 31) & 1 ? OP_WEIGHT : OP_INPUT] : leaf->op;
}

static bool renew_node(struct graph *g, const struct graph *from, node_id n, const uint32_t *weights, tensor_id *moved)
{
    const struct node *node = &from->nodes.items[n];
    tensor_id inputs[MAX_RULE_VARIABLES];
    node_id added;
    if (node->op->flags & OPERATOR_IS_LEAF) {
        moved[node->first_output] = graph_add_leaf(g, leaf_operator(node, weights), node->attributes[0].ints[0],
                                                   graph_type(from, node->first_output));
        return true;
    }
    for (uint32_t i = 0; i < node->n_inputs; i++)
        inputs[i] = moved[graph_inputs(from, n)[i]];
    if (!graph_add(g, node->op, node->attributes, node->n_inputs, inputs, &added))
        return false;
    for (uint32_t i = 0; i < node->n_outputs; i++)
        moved[graph_output_of(from, n, i)] = graph_output_of(g, added, i);
    return true;
}

// weights: which leaves are weights; NULL: those that were.
static bool renew_graph(struct graph *ret_graph, const struct graph *g, const uint32_t *weights, struct arena *arena)
{
    LOCAL_ARRAY(tensor_id, moved, g->tensors.count + 1);
    bool is_typed = true;
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    graph_mark_live(g, live);
    graph_init(ret_graph, arena);
    is_typed = is_typed && ALL(node_id, n, g->nodes.count, !live[n] || renew_node(ret_graph, g, n, weights, moved));
    for (size_t i = 0; is_typed && i < g->outputs.count; i++)
        graph_add_output(ret_graph, moved[g->outputs.items[i]]);
    if (!is_typed)
        graph_free(ret_graph);
    return is_typed;
}

bool graph_forget_history(struct graph *ret_graph, const struct graph *g, struct arena *arena)
{
    return renew_graph(ret_graph, g, NULL, arena);
}

// The copy has none of the memory that adding nodes takes.
static void set_leaves(struct graph *g, uint32_t weights)
{
    struct graph renewed;
    if (!renew_graph(&renewed, g, &weights, g->arena))
        return;
    graph_free(g);
    graph_copy(g, &renewed);
    graph_free(&renewed);
}

void examples_set_weights(struct examples *e, uint32_t weights)
{
    for (size_t i = 0; i < e->items.count; i++) {
        set_leaves(&e->items.items[i].source, weights);
        set_leaves(&e->items.items[i].target, weights);
    }
}

static void add_example(struct examples *e, const struct rule *r, const struct shape_case *c)
{
    struct example example, pruned;
    graph_init(&example.source, &e->arena);
    graph_init(&example.target, &e->arena);
    bool is_built = build_side(&example.source, r, c, false) && build_side(&example.target, r, c, true);
    if (is_built && graph_forget_history(&pruned.source, &example.source, &e->arena)) {
        if (graph_forget_history(&pruned.target, &example.target, &e->arena))
            vec_push(&e->items, pruned);
        else
            graph_free(&pruned.source);
    }
    graph_free(&example.source);
    graph_free(&example.target);
}

void examples_make(struct examples *ret_examples, const struct rule *r, struct typing *typing)
{
    struct equation eq = equation_of_rule(r);
    *ret_examples = (struct examples){0};
    struct finding f = {.rule = r, .equation = &eq, .typing = typing, .arena = &ret_examples->arena};
    typing_trim(typing);
    find_shapes(&f);
    for (int i = 0; i < f.n_cases; i++)
        add_example(ret_examples, r, &f.cases[i]);
    arena_free(&f.scratch);
}

struct drawing {
    struct examples *examples;
    const struct rule *rule;
};

static bool add_drawn(void *context, struct instance *in, enum wanted_sides wanted)
{
    struct drawing *d = context;
    struct type types[MAX_RULE_VARIABLES] = {0};
    struct shape_case c = {.types = types};
    for (uint32_t v = 0; v < d->rule->pattern.n_variables; v++) {
        if (in->types[v] && in->types[v]->rank > 4)
            return true;
        note_type(&c, v, in->types[v]);
    }
    for (uint32_t v = 0; v < d->rule->pattern.n_attribute_variables; v++)
        c.attributes[v] = attribute_value_copy(&d->examples->arena, &in->attributes[v]);
    add_example(d->examples, d->rule, &c);
    return true;
}

void examples_add_random(struct examples *e, const struct rule *r, uint32_t n)
{
    struct equation eq = equation_of_rule(r);
    struct drawing d = {e, r};
    struct random_search search = {.seed = 1,
                                   .largest = 8,
                                   .wanted = n,
                                   .attempts = 10 * n,
                                   .step_limit = 100000,
                                   .visit = add_drawn,
                                   .context = &d};
    random_instances_visit(&search, &eq);
}

// --- over the prime field, entry by entry, as the optimizer checks applications --------------------------------------

// The first entry, and the last one.
static bool have_equal_entries(struct field_entries *source, tensor_id x, struct field_entries *target, tensor_id y)
{
    const struct type *type = graph_type(source->g, x);
    int64_t first[MAX_RANK] = {0}, last[MAX_RANK] = {0};
    for (int i = 0; i < type->rank; i++)
        last[i] = type->dim[i] - 1;
    return field_entry(source, x, first) == field_entry(target, y, first) &&
           field_entry(source, x, last) == field_entry(target, y, last);
}

bool example_holds_over_field(const struct example *e)
{
    ARENA(a);
    struct field_entries source FREED_BY(field_entries_free), target FREED_BY(field_entries_free);
    field_entries_init(&source, &e->source, KEY, &a);
    field_entries_init(&target, &e->target, KEY, &a);
    for (size_t i = 0; i < e->source.outputs.count; i++) {
        tensor_id x = e->source.outputs.items[i], y = e->target.outputs.items[i];
        bool is_cheap = field_entry_cost(&source, x) + field_entry_cost(&target, y) <= MOST_OPERATIONS;
        if (is_cheap && !have_equal_entries(&source, x, &target, y))
            return false;
    }
    return true;
}

void examples_free(struct examples *e)
{
    for (size_t i = 0; i < e->items.count; i++) {
        graph_free(&e->items.items[i].source);
        graph_free(&e->items.items[i].target);
    }
    vec_free(&e->items);
    arena_free(&e->arena);
}
