#include "verifier/relation.h"

#include "core/hash.h"
#include <string.h>

#define MAX_ROWS (1u << 18)
#define PAIRS_PER_STEP 4   // most pairs are remembered, or refused at once

// --- rows by key -----------------------------------------------------------------------------------------------------

static uint64_t hash_key(uint32_t n, const type_id *key)
{
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ key[i]) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

static void key_of_row(const struct row_index *index, uint32_t row, type_id *ret_key)
{
    const type_id *types = index->rows + (size_t)row * index->stride;
    for (uint32_t i = 0; i < index->n_columns; i++)
        ret_key[i] = types[index->columns[i]];
}

void row_index_make(struct row_index *ret_index, struct arena *a, const type_id *rows, uint32_t stride, uint32_t count,
                    uint32_t n_columns, const uint8_t *columns)
{
    uint32_t capacity = 16;
    type_id key[MAX_RULE_VARIABLES];
    while (capacity < count * 2)
        capacity *= 2;
    *ret_index = (struct row_index){.rows = rows, .stride = stride, .n_columns = n_columns, .mask = capacity - 1};
    memcpy(ret_index->columns, columns, n_columns);
    ret_index->heads = arena_alloc(a, capacity * sizeof(uint32_t), _Alignof(uint32_t));
    ret_index->next = arena_alloc(a, (count + 1) * sizeof(uint32_t), _Alignof(uint32_t));
    memset(ret_index->heads, 0xff, capacity * sizeof(uint32_t));
    for (uint32_t row = count; row-- > 0;) {
        key_of_row(ret_index, row, key);
        uint32_t *head = &ret_index->heads[hash_key(n_columns, key) & ret_index->mask];
        ret_index->next[row] = *head;
        *head = row;
    }
}

static uint32_t first_with_key(const struct row_index *index, uint32_t row, const type_id *key)
{
    type_id here[MAX_RULE_VARIABLES];
    for (; row != NO_ROW; row = index->next[row]) {
        key_of_row(index, row, here);
        if (memcmp(here, key, index->n_columns * sizeof *key) == 0)
            break;
    }
    return row;
}

uint32_t row_index_first(const struct row_index *index, const type_id *key)
{
    return first_with_key(index, index->heads[hash_key(index->n_columns, key) & index->mask], key);
}

uint32_t row_index_next(const struct row_index *index, uint32_t row, const type_id *key)
{
    return first_with_key(index, index->next[row], key);
}

// --- joins -----------------------------------------------------------------------------------------------------------

// Rows of types of variables, followed by the types of the inputs joined so far.
struct partial {
    uint32_t variables, width, n_types, count;
    const type_id *rows;
};
struct row_list {
    VEC(type_id) rows;
    VEC(const struct typed_call *) calls;
};

// Where each variable of the joined rows comes from.
struct columns {
    uint32_t variables, width;
    bool is_right[MAX_RULE_VARIABLES];
    uint8_t column[MAX_RULE_VARIABLES];
    uint32_t n_shared;
    uint8_t shared_left[MAX_RULE_VARIABLES], shared_right[MAX_RULE_VARIABLES];
};

static struct columns match_columns(const struct partial *left, const struct partial *right)
{
    struct columns c = {.variables = left->variables | right->variables};
    uint8_t at_left = 0, at_right = 0;
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++) {
        bool in_left = left->variables >> v & 1, in_right = right->variables >> v & 1;
        if (in_left && in_right) {
            c.shared_left[c.n_shared] = at_left;
            c.shared_right[c.n_shared++] = at_right;
        }
        if (in_left || in_right) {
            c.is_right[c.width] = !in_left;
            c.column[c.width++] = in_left ? at_left : at_right;
        }
        at_left = (uint8_t)(at_left + in_left);
        at_right = (uint8_t)(at_right + in_right);
    }
    return c;
}

static const type_id *row_of(const struct partial *p, uint32_t row)
{
    return p->rows + (size_t)row * (p->width + p->n_types);
}

static void push_variables(struct row_list *to, const struct columns *c, const type_id *left, const type_id *right)
{
    for (uint32_t i = 0; i < c->width; i++)
        vec_push(&to->rows, c->is_right[i] ? right[c->column[i]] : left[c->column[i]]);
}

static void push_joined(struct row_list *to, const struct columns *c, const struct partial *left, const type_id *x,
                        const struct partial *right, const type_id *y)
{
    push_variables(to, c, x, y);
    for (uint32_t i = 0; i < left->n_types; i++)
        vec_push(&to->rows, x[left->width + i]);
    for (uint32_t i = 0; i < right->n_types; i++)
        vec_push(&to->rows, y[right->width + i]);
}

static bool has_steps_left(struct relations *r, uint64_t more)
{
    r->steps += more;
    return r->steps <= r->step_limit;
}

// All pairs of rows that agree on the variables of both.
static bool join(struct relations *r, const struct partial *left, const struct partial *right,
                 struct partial *ret_joined)
{
    struct columns c = match_columns(left, right);
    struct row_list out = {0};
    struct row_index index;
    uint32_t stride = c.width + left->n_types + right->n_types, count = 0;
    bool fits = true;
    row_index_make(&index, r->arena, right->rows, right->width + right->n_types, right->count, c.n_shared,
                   c.shared_right);
    for (uint32_t i = 0; i < left->count && fits; i++) {
        const type_id *x = row_of(left, i);
        type_id key[MAX_RULE_VARIABLES];
        for (uint32_t k = 0; k < c.n_shared; k++)
            key[k] = x[c.shared_left[k]];
        for (uint32_t j = row_index_first(&index, key); j != NO_ROW && fits; j = row_index_next(&index, j, key)) {
            push_joined(&out, &c, left, x, right, row_of(right, j));
            fits = ++count <= MAX_ROWS && has_steps_left(r, 1);
        }
    }
    if (fits)
        *ret_joined = (struct partial){
            c.variables, c.width, left->n_types + right->n_types, count,
            count && stride ? arena_copy_array(r->arena, out.rows.items, (size_t)count * stride) : NULL};
    vec_free(&out.rows);
    return fits;
}

// --- applications ----------------------------------------------------------------------------------------------------

static const struct relation *keep_relation(struct relations *r, const struct columns *c, struct row_list *found,
                                            bool fits)
{
    struct relation *kept = NULL;
    if (fits) {
        uint32_t count = (uint32_t)found->calls.count;
        vec_reserve(&found->calls, 1);
        kept = arena_new(r->arena, struct relation);
        *kept = (struct relation){
            .variables = c->variables,
            .width = c->width,
            .count = count,
            .rows = found->rows.count ? arena_copy_array(r->arena, found->rows.items, found->rows.count) : NULL,
            .calls = arena_copy_array(r->arena, found->calls.items, count)};
    }
    vec_free(&found->rows);
    vec_free(&found->calls);
    return kept;
}

// Rows with the same types of inputs: chains of rows, and the first one of each.
struct groups {
    uint32_t count;
    uint32_t *first, *next;
};

static struct groups group_rows(struct relations *r, const struct partial *p)
{
    struct groups g = {0};
    uint8_t columns[MAX_RULE_VARIABLES];
    struct row_index index;
    for (uint32_t i = 0; i < p->n_types; i++)
        columns[i] = (uint8_t)(p->width + i);
    row_index_make(&index, r->arena, p->rows, p->width + p->n_types, p->count, p->n_types, columns);
    g.first = arena_array(r->arena, uint32_t, p->count + 1);
    g.next = arena_array(r->arena, uint32_t, p->count + 1);
    bool *is_in_group = arena_array(r->arena, bool, p->count + 1);
    for (uint32_t row = 0; row < p->count; row++) {
        const type_id *key = row_of(p, row) + p->width;
        if (is_in_group[row])
            continue;
        g.first[g.count++] = row;
        for (uint32_t i = row; i != NO_ROW; i = g.next[i]) {
            is_in_group[i] = true;
            g.next[i] = row_index_next(&index, i, key);
        }
    }
    return g;
}

static bool push_all_pairs(struct relations *r, struct row_list *out, const struct columns *c,
                           const struct typed_pair *pair, const struct partial *left, const struct groups *of_left,
                           const struct partial *right, const struct groups *of_right)
{
    for (uint32_t i = of_left->first[pair->left]; i != NO_ROW; i = of_left->next[i])
        for (uint32_t j = of_right->first[pair->right]; j != NO_ROW; j = of_right->next[j]) {
            push_variables(out, c, row_of(left, i), row_of(right, j));
            vec_push(&out->calls, pair->call);
            if (out->calls.count > MAX_ROWS || !has_steps_left(r, 1))
                return false;
        }
    return true;
}

// The types of the inputs that each group stands for.
static type_id *types_of_groups(struct relations *r, const struct partial *p, const struct groups *g)
{
    type_id *types = arena_array(r->arena, type_id, g->count * p->n_types + 1);
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t k = 0; k < p->n_types; k++)
            types[i * p->n_types + k] = row_of(p, g->first[i])[p->width + k];
    return types;
}

// The last input shares no variable with the others, and the attributes are known: one application for each pair of
// groups.
static const struct relation *apply_by_groups(struct relations *r, uint32_t node, const struct partial *left,
                                              const struct partial *right)
{
    const struct pattern_node *n = &r->in->equation->pattern->nodes.items[node];
    struct columns c = match_columns(left, right);
    struct groups of_left = group_rows(r, left), of_right = group_rows(r, right);
    struct row_list out = {0};
    if (!has_steps_left(r, (uint64_t)of_left.count * of_right.count / PAIRS_PER_STEP))
        return NULL;
    const struct typed_pairs *pairs =
        typing_apply_all(r->in->typing, r->in->heads[node], n->n_inputs, of_left.count,
                         types_of_groups(r, left, &of_left), of_right.count, types_of_groups(r, right, &of_right));
    bool fits = true;
    for (uint32_t i = 0; i < pairs->count && fits; i++)
        fits = push_all_pairs(r, &out, &c, &pairs->items[i], left, &of_left, right, &of_right);
    return keep_relation(r, &c, &out, fits);
}

static const struct typed_call *apply_to_row(struct relations *r, uint32_t node, const struct partial *all,
                                             uint32_t row)
{
    const struct pattern_node *n = &r->in->equation->pattern->nodes.items[node];
    head_id head;
    if (!instance_head(r->in, node, &head))
        return NULL;
    return typing_apply(r->in->typing, head, n->n_inputs, row_of(all, row) + all->width);
}

static void bind_row(struct instance *in, const struct partial *p, uint32_t row)
{
    const type_id *types = row_of(p, row);
    for (uint32_t left = p->variables; left; left &= left - 1)
        instance_bind(in, (uint32_t)__builtin_ctz(left), *types++);
}

static const struct relation *apply_by_rows(struct relations *r, uint32_t node, const struct partial *all)
{
    const struct partial nothing = {0};
    struct columns c = match_columns(all, &nothing);
    struct row_list out = {0};
    bool fits = true, is_settled = r->in->heads[node] != NO_HEAD;
    for (uint32_t row = 0; row < all->count && fits; row++) {
        struct arena_mark mark = arena_mark(r->in->scratch);
        if (!is_settled)
            bind_row(r->in, all, row);
        const struct typed_call *call = apply_to_row(r, node, all, row);
        arena_release(r->in->scratch, mark);
        if (call && call->is_typed) {
            push_variables(&out, &c, row_of(all, row), NULL);
            vec_push(&out.calls, call);
        }
        fits = has_steps_left(r, 1);
    }
    return keep_relation(r, &c, &out, fits);
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static struct partial partial_of_variable(const struct relations *r, uint32_t variable)
{
    const struct relation *of = &r->of_variable[variable];
    return (struct partial){of->variables, of->width, 0, of->count, of->rows};
}

// The rows of an input at which it has the output that is asked for, with its type.
static bool partial_of_term(struct relations *r, term_id term, struct partial *ret_partial)
{
    const struct term *t = &r->in->equation->pattern->terms.items[term];
    const struct relation *of = t->is_variable ? &r->of_variable[t->index] : relations_of_node(r, t->index);
    if (!of)
        return false;
    type_id *rows = arena_alloc(r->arena, (size_t)of->count * (of->width + 1) * sizeof *rows + 1, _Alignof(type_id));
    uint32_t count = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        type_id *row = rows + (size_t)count * (of->width + 1);
        bool has_output = !of->calls || t->output < of->calls[i]->n_outputs;
        if (!has_output)
            continue;
        if (of->width)
            memcpy(row, of->rows + (size_t)i * of->width, of->width * sizeof *row);
        row[of->width] = of->calls ? of->calls[i]->outputs[t->output] : row[0];
        count++;
    }
    *ret_partial = (struct partial){of->variables, of->width, 1, count, rows};
    return true;
}

static const struct relation *solve(struct relations *r, uint32_t node)
{
    const struct pattern_node *n = &r->in->equation->pattern->nodes.items[node];
    uint32_t missing = equation_variables_of_attributes(n);
    struct partial all = {.count = 1}, next;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        if (!partial_of_term(r, n->inputs[i], &next))
            return NULL;
        if (i + 1 == n->n_inputs && r->in->heads[node] != NO_HEAD && !(all.variables & next.variables))
            return apply_by_groups(r, node, &all, &next);
        if (!join(r, &all, &next, &all))
            return NULL;
    }
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++) {
        next = partial_of_variable(r, v);
        if ((missing & ~all.variables) >> v & 1 && !join(r, &all, &next, &all))
            return NULL;
    }
    return apply_by_rows(r, node, &all);
}

const struct relation *relations_of_node(struct relations *r, uint32_t node)
{
    if (!r->was_tried[node])
        r->of_node[node] = solve(r, node);
    r->was_tried[node] = true;
    return r->of_node[node];
}
