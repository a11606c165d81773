// Sentences of an equation, one for each rank of its images where ranks have to be told.
#include "verifier/entailment/obligations.h"

#include "operators/traits.h"

enum { LEAST_WINDOW_RANK = 3, USUAL_WINDOW_RANK = LEAST_WINDOW_RANK - 1 + MOST_WINDOW_AXES };

static bool reads_windows(const struct operator* op)
{
    return operator_has_windows(op) || operator_has_role(op, ROLE_KERNEL);
}

// The first node with windows on an image of unknown rank; NO_NODE: there is none.
#define NO_NODE UINT32_MAX
static uint32_t find_open_window(const struct equation *eq, const struct known_ranks *ranks)
{
    const struct pattern_node *open =
        vec_find(&eq->pattern->nodes, node, reads_windows(node->op) && known_rank(ranks, node->inputs[0]) == RANK_OPEN);
    return open ? (uint32_t)(open - eq->pattern->nodes.items) : NO_NODE;
}

static bool has_window_of_rank(const struct equation *eq, node_set nodes, const struct known_ranks *ranks, int rank)
{
    const struct pattern_node *all = eq->pattern->nodes.items;
    return ANY(uint32_t, n, eq->pattern->nodes.count,
               (nodes >> n & 1) && reads_windows(all[n].op) && known_rank(ranks, all[n].inputs[0]) == rank);
}

// Rules are matched where windows run along few axes: where both sides have windows on images of this rank.
static bool is_out_of_reach(const struct equation *eq, const struct known_ranks *ranks, int rank)
{
    return rank > USUAL_WINDOW_RANK && !eq->is_strong &&
           has_window_of_rank(eq, equation_nodes_of_side(eq, eq->left), ranks, rank) &&
           has_window_of_rank(eq, equation_nodes_of_side(eq, eq->right), ranks, rank);
}

static bool add_sentence(struct logic *l, const struct equation *eq, const struct known_ranks *ranks, bool is_axiom,
                         struct sentence_list *list)
{
    struct sentence s;
    bool is_stated = logic_translate(l, eq, ranks, is_axiom, &s);
    if (is_stated)
        vec_push(&list->items, s);
    return is_stated;
}

static bool state_at_each_rank(struct logic *l, const struct equation *eq, const struct known_ranks *known,
                               struct sentence_list *list)
{
    uint32_t window = find_open_window(eq, known);
    bool are_stated = true;
    if (window == NO_NODE)
        return add_sentence(l, eq, known, false, list);
    for (int rank = LEAST_WINDOW_RANK; rank <= MAX_RANK && are_stated; rank++) {
        struct known_ranks ranks = *known;
        known_ranks_set(&ranks, eq->pattern->nodes.items[window].inputs[0], rank);
        known_ranks_spread(&ranks, eq);
        if (find_open_window(eq, &ranks) == window)
            return false;   // of so many terms nothing is known
        are_stated = is_out_of_reach(eq, &ranks, rank) || state_at_each_rank(l, eq, &ranks, list);
    }
    return are_stated;
}

bool obligations_state(struct logic *l, const struct equation *eq, bool tells_ranks, struct sentence_list *list)
{
    struct known_ranks ranks;
    known_ranks_begin(&ranks, eq);
    if (!eq->is_strong)
        known_ranks_spread(&ranks, eq);
    return tells_ranks && !eq->is_strong ? state_at_each_rank(l, eq, &ranks, list)
                                         : add_sentence(l, eq, &ranks, false, list);
}

// --- axioms ----------------------------------------------------------------------------------------------------------

// The variables that would have ranks if the image of the node had this one and all were well-typed.
static void rank_variables(const struct equation *eq, uint32_t window, int rank, struct known_ranks *ranks)
{
    struct known_ranks all = *ranks;
    known_ranks_set(&all, eq->pattern->nodes.items[window].inputs[0], rank);
    known_ranks_spread(&all, eq);
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        ranks->of_variable[v] = all.of_variable[v];
    known_ranks_spread_up(ranks);
}

// Is a list of some window left out? Ranks say nothing else of the variables of an axiom.
static bool leaves_lists_out(const struct equation *eq)
{
    return vec_find(&eq->pattern->nodes, node,
                    ANY(int, i, operator_n_attributes(node->op),
                        attribute_roles[node->op->attributes[i].role].is_of_window && node->attributes[i].count == 0));
}

bool obligations_of_axiom(struct logic *l, const struct equation *eq, struct sentence_list *list)
{
    struct known_ranks known;
    known_ranks_begin(&known, eq);
    known_ranks_spread_up(&known);
    bool is_stated = add_sentence(l, eq, &known, true, list);
    uint32_t window = leaves_lists_out(eq) ? find_open_window(eq, &known) : NO_NODE;
    for (int rank = LEAST_WINDOW_RANK; rank <= USUAL_WINDOW_RANK && window != NO_NODE; rank++) {
        struct known_ranks ranks = known;
        rank_variables(eq, window, rank, &ranks);
        is_stated = add_sentence(l, eq, &ranks, true, list) || is_stated;
    }
    return is_stated;
}
