// The steps of a reduction that shorten what is left.
#include "egraph/extraction/reduce_merge.h"

#include "core/memory/memory.h"
#include "egraph/extraction/components.h"
#include "egraph/extraction/draft.h"
#include "egraph/extraction/landmarks.h"

static bool all_read(const struct draft *d, uint32_t class_id, uint32_t child)
{
    DRAFT_EACH_MEMBER(d, class_id, node)
    {
        if (!draft_has_child(&d->nodes[*node], child))
            return false;
    }
    return true;
}

static uint32_t any_member(const struct draft *d, uint32_t class_id)
{
    DRAFT_EACH_MEMBER(d, class_id, node)
    {
        return *node;
    }
    return EXTRACTION_NONE;
}

void reduce_spread_needs(struct draft *d)
{
    VEC(uint32_t) queue = {0};
    for (uint32_t c = 0; c < d->origin->n_classes; c++)
        if (d->is_needed[c])
            vec_push(&queue, c);
    while (queue.count) {
        uint32_t class_id = vec_pop(&queue), node = any_member(d, class_id);
        for (uint32_t i = 0; node != EXTRACTION_NONE && i < d->nodes[node].n_children; i++) {
            uint32_t child = d->nodes[node].children[i];
            if (d->is_needed[child] || !all_read(d, class_id, child))
                continue;
            d->is_needed[child] = d->has_changed = true;
            vec_push(&queue, child);
        }
    }
    vec_free(&queue);
}

// The least that a node of the class costs is paid by every selection: the others cost what they cost more.
static void pay_class(struct draft *d, uint32_t class_id)
{
    double least = d->nodes[any_member(d, class_id)].cost;
    DRAFT_EACH_MEMBER(d, class_id, node)
    {
        least = d->nodes[*node].cost < least ? d->nodes[*node].cost : least;
    }
    d->fixed_cost += least;
    DRAFT_EACH_MEMBER(d, class_id, node)
    {
        d->nodes[*node].cost -= least;
    }
}

void reduce_pay_needed(struct draft *d)
{
    for (uint32_t c = 0; c < d->origin->n_classes; c++)
        if (d->is_needed[c] && d->n_alive[c])
            pay_class(d, c);
}

static void forget_needed_children(struct draft *d, uint32_t node, const uint32_t *component)
{
    const struct draft_node *n = &d->nodes[node];
    for (uint32_t i = 0; i < n->n_children; i++) {
        uint32_t child = n->children[i];
        if (d->is_needed[child] && component[child] != component[n->class_id]) {
            draft_replace_child(d, node, child, EXTRACTION_NONE);
            i--;
        }
    }
}

struct compiled {
    struct extraction_problem problem;
    uint32_t *class_of, *node_of;
};

static void compile(const struct draft *d, struct compiled *ret_compiled)
{
    ret_compiled->class_of = mem_new_array(uint32_t, d->origin->n_classes + 1);
    ret_compiled->node_of = mem_new_array(uint32_t, d->origin->n_nodes + 1);
    draft_compile(d, &ret_compiled->problem, ret_compiled->class_of, ret_compiled->node_of);
}

static void free_compiled(const struct draft *d, struct compiled *compiled)
{
    extraction_free(&compiled->problem);
    mem_free_array(compiled->class_of, d->origin->n_classes + 1);
    mem_free_array(compiled->node_of, d->origin->n_nodes + 1);
}

void reduce_forget_needed(struct draft *d)
{
    struct compiled compiled;
    compile(d, &compiled);
    uint32_t n_classes = compiled.problem.n_classes;
    uint32_t *found = mem_new_array(uint32_t, n_classes + 1);
    uint32_t *component = mem_new_array(uint32_t, d->origin->n_classes + 1);
    components_find(&compiled.problem, found);
    for (uint32_t c = 0; c < n_classes; c++)
        component[compiled.class_of[c]] = found[c];
    for (uint32_t n = 0; n < compiled.problem.n_nodes; n++)
        forget_needed_children(d, compiled.node_of[n], component);
    mem_free_array(found, n_classes + 1);
    mem_free_array(component, d->origin->n_classes + 1);
    free_compiled(d, &compiled);
}

static void use_landmarks(struct draft *d, const struct compiled *compiled, const bool *is_needed,
                          const bool *is_cyclic)
{
    for (uint32_t c = 0; c < compiled->problem.n_classes; c++)
        if (is_needed[c] && !d->is_needed[compiled->class_of[c]])
            d->is_needed[compiled->class_of[c]] = d->has_changed = true;
    for (uint32_t n = 0; n < compiled->problem.n_nodes; n++)
        if (is_cyclic[n])
            draft_kill(d, compiled->node_of[n]);
}

void reduce_find_landmarks(struct draft *d)
{
    struct compiled compiled;
    compile(d, &compiled);
    bool *is_needed = mem_alloc(compiled.problem.n_classes + 1), *is_cyclic = mem_alloc(compiled.problem.n_nodes + 1);
    landmarks_find(&compiled.problem, is_needed, is_cyclic);
    use_landmarks(d, &compiled, is_needed, is_cyclic);
    mem_free(is_needed, compiled.problem.n_classes + 1);
    mem_free(is_cyclic, compiled.problem.n_nodes + 1);
    free_compiled(d, &compiled);
}

struct putting {
    struct draft *draft;
    struct draft_readers readers;
    bool *is_stale;   // [n_classes] has readers that the list does not know
};

// Putting the node into its readers must not make the whole longer by much, nor count its cost twice.
static bool is_worth_it(const struct putting *p, uint32_t class_id, const struct draft_node *node)
{
    enum { MAX_GROWTH = 8 };
    uint64_t n_readers = p->readers.first[class_id + 1] - p->readers.first[class_id];
    if (p->is_stale[class_id] || (node->cost > 0 && (n_readers != 1 || p->draft->is_needed[class_id])))
        return false;
    return node->n_children <= 1 || (n_readers - 1) * (node->n_children - 1) <= MAX_GROWTH || n_readers <= 1;
}

static void put_into_reader(struct putting *p, uint32_t reader, uint32_t class_id, uint32_t node)
{
    struct draft *d = p->draft;
    if (!d->nodes[reader].is_alive || !draft_has_child(&d->nodes[reader], class_id))
        return;
    d->nodes[reader].cost += d->nodes[node].cost;
    draft_replace_child(d, reader, class_id, node);
}

static void put_away(struct putting *p, uint32_t class_id)
{
    struct draft *d = p->draft;
    uint32_t node = any_member(d, class_id);
    if (node == EXTRACTION_NONE || d->n_alive[class_id] != 1 || !is_worth_it(p, class_id, &d->nodes[node]))
        return;
    for (uint32_t i = p->readers.first[class_id]; i < p->readers.first[class_id + 1]; i++)
        put_into_reader(p, p->readers.list[i], class_id, node);
    for (uint32_t i = 0; i < d->nodes[node].n_children; i++) {
        p->is_stale[d->nodes[node].children[i]] = true;
        d->is_needed[d->nodes[node].children[i]] |= d->is_needed[class_id];
    }
    d->is_needed[class_id] = false;
    d->single[class_id] = node;
    draft_kill(d, node);
}

void reduce_put_away(struct draft *d)
{
    struct putting p = {.draft = d, .is_stale = mem_alloc_zero(d->origin->n_classes + 1)};
    draft_list_readers(d, &p.readers);
    for (uint32_t c = 0; c < d->origin->n_classes; c++)
        put_away(&p, c);
    draft_free_readers(&p.readers);
    mem_free(p.is_stale, d->origin->n_classes + 1);
}
