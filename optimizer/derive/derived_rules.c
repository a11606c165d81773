// A node that contracts two operands, with what moves the entries of these in front of it (the zeros of a transposed
// convolution), is one expression. Its cheapest programs, by bytes and operations, one for each way to make it of
// operators, become rules:
//
//     (rule derived-conv-1-0  (source (conv ... (pad ... ?x0) ?x1))
//                             (let (?t2 (expression ... ?x1)) (?t3 (matmul ?t2 ?x0)))  (target (expression ... ?t3))
//                             (where (dtype ?x0 f32) (= (dims ?x0) (list ...)) ... (weight ?x1)))
#include "optimizer/derive/derived_rules.h"

#include "core/memory/arena.h"
#include "core/system/interrupt.h"
#include "core/text/text.h"
#include "derivation/programs/check.h"
#include "derivation/programs/cost.h"
#include "derivation/search/report.h"
#include "graph/call_text.h"
#include "graph/compose.h"
#include "graph/extract.h"
#include "graph/graph_whole.h"
#include "operators/expression.h"
#include "operators/traits.h"
#include <string.h>

enum { MOST_PART_NODES = 12, MOST_LEAVES = 4, MOST_RULES_OF_PART = 6, DEPTH = 4, MOST_PROGRAMS = 400 };

// --- parts of the model ----------------------------------------------------------------------------------------------

struct part {
    const struct graph *from;
    const bool *is_constant;   // by tensors
    struct graph graph;
    struct text source;
    int n_nodes, n_leaves;
    tensor_id leaves[MOST_LEAVES];   // of the model
    tensor_id result;
    bool is_too_large;
};

static bool moves_entries(const struct node *n)
{
    return n->n_inputs == 1 && n->n_outputs == 1 && n->op->define &&
           (operator_moves_entries(n->op) || operator_has_role(n->op, ROLE_PADS));
}

static tensor_id add_leaf(struct part *p, tensor_id t)
{
    int i = 0;
    while (i < p->n_leaves && p->leaves[i] != t)
        i++;
    p->is_too_large = p->is_too_large || i == MOST_LEAVES;
    if (p->is_too_large)
        return 0;
    p->leaves[i] = t;
    p->n_leaves += i == p->n_leaves;
    text_printf(&p->source, " ?x%d", i);
    return graph_add_leaf(&p->graph, operators[OP_INPUT], i, graph_type(p->from, t));
}

static tensor_id add_node(struct part *p, node_id id);

static tensor_id add_operand(struct part *p, tensor_id t)
{
    if (p->is_constant[t] || !moves_entries(graph_producer(p->from, t)))
        return add_leaf(p, t);
    text_add(&p->source, " ");
    return add_node(p, p->from->tensors.items[t].producer);
}

static tensor_id add_node(struct part *p, node_id id)
{
    const struct node *n = &p->from->nodes.items[id];
    tensor_id inputs[MOST_LEAVES] = {0};
    p->is_too_large = p->is_too_large || ++p->n_nodes > MOST_PART_NODES || n->n_inputs > MOST_LEAVES;
    if (p->is_too_large)
        return 0;
    call_text_print(&p->source, n->op, -1, n->attributes);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        inputs[i] = add_operand(p, graph_inputs(p->from, id)[i]);
    text_add(&p->source, ")");
    return p->is_too_large ? 0 : graph_output_of(&p->graph, graph_add_copy(&p->graph, p->from, id, inputs), 0);
}

static void print_list(struct text *out, const struct type *type)
{
    text_add(out, "(list");
    for (int axis = 0; axis < type->rank; axis++)
        text_printf(out, " %lld", (long long)type->dim[axis]);
    text_add(out, ")");
}

static void print_conditions(struct text *out, const struct part *p)
{
    text_add(out, "\n  (where");
    for (int i = 0; i < p->n_leaves; i++) {
        text_printf(out, " (dtype ?x%d f32) (= (dims ?x%d) ", i, i);
        print_list(out, graph_type(p->from, p->leaves[i]));
        text_add(out, ")");
        if (p->is_constant[p->leaves[i]])
            text_printf(out, " (weight ?x%d)", i);
    }
    text_add(out, "))\n");
}

// --- programs as targets ---------------------------------------------------------------------------------------------

static void print_name(struct text *out, const struct derivation *dv, int tensor)
{
    text_printf(out, " ?%c%d", tensor < dv->all.pool.d.n_inputs ? 'x' : 't', tensor);
}

static void print_application(struct text *out, struct derivation *dv, const struct application *a)
{
    call_text_print(out, a->op, -1, a->attributes);
    for (int i = 0; i < OPERANDS; i++)
        print_name(out, dv, a->operands[i]);
}

// The same entries in the same order, or what no operator computes.
static bool print_other(struct text *out, struct derivation *dv, int tensor)
{
    struct pool *p = &dv->all.pool;
    struct tensor_list read;
    struct attribute_value attributes[MAX_ATTRIBUTES] = {0};
    bool is_reshape = is_view(p, tensor);
    tensors_read(p, tensor, &read);
    const struct type *type = definition_tensor(&p->d, tensor);
    attributes[0] = (struct attribute_value){(uint32_t)type->rank, type->dim};
    if (!is_reshape && !expression_attributes(&p->d, tensor, read.n, read.items, dv->arena, attributes))
        return false;
    call_text_print(out, operators[is_reshape ? OP_RESHAPE : OP_EXPRESSION], -1, attributes);
    for (int i = 0; i < read.n; i++)
        print_name(out, dv, read.items[i]);
    return true;
}

static bool print_tensor(struct text *out, struct derivation *dv, int tensor)
{
    const struct application *a = derivation_application(dv, tensor);
    if (a)
        print_application(out, dv, a);
    else if (!print_other(out, dv, tensor))
        return false;
    text_add(out, ")");
    return true;
}

static bool print_target(struct text *out, struct derivation *dv, int program)
{
    struct tensor_list tensors;
    program_tensors(&dv->all.pool, program, &tensors);
    text_add(out, "\n  (let");
    for (int i = 0; i + 1 < tensors.n; i++) {
        text_printf(out, "\n    (?t%d ", tensors.items[i]);
        if (!print_tensor(out, dv, tensors.items[i]))
            return false;
        text_add(out, ")");
    }
    text_add(out, ")\n  (target ");
    if (tensors.n == 0 || !print_tensor(out, dv, program))
        return false;
    text_add(out, ")");
    return true;
}

// --- rules -----------------------------------------------------------------------------------------------------------

struct deriving {
    const struct part *part;
    struct derivation dv;
    int original;   // program
    const char *name;
    int number;        // of the part
    struct text *to;   // rules
    int n_rules;
    const char *ways[MOST_RULES_OF_PART];
};

// The applications of a program, which programs that differ in eOperators alone share.
static const char *way_of(struct deriving *g, int program)
{
    struct text text = {0};
    struct tensor_list tensors;
    program_tensors(&g->dv.all.pool, program, &tensors);
    for (int i = 0; i < tensors.n; i++) {
        const struct application *a = derivation_application(&g->dv, tensors.items[i]);
        if (a && !depends_on_weights_alone(&g->dv, a->result))
            application_print(&text, &g->dv, a);
    }
    const char *way = text.count ? arena_string(g->dv.arena, text.chars) : NULL;
    text_free(&text);
    return way;
}

static bool is_known_way(const struct deriving *g, const char *way)
{
    for (int i = 0; i < g->n_rules; i++)
        if (strcmp(g->ways[i], way) == 0)
            return true;
    return false;
}

static void add_rule(struct deriving *g, int program)
{
    const struct check_limits check = {.n_random = 20, .most_work = 1e6};
    struct text rule = {0};
    const char *way = way_of(g, program);
    if (!way || is_known_way(g, way) || !programs_agree(&g->dv, g->original, program, 1, &check))
        return;
    text_printf(&rule, "(rule derived-%s-%d-%d\n  (source %s)", g->name, g->number, g->n_rules, g->part->source.chars);
    if (print_target(&rule, &g->dv, program)) {
        print_conditions(&rule, g->part);
        text_add(g->to, rule.chars);
        g->ways[g->n_rules++] = way;
    }
    text_free(&rule);
}

static uint32_t weights_of(const struct part *p)
{
    uint32_t weights = 0;
    for (int i = 0; i < p->n_leaves; i++)
        weights |= (uint32_t)p->is_constant[p->leaves[i]] << i;
    return weights;
}

// The part as one definition of its leaves. False: it is none.
static bool define_part(const struct part *p, struct arena *arena, const struct type *inputs,
                        struct definition *ret_definition)
{
    struct composition all;
    int *tensors = mem_new_array(int, p->graph.tensors.count + 1);
    composition_init(&all, arena, p->n_leaves, inputs);
    all.pool.keeps_conditions = true;
    bool is_composed = graph_compose(&p->graph, &all, tensors);
    if (is_composed)
        composition_extract(&all, tensors[p->result], ret_definition);
    composition_free(&all);
    mem_free_array(tensors, p->graph.tensors.count + 1);
    return is_composed;
}

static void derive_program(struct deriving *g)
{
    struct search search;
    struct search_limits limits = search_standard_limits;
    limits.depth = DEPTH;
    limits.most_programs = MOST_PROGRAMS;
    search_run(&search, &g->dv, g->original, &limits);
    for (size_t i = 0; i < search.results.count && g->n_rules < MOST_RULES_OF_PART; i++)
        add_rule(g, search.results.items[i].program);
    search_free(&search);
}

static void derive_part(struct deriving *g, struct arena *arena, const struct iterator_tables *tables)
{
    const struct part *p = g->part;
    struct type *inputs = arena_array(arena, struct type, MOST_LEAVES);
    struct definition d;
    for (int i = 0; i < p->n_leaves; i++)
        inputs[i] = *graph_type(p->from, p->leaves[i]);
    if (!define_part(p, arena, inputs, &d))
        return;
    derivation_begin(&g->dv, arena, p->n_leaves, inputs, tables);
    g->dv.weights = weights_of(p);
    g->original = derivation_add(&g->dv, &d);
    if (g->original != NO_SCOPE)
        derive_program(g);
    derivation_end(&g->dv);
    definition_free(&d);
}

// --- the model -------------------------------------------------------------------------------------------------------

struct walk {
    const struct graph *g;
    struct iterator_tables tables;
    bool *is_constant;
    VEC(const char *) sources;
    struct text *rules;
    struct arena arena;
};

static bool is_known_source(const struct walk *w, const char *source)
{
    for (size_t i = 0; i < w->sources.count; i++)
        if (strcmp(w->sources.items[i], source) == 0)
            return true;
    return false;
}

static void print_key(struct text *out, const struct part *p)
{
    text_add(out, p->source.chars);
    print_conditions(out, p);
}

static void derive_known_part(struct walk *w, const struct part *p, const struct operator* op)
{
    struct text key = {0};
    print_key(&key, p);
    if (!is_known_source(w, key.chars)) {
        struct arena arena;
        struct deriving g = {.part = p, .name = op->name, .number = (int)w->sources.count, .to = w->rules};
        vec_push(&w->sources, arena_string(&w->arena, key.chars));
        arena_init(&arena);
        derive_part(&g, &arena, &w->tables);
        arena_free(&arena);
    }
    text_free(&key);
}

static void derive_node(struct walk *w, node_id id)
{
    const struct graph *g = w->g;
    struct arena arena;
    struct part p = {.from = g, .is_constant = w->is_constant};
    arena_init(&arena);
    graph_init(&p.graph, &arena);
    p.result = add_node(&p, id);
    if (!p.is_too_large) {
        graph_add_output(&p.graph, p.result);
        derive_known_part(w, &p, g->nodes.items[id].op);
    }
    text_free(&p.source);
    graph_free(&p.graph);
    arena_free(&arena);
}

static bool can_be_derived(const struct walk *w, node_id id)
{
    const struct graph *g = w->g;
    const struct node *n = &g->nodes.items[id];
    return n->n_inputs == OPERANDS && n->n_outputs == 1 && operator_has(n->op, TRAIT_CONTRACTS) &&
           graph_type(g, n->first_output)->dtype == DTYPE_F32 && !w->is_constant[n->first_output];
}

static void find_constants(const struct graph *g, bool *ret_is_constant)
{
    for (node_id id = 0; id < g->nodes.count; id++) {
        const struct node *n = &g->nodes.items[id];
        bool is_constant = n->op == operators[OP_WEIGHT] || n->n_inputs > 0;
        for (uint32_t i = 0; i < n->n_inputs; i++)
            is_constant = is_constant && ret_is_constant[graph_inputs(g, id)[i]];
        for (uint32_t i = 0; i < n->n_outputs; i++)
            ret_is_constant[n->first_output + i] = is_constant;
    }
}

size_t derived_rules_print(struct text *out, const struct graph *g)
{
    struct walk w = {.g = g, .is_constant = mem_new_array(bool, g->tensors.count + 1), .rules = out};
    bool *live = mem_new_array(bool, g->nodes.count + 1);
    arena_init(&w.arena);
    graph_mark_live(g, live);
    find_constants(g, w.is_constant);
    iterator_tables_compute(&w.arena, &w.tables);
    for (node_id id = 0; id < g->nodes.count; id++)
        if (live[id] && !interrupt_requested() && can_be_derived(&w, id))
            derive_node(&w, id);
    size_t n_parts = w.sources.count;
    iterator_tables_free(&w.tables);
    mem_free_array(live, g->nodes.count + 1);
    mem_free_array(w.is_constant, g->tensors.count + 1);
    vec_free(&w.sources);
    arena_free(&w.arena);
    return n_parts;
}
