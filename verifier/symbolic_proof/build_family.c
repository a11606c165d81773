// A family is built node by node, again and again until typing has no new equations of symbols.
#include "verifier/symbolic_proof/build_family.h"

#include "verifier/symbolic_proof/attribute_lists.h"
#include "verifier/symbolic_proof/lanes.h"
#include "verifier/symbolic_proof/outline.h"
#include "verifier/symbolic_proof/recognize.h"
#include "verifier/symbolic_proof/symbols.h"
#include "verifier/symbolic_proof/typing_facts.h"

// --- meanings --------------------------------------------------------------------------------------------------------

#define GET_LANES(values, f, node, what)                                                                               \
    for (int l = 0; l < LANES; l++) {                                                                                  \
        const struct definition *of_lane = &(f)->lanes[l].definitions[node];                                           \
        (values)[l] = of_lane->what;                                                                                   \
    }

static bool is_integer_of(const struct expr_node *n)
{
    return n->kind == EXPR_INTEGER || n->kind == EXPR_INDEX_MUL || n->kind == EXPR_INDEX_DIV ||
           n->kind == EXPR_INDEX_MOD || n->kind == EXPR_REAL;
}

static poly integer_of(struct family *f, const struct known_integers *known, uint32_t node, size_t e)
{
    int64_t values[LANES];
    bool is_real = f->lanes[0].definitions[node].nodes.items[e].kind == EXPR_REAL;
    if (!is_real) {
        GET_LANES(values, f, node, nodes.items[e].value);
        return recognize(f->polys, known, values);
    }
    for (int l = 0; l < LANES; l++) {
        double real = f->lanes[l].definitions[node].nodes.items[e].real;
        if (!(real > -0x1p50 && real < 0x1p50) || real != (double)(int64_t)real)
            return NO_POLY;
        values[l] = (int64_t)real;
    }
    return recognize(f->polys, known, values);
}

static void find_meaning(struct family *f, uint32_t node)
{
    const struct definition *d = &f->lanes[0].definitions[node];
    poly *integers = arena_array(f->arena, poly, d->nodes.count + 1);
    poly *extents = arena_array(f->arena, poly, d->extents.count + 1);
    poly(*dims)[MAX_RANK] = arena_alloc_zero(f->arena, sizeof *dims * (size_t)(d->n_stages + 1), _Alignof(poly));
    struct known_integers known FREED_BY(known_integers_free) = known_integers_of_node(f, node);
    int64_t values[LANES];
    for (int i = 0; i < d->n_stages; i++)
        for (int axis = 0; axis < d->stages[i].type.rank; axis++) {
            GET_LANES(values, f, node, stages[i].type.dim[axis]);
            dims[i][axis] = recognize(f->polys, &known, values);
        }
    for (size_t i = 0; i < d->extents.count; i++) {
        GET_LANES(values, f, node, extents.items[i]);
        extents[i] = recognize(f->polys, &known, values);
    }
    for (size_t e = 0; e < d->nodes.count; e++)
        integers[e] = is_integer_of(&d->nodes.items[e]) ? integer_of(f, &known, node, e) : NO_POLY;
    f->meanings.nodes[node] = (struct meaning){d, integers, extents, (const poly(*)[MAX_RANK])dims};
}

// --- building --------------------------------------------------------------------------------------------------------

static void resolve_leaves(struct family *f)
{
    for (uint32_t v = 0; v < f->equation->pattern->n_variables; v++)
        for (int a = 0; f->outline.types[v] && a < f->outline.types[v]->rank; a++)
            f->meanings.sizes[v][a] = family_resolved(f, f->meanings.sizes[v][a]);
    for (uint32_t v = 0; v < f->equation->pattern->n_attribute_variables; v++) {
        if (!(f->outline.is_chosen >> v & 1))
            continue;
        poly *items = arena_array(f->arena, poly, f->meanings.attributes[v].n + 1);
        for (uint32_t i = 0; i < f->meanings.attributes[v].n; i++)
            items[i] = family_resolved(f, f->meanings.attributes[v].items[i]);
        f->meanings.attributes[v].items = items;
    }
}

static bool has_news(const struct family *f)
{
    return f->symbols.has_new_equations || f->is_impossible || f->why;
}

// Once through all nodes, until there is a new equation.
static bool build_once(struct family *f)
{
    node_set others = equation_nodes(f->equation) & ~f->asked.assumed;
    f->symbols.has_new_equations = f->symbols.has_unsolved = false;
    f->undefined = others;
    vec_clear(&f->symbols.not_negative);
    resolve_leaves(f);
    for (uint32_t i = 0; i < f->equation->n_conditions; i++)
        if (!family_assume_condition(f, &f->equation->conditions[i]) || f->is_impossible)
            return false;
    if (!f->symbols.has_new_equations && !lanes_begin(f))
        return false;
    for (uint32_t n = 0; n < f->equation->pattern->nodes.count && !has_news(f); n++) {
        if (others >> n & 1)
            continue;
        if (family_reads_undefined(f, n)) {
            f->undefined |= (node_set)1 << n;
            continue;
        }
        if (!family_evaluate_attributes(f, n))
            return false;
        if (!has_news(f))
            family_add_typing(f, n);
        if (has_news(f))
            break;
        if (!lanes_define(f, n))
            return false;
        if (!(f->undefined >> n & 1))
            find_meaning(f, n);
    }
    return !f->why && !f->is_impossible &&
           (f->undefined == others || f->symbols.has_new_equations ||
            family_fails(f, "an equation of sizes is not solved"));
}

#define MOST_ROUNDS 60
bool family_build(struct family *f, const struct equation *eq, node_set assumed, struct choices *choices, uint64_t seed,
                  struct typing *typing, struct polys *polys, struct lane *lanes, struct arena *arena)
{
    *f = (struct family){.equation = eq,
                         .arena = arena,
                         .polys = polys,
                         .choices = choices,
                         .typing = typing,
                         .lanes = lanes,
                         .asked.assumed = assumed};
    f->random = random_seed(seed);
    choices_begin(choices);
    if (!family_choose_outline(f))
        return false;
    for (int i = 0; i < MOST_ROUNDS; i++) {
        if (!build_once(f))
            return false;
        if (!f->symbols.has_new_equations && polys->has_failed)
            return family_fails(f, "polynomials too large");
        if (!f->symbols.has_new_equations)
            return lanes_agree(f);
    }
    return family_fails(f, "too many equations of sizes");
}

// --- are the other nodes well-typed? ---------------------------------------------------------------------------------

// Entries of lists of windows, parts and the like are no less than what is least for them.
static void ask_least_entries(struct family *f, uint32_t node)
{
    const struct operator* op = f->equation->pattern->nodes.items[node].op;
    for (int i = 0; i < operator_n_attributes(op); i++) {
        const struct attribute_role_info *role = &attribute_roles[op->attributes[i].role];
        for (uint32_t j = 0; role->is_of_sizes && role->least >= 0 && j < f->meanings.of_node[node][i].n; j++)
            family_not_negative(
                f, poly_sub(f->polys, f->meanings.of_node[node][i].items[j], poly_const(f->polys, role->least)));
    }
}

bool family_ask_typing(struct family *f)
{
    f->asked.asks = true;
    vec_clear(&f->asked.zero);
    vec_clear(&f->asked.not_negative);
    for (uint32_t n = 0; n < f->equation->pattern->nodes.count && !f->why; n++) {
        if (f->asked.assumed >> n & 1)
            continue;
        if (!family_knows_typing(f, n) || !family_evaluate_attributes(f, n))
            break;
        ask_least_entries(f, n);
        family_add_typing(f, n);
        if (!f->why && lanes_are_defined(f, n))
            find_meaning(f, n);
    }
    f->asked.asks = false;
    return !f->why && !f->polys->has_failed && lanes_agree_elsewhere(f);
}
