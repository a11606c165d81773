// Columns are variables, rows are types; joins go by an index of the shared columns.
#include "instances/relation.h"

#include <string.h>

#define MAX_ROWS (1u << 18)
#define PAIRS_PER_STEP 4   // most pairs are remembered, or refused at once

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
        *ret_joined =
            (struct partial){c.variables, c.width, left->n_types + right->n_types, count,
                             count && stride ? arena_copy_array(r->arena, out.rows.items, (size_t)count * stride)
                                             : arena_array(r->arena, type_id, 1)};
    vec_free(&out.rows);
    return fits;
}

// --- applications ----------------------------------------------------------------------------------------------------

static struct relation *keep_relation(struct relations *r, const struct columns *c, struct row_list *found, bool fits)
{
    struct relation *kept = NULL;
    if (fits) {
        uint32_t count = (uint32_t)found->calls.count;
        vec_reserve(&found->calls, 1);
        struct arena *a = r->keeps_next ? &r->in->typing->arena : r->arena;
        kept = arena_new(a, struct relation);
        *kept = (struct relation){.number = ANSWERS_NONE,
                                  .variables = c->variables,
                                  .width = c->width,
                                  .count = count,
                                  .rows = found->rows.count ? arena_copy_array(a, found->rows.items, found->rows.count)
                                                            : arena_array(a, type_id, 1),
                                  .calls = arena_copy_array(a, found->calls.items, count)};
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
static struct relation *apply_by_groups(struct relations *r, uint32_t node, const struct partial *left,
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

static void bind_row(struct instance *in, const struct partial *p, uint32_t row)
{
    const type_id *types = row_of(p, row);
    for (uint32_t left = p->variables; left; left &= left - 1)
        instance_bind(in, (uint32_t)__builtin_ctz(left), *types++);
}

#define RECENT_TYPES 256
// Rows that follow one another often differ in the last input alone, which has few types: such rows are a run. Their
// head is found once, and so is the application to each last type, as long as its place here is not taken.
struct recent_types {
    uint32_t number;
    bool has_head;
    head_id head;
    struct recent_call {
        uint32_t run;
        type_id last;
        const struct typed_call *call;
    } recent[RECENT_TYPES];
};

// Where the variables that attributes depend on are among a row's, bit by bit.
static uint32_t columns_of_attributes(const struct relations *r, uint32_t node, const struct partial *all)
{
    uint32_t variables = equation_variables_of_attributes(&r->in->equation->pattern->nodes.items[node]), columns = 0;
    uint32_t column = 0;
    for (uint32_t left = all->variables; left; left &= left - 1, column++)
        columns |= (variables >> __builtin_ctz(left) & 1) << column;
    return columns;
}

static bool goes_on_with_run(const struct partial *all, uint32_t row, uint32_t columns)
{
    const type_id *here = row_of(all, row), *before = here - (all->width + all->n_types);
    bool is_same = memcmp(here + all->width, before + all->width, (all->n_types - 1) * sizeof *here) == 0;
    for (uint32_t left = columns; left && is_same; left &= left - 1)
        is_same = here[__builtin_ctz(left)] == before[__builtin_ctz(left)];
    return is_same;
}

static void begin_run(struct relations *r, uint32_t node, const struct partial *all, uint32_t row,
                      struct recent_types *run)
{
    struct arena_mark mark = arena_mark(r->in->scratch);
    run->number++;
    if (r->in->heads[node] == NO_HEAD)
        bind_row(r->in, all, row);
    run->has_head = instance_head(r->in, node, &run->head);
    arena_release(r->in->scratch, mark);
}

// NULL: the attributes have no value.
static const struct typed_call *apply_to_row(struct relations *r, const struct partial *all, uint32_t row,
                                             struct recent_types *run)
{
    const type_id *inputs = row_of(all, row) + all->width;
    if (!run->has_head || all->n_types == 0)
        return run->has_head ? typing_apply(r->in->typing, run->head, 0, inputs) : NULL;
    type_id last = inputs[all->n_types - 1];
    struct recent_call *recent = &run->recent[last % RECENT_TYPES];
    if (recent->run != run->number || recent->last != last)
        *recent = (struct recent_call){run->number, last, typing_apply(r->in->typing, run->head, all->n_types, inputs)};
    return recent->call;
}

static struct relation *apply_by_rows(struct relations *r, uint32_t node, const struct partial *all)
{
    const struct partial nothing = {0};
    struct columns c = match_columns(all, &nothing);
    struct row_list out = {0};
    struct recent_types run = {0};
    uint32_t columns = columns_of_attributes(r, node, all);
    bool fits = true;
    for (uint32_t row = 0; row < all->count && fits; row++) {
        if (row == 0 || all->n_types == 0 || !goes_on_with_run(all, row, columns))
            begin_run(r, node, all, row, &run);
        const struct typed_call *call = apply_to_row(r, all, row, &run);
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

static struct relation *solve(struct relations *r, uint32_t node)
{
    const struct pattern_node *n = &r->in->equation->pattern->nodes.items[node];
    uint32_t missing = equation_variables_of_attributes(n);
    struct partial all = {.count = 1, .rows = arena_array(r->arena, type_id, 1)}, next;
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

// --- what was solved before ------------------------------------------------------------------------------------------

// The question's answer. The inputs of a node that was solved are solved first, so its steps are its own.
struct solved_node {
    struct relation *relation;   // NULL: it has too many rows
    uint64_t steps;
};

struct relation relation_of_variable(struct typing *t, uint32_t variable, uint32_t count, const type_id *types)
{
    VEC(int64_t) question = {0};
    vec_push(&question, QUESTION_VARIABLE);
    vec_push(&question, variable);
    for (uint32_t i = 0; i < count; i++)
        vec_push(&question, types[i]);
    uint32_t number = answers_find(&t->memo, question.count, question.items);
    if (number == ANSWERS_NONE)
        number = answers_add(&t->memo, &t->arena, question.count, question.items, NULL);
    vec_free(&question);
    return (struct relation){.number = number, .variables = 1u << variable, .width = 1, .count = count, .rows = types};
}

static void ask_about_term(struct relations *r, const struct attribute_term *t)
{
    vec_push(&r->question, (int64_t)t->kind);
    vec_push(&r->question, t->value);
    vec_push(&r->question, (int64_t)t->count);
    for (uint32_t i = 0; i < t->count; i++)
        ask_about_term(r, t->operands[i]);
    if (t->kind != TERM_VARIABLE)
        return;
    const struct attribute_value *value = &r->in->attributes[t->value];
    vec_push(&r->question, (int64_t)value->count);
    for (uint32_t i = 0; value->ints && i < value->count; i++)
        vec_push(&r->question, value->ints[i]);
}

// Attributes that depend on types are asked about as they are written, with the variables that they name.
static void ask_about_attributes(struct relations *r, const struct pattern_node *n)
{
    uint32_t variables = equation_variables_of_attributes(n);
    vec_push(&r->question, (int64_t)n->op->id);
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        vec_push(&r->question, (int64_t)n->attributes[i].count);
        for (uint32_t k = 0; k < n->attributes[i].count; k++)
            ask_about_term(r, n->attributes[i].terms[k]);
    }
    for (uint32_t left = variables; left; left &= left - 1)
        vec_push(&r->question, (int64_t)r->of_variable[__builtin_ctz(left)].number);
}

// All that the relation of a node depends on.
static void ask_about_node(struct relations *r, uint32_t node)
{
    const struct pattern *p = r->in->equation->pattern;
    const struct pattern_node *n = &p->nodes.items[node];
    vec_clear(&r->question);
    vec_push(&r->question, QUESTION_NODE);
    vec_push(&r->question, r->in->heads[node] == NO_HEAD ? -1 : (int64_t)r->in->heads[node]);
    vec_push(&r->question, (int64_t)n->n_inputs);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct term *t = &p->terms.items[n->inputs[i]];
        vec_push(&r->question, t->is_variable ? -1 : (int64_t)t->output);
        vec_push(&r->question, t->is_variable ? r->of_variable[t->index].number : r->of_node[t->index]->number);
    }
    if (r->in->heads[node] == NO_HEAD)
        ask_about_attributes(r, n);
}

static void remember_node(struct relations *r, struct relation *of, uint64_t steps)
{
    struct typing *t = r->in->typing;
    struct solved_node *solved = arena_new(&t->arena, struct solved_node);
    uint32_t number = answers_add(&t->memo, &t->arena, r->question.count, r->question.items, solved);
    *solved = (struct solved_node){of, steps};
    if (of)
        of->number = number;
}

static bool are_inputs_kept(const struct relations *r, uint32_t node)
{
    const struct pattern *p = r->in->equation->pattern;
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++) {
        const struct term *t = &p->terms.items[p->nodes.items[node].inputs[i]];
        if (!t->is_variable && r->of_node[t->index]->number == ANSWERS_NONE)
            return false;
    }
    return true;
}

// One search may ask for more than there is room for.
#define MOST_KEPT_BYTES ((size_t)64 << 20)
static const struct relation *solve_or_recall(struct relations *r, uint32_t node)
{
    struct typing *t = r->in->typing;
    bool has_question = are_inputs_kept(r, node);
    if (has_question)
        ask_about_node(r, node);
    uint32_t number = has_question ? answers_find(&t->memo, r->question.count, r->question.items) : ANSWERS_NONE;
    const struct solved_node *known = number == ANSWERS_NONE ? NULL : t->memo.items.items[number];
    uint64_t before = r->steps;
    if (known && has_steps_left(r, known->steps))
        return known->relation;
    r->steps = before;
    r->keeps_next = has_question && arena_used(&t->arena) < MOST_KEPT_BYTES;
    struct relation *of = solve(r, node);
    if (r->keeps_next && r->steps <= r->step_limit)
        remember_node(r, of, r->steps - before);
    return of;
}

static bool solve_inputs(struct relations *r, uint32_t node)
{
    const struct pattern *p = r->in->equation->pattern;
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++) {
        const struct term *t = &p->terms.items[p->nodes.items[node].inputs[i]];
        if (!t->is_variable && !relations_of_node(r, t->index))
            return false;
    }
    return true;
}

const struct relation *relations_of_node(struct relations *r, uint32_t node)
{
    if (!r->was_tried[node])
        r->of_node[node] = solve_inputs(r, node) ? solve_or_recall(r, node) : NULL;
    r->was_tried[node] = true;
    return r->of_node[node];
}

void relations_free(struct relations *r)
{
    vec_free(&r->question);
}
