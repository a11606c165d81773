// Programs as targets: applications of operators stand for themselves; what lies between them is a view, or an
// application of `expression`, whose attributes say what it computes.
#include "optimizer/derive/part_rules.h"

#include "core/memory/arena.h"
#include "core/text/text.h"
#include "derivation/programs/check.h"
#include "derivation/programs/cost.h"
#include "derivation/search/report.h"
#include "operators/expression.h"
#include "operators/traits.h"
#include "optimizer/derive/standard_form.h"
#include "optimizer/limits.def"
#include "substitutions/pattern.h"
#include <string.h>

enum { DEPTH = 4, MOST_PROGRAMS = 400, MOST_LOOKED_AT = 200, MOST_PRODUCTS = 3 };

// --- sources ---------------------------------------------------------------------------------------------------------

static const struct attribute_term *term_of_sizes(const struct type *type, struct arena *a)
{
    const struct attribute_term **sizes = arena_array(a, const struct attribute_term *, type->rank + 1);
    for (int axis = 0; axis < type->rank; axis++)
        sizes[axis] = attribute_term_make(TERM_INTEGER, type->dim[axis], NULL, a);
    return attribute_term_of(a, TERM_LIST, (uint32_t)type->rank, sizes);
}

static void add_conditions(struct rule *r, const struct part *p, struct arena *a)
{
    struct condition *conditions = arena_array(a, struct condition, 3 * MOST_LEAVES), *next = conditions;
    for (uint32_t i = 0; i < (uint32_t)p->n_leaves; i++) {
        *next++ = (struct condition){.kind = CONDITION_DTYPE, .variable = i, .dtype = p->leaves[i].dtype};
        *next++ = (struct condition){.kind = CONDITION_EQUAL,
                                     .a = attribute_term_make(TERM_DIMS, i, NULL, a),
                                     .b = term_of_sizes(&p->leaves[i], a)};
        if (p->weights >> i & 1)
            *next++ = (struct condition){.kind = CONDITION_WEIGHT, .variable = i};
    }
    r->n_conditions = (uint32_t)(next - conditions);
    r->conditions = conditions;
}

static term_id add_source_node(struct rule *r, const struct graph *g, node_id id, const term_id *terms, struct arena *a)
{
    const struct node *n = &g->nodes.items[id];
    term_id inputs[MAX_RULE_VARIABLES];
    if (n->op->flags & OPERATOR_IS_LEAF)
        return (term_id)n->attributes[0].ints[0];   // variables come first
    for (uint32_t i = 0; i < n->n_inputs; i++)
        inputs[i] = terms[graph_inputs(g, id)[i]];
    return pattern_add_call(&r->pattern, n->op, n->attributes, n->n_inputs, inputs, a);
}

struct rule *part_rule_start(const struct part *p, struct arena *a)
{
    struct rule *r = arena_new(a, struct rule);
    LOCAL_ARRAY(term_id, terms, p->graph.tensors.count);
    pattern_init(&r->pattern);
    for (int i = 0; i < p->n_leaves; i++)
        pattern_add_variable(&r->pattern, arena_printf(a, "x%d", i));
    for (node_id id = 0; id < p->graph.nodes.count; id++)
        terms[p->graph.nodes.items[id].first_output] = add_source_node(r, &p->graph, id, terms, a);
    r->n_source_nodes = (uint32_t)r->pattern.nodes.count;
    r->n_outputs = 1;
    r->sources[0] = r->targets[0] = terms[p->result];
    add_conditions(r, p, a);
    return r;
}

// --- targets ---------------------------------------------------------------------------------------------------------

// A rule's operators; those of one operator that cost the same are one way with other axes. Few are products, so that
// windows of several places, of which kernels save multiplications, are not crowded out.
struct way {
    const char *applications;
    const struct operator* first;
    bool has_window;   // of several places
    double cost;
};
struct deriving {
    const struct part *part;
    struct derivation dv;
    int original;   // program
    const char *name;
    struct rule_set *to;
    VEC(struct way) ways;   // of the rules
};

struct target {
    struct deriving *g;
    struct rule *rule;
    int n;
    int tensors[MOST_TENSORS];   // that have terms
    term_id terms[MOST_TENSORS];
};

static term_id term_of(const struct target *t, int tensor)
{
    int i = 0;
    if (tensor < t->g->dv.all.pool.d.n_inputs)
        return (term_id)tensor;
    while (t->tensors[i] != tensor)
        i++;
    return t->terms[i];
}

static term_id add_call(struct target *t, const struct operator* op, const struct attribute_value *attributes, int n,
                        const int *operands)
{
    term_id inputs[MOST_TENSORS];
    for (int i = 0; i < n; i++)
        inputs[i] = term_of(t, operands[i]);
    return pattern_add_call(&t->rule->pattern, op, attributes, (uint32_t)n, inputs, t->g->to->arena);
}

// The same entries in the same order, or what no operator computes.
static bool add_other(struct target *t, int tensor, term_id *ret_term)
{
    struct pool *p = &t->g->dv.all.pool;
    struct tensor_list read;
    struct attribute_value attributes[MAX_ATTRIBUTES] = {0};
    bool is_reshape = is_view(p, tensor);
    tensors_read(&t->g->dv, tensor, &read);
    if (!is_reshape && t->g->part->is_of_onnx)
        return read.n == 1 &&
               standard_form_add(p, tensor, term_of(t, read.items[0]), &t->rule->pattern, t->g->to->arena, ret_term);
    const struct type *type = definition_tensor(&p->d, tensor);
    attributes[0] = (struct attribute_value){(uint32_t)type->rank, type->dim};
    if (!is_reshape && !expression_attributes(&p->d, tensor, read.n, read.items, t->g->dv.arena, attributes))
        return false;
    *ret_term = add_call(t, operators[is_reshape ? OP_RESHAPE : OP_EXPRESSION], attributes, read.n, read.items);
    return true;
}

static bool is_known(const struct target *t, int tensor)
{
    return tensor < t->g->dv.all.pool.d.n_inputs || ANY(int, i, t->n, t->tensors[i] == tensor);
}

// Tensors stand behind what they read, operands of an operator in their order; the program says no order of others.
static bool add_tensor(struct target *t, int tensor)
{
    const struct application *a = derivation_application(&t->g->dv, tensor);
    struct tensor_list read = {.n = OPERANDS};
    term_id term;
    if (is_known(t, tensor))
        return true;
    if (a)
        memcpy(read.items, a->operands, sizeof a->operands);
    else
        tensors_read(&t->g->dv, tensor, &read);
    for (int i = 0; i < read.n; i++)
        if (!add_tensor(t, read.items[i]))
            return false;
    if (a)
        term = add_call(t, a->op, a->attributes, OPERANDS, a->operands);
    else if (!add_other(t, tensor, &term))
        return false;
    t->tensors[t->n] = tensor;
    t->terms[t->n++] = term;
    return true;
}

static bool add_target(struct deriving *g, int program, struct rule *r)
{
    struct target t = {.g = g, .rule = r};
    if (!add_tensor(&t, program) || t.n == 0)
        return false;
    r->targets[0] = t.terms[t.n - 1];
    return r->n_source_nodes <= MAX_SOURCE_NODES && r->pattern.nodes.count <= MAX_RULE_NODES &&
           r->targets[0] != r->sources[0];
}

// --- programs --------------------------------------------------------------------------------------------------------

static const struct application *first_application(struct deriving *g, int program)
{
    struct tensor_list tensors;
    const struct application *a = NULL;
    program_tensors(&g->dv, program, &tensors);
    for (int i = 0; i < tensors.n && !a; i++)
        if (!depends_on_weights_alone(&g->dv, tensors.items[i]))
            a = derivation_application(&g->dv, tensors.items[i]);
    return a;
}

static bool has_window(const struct deriving *g, const struct application *a)
{
    const struct type *kernel = definition_tensor(&g->dv.all.pool.d, a->operands[OPERANDS - 1]);
    bool is_wide = false;
    for (int axis = 2; operator_has_role(a->op, ROLE_STRIDE) && axis < kernel->rank; axis++)
        is_wide = is_wide || kernel->dim[axis] > 1;
    return is_wide;
}

static struct way way_of(struct deriving *g, const struct derived_program *program)
{
    TEXT(text);
    const struct application *first = first_application(g, program->program);
    struct way way = {.cost = program->cost};
    way.first = first ? first->op : NULL;
    way.has_window = first && has_window(g, first);
    applications_print(&text, &g->dv, program->program);
    way.applications = arena_string(g->dv.arena, text.count ? text.chars : "");
    return way;
}

static bool is_known_way(const struct deriving *g, const struct way *way)
{
    return vec_find(&g->ways, known,
                    strcmp(known->applications, way->applications) == 0 ||
                        (known->first == way->first && known->cost == way->cost)) != NULL;
}

static bool has_all_products(const struct deriving *g)
{
    int n = COUNT(size_t, i, g->ways.count, !g->ways.items[i].has_window);
    return n >= MOST_PRODUCTS;
}

// The operator of the part on what it is on, with other weights: as many windows of a larger kernel, say.
static bool is_original(struct deriving *g, int program)
{
    const struct graph *graph = &g->part->graph;
    const struct application *a = derivation_application(&g->dv, program);
    bool is_alone = graph->nodes.count == (size_t)g->part->n_leaves + 1 && program_cost(&g->dv, program).n_others == 0;
    return is_alone && a && a->op == graph_producer(graph, g->part->result)->op;
}

static void add_rule(struct deriving *g, const struct derived_program *derived, bool has_room)
{
    const struct check_limits check = {.n_random = 20, .most_work = 2e5};
    int program = derived->program;
    struct way way = way_of(g, derived);
    if (!way.first || is_original(g, program) || is_known_way(g, &way) ||
        (!has_room && !way.has_window && has_all_products(g)))
        return;
    struct rule *r = part_rule_start(g->part, g->to->arena);
    if (!add_target(g, program, r) || !programs_agree(&g->dv, g->original, program, 1, &check)) {
        rule_free(r);
        return;
    }
    r->name = arena_printf(g->to->arena, "%s-%zu", g->name, g->ways.count);
    vec_push(&g->ways, way);
    vec_push(&g->to->rules, r);
}

// Is nothing computed before the operators, so that others may read the same?
static bool begins_with_operators(struct deriving *g, int program)
{
    struct tensor_list tensors;
    program_tensors(&g->dv, program, &tensors);
    for (int i = 0; i + 1 < tensors.n; i++)
        if (!depends_on_weights_alone(&g->dv, tensors.items[i]) && !is_view(&g->dv.all.pool, tensors.items[i]) &&
            !derivation_application(&g->dv, tensors.items[i]))
            return false;
    return true;
}

// A contraction without windows.
static bool is_product(const struct application *a)
{
    return a && !operator_has_role(a->op, ROLE_STRIDE);
}

// Results that are cheap enough come first.
static size_t count_cheap(const struct search *s)
{
    return FIRST_OF(size_t, n, s->results.count,
                    s->results.items[n].cost > MOST_TIMES_CHEAPEST * s->results.items[0].cost);
}

static void add_for_sharing(struct deriving *g, const struct search *s)
{
    size_t before = g->ways.count;
    for (size_t i = 0; i < count_cheap(s) && g->ways.count == before; i++)
        if (begins_with_operators(g, s->results.items[i].program) &&
            is_product(first_application(g, s->results.items[i].program)))
            add_rule(g, &s->results.items[i], true);
}

static void derive_program(struct deriving *g, size_t most)
{
    struct search search FREED_BY(search_free);
    struct search_limits limits = search_standard_limits;
    limits.depth = DEPTH;
    limits.most_programs = MOST_PROGRAMS;
    limits.most_cost = MOST_TIMES_CHEAPEST;
    limits.factorizes = false;   // expressions of several terms have no kernels that are fast
    search_run(&search, &g->dv, g->original, &limits);
    for (size_t i = 0; i < count_cheap(&search) && i < MOST_LOOKED_AT && g->ways.count < most; i++)
        add_rule(g, &search.results.items[i], false);
    if (g->part->is_shared)
        add_for_sharing(g, &search);
}

void part_rules_add(struct rule_set *set, const struct part *p, const struct iterator_tables *tables, const char *name,
                    size_t most)
{
    ARENA(arena);
    struct definition d FREED_BY(definition_free) = {0};
    struct deriving g = {.part = p, .name = name, .to = set};
    if (part_define(p, &arena, &d)) {
        derivation_begin(&g.dv, &arena, p->n_leaves, p->leaves, tables);
        g.dv.weights = p->weights;
        g.original = derivation_add(&g.dv, &d);
        if (g.original != NO_SCOPE)
            derive_program(&g, most);
        derivation_end(&g.dv);
    }
    vec_free(&g.ways);
}
