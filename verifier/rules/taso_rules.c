// Reads the messages of TASO's rule files, field by field, and writes rules in our terms.
#include "verifier/rules/taso_rules.h"

#include "core/formats/sexp.h"
#include "core/formats/wire.h"
#include "core/memory/arena.h"
#include "core/system/file.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "substitutions/taso_format.h"
#include <inttypes.h>
#include <string.h>

// --- fields ----------------------------------------------------------------------------------------------------------

struct message {
    struct wire_range rest;
    bool is_bad;
};

// The next field: an integer, or a submessage. False at the end or on a fault.
static bool take_field(struct message *m, struct wire_record *ret_field)
{
    if (m->rest.at == m->rest.end || m->is_bad)
        return false;
    m->is_bad =
        wire_read_record(&m->rest, ret_field) || (ret_field->type != WIRE_VARINT && ret_field->type != WIRE_BYTES);
    return !m->is_bad;
}

// --- rules as TASO has them ------------------------------------------------------------------------------------------

#define MAX_OPERATORS 16
#define MAX_OPERATOR_INPUTS 8
#define N_PARAMETERS 16
#define LARGEST_VARIABLE 1000
#define LARGEST_PARAMETER 1000000   // of sizes and numbers of axes, so that nothing computed with them overflows
#define LONGEST_RULE (1 << 16)      // as text, in which an operator that is read twice stands twice

struct taso_tensor {
    int64_t op, output;   // op < 0: variable -op
};
struct taso_op {
    int64_t type;
    uint32_t n_inputs;
    struct taso_tensor inputs[MAX_OPERATOR_INPUTS];
    int64_t parameters[N_PARAMETERS];
};
struct taso_graph {
    uint32_t n;
    struct taso_op ops[MAX_OPERATORS];
};
struct taso_rule {
    struct taso_graph source, target;
    uint32_t n_outputs;
    struct taso_tensor from[MAX_RULE_OUTPUTS], to[MAX_RULE_OUTPUTS];
};

static bool read_numbers(struct wire_range bytes, int64_t *ret_numbers, uint32_t n)
{
    struct message m = {bytes, false};
    struct wire_record field;
    while (take_field(&m, &field))
        if (field.number <= n)
            ret_numbers[field.number - 1] = (int64_t)field.value;
    return !m.is_bad;
}

static bool is_variable_or_below(int64_t op, uint32_t n)
{
    return op >= -LARGEST_VARIABLE && op < (int64_t)n;
}

// Inputs are variables or operators before this one.
static bool read_op(struct wire_range bytes, struct taso_graph *g)
{
    struct message m = {bytes, false};
    struct wire_record field;
    int64_t numbers[2];
    if (g->n == MAX_OPERATORS)
        return false;
    struct taso_op *op = &g->ops[g->n];
    memset(op, 0, sizeof *op);
    while (take_field(&m, &field)) {
        numbers[0] = numbers[1] = 0;
        if (field.number == 1)
            op->type = (int64_t)field.value;
        if ((field.number == 2 || field.number == 3) && !read_numbers(field.bytes, numbers, 2))
            return false;
        if (field.number == 2) {
            if (op->n_inputs == MAX_OPERATOR_INPUTS || !is_variable_or_below(numbers[0], g->n))
                return false;
            op->inputs[op->n_inputs++] = (struct taso_tensor){numbers[0], numbers[1]};
        }
        if (field.number == 3 && (numbers[1] < -LARGEST_PARAMETER || numbers[1] > LARGEST_PARAMETER))
            return false;
        if (field.number == 3 && numbers[0] >= 0 && numbers[0] < N_PARAMETERS)
            op->parameters[numbers[0]] = numbers[1];
    }
    g->n++;
    return !m.is_bad;
}

static bool read_map(struct wire_range bytes, struct taso_rule *r)
{
    int64_t numbers[4] = {0};   // source op, target op, source output, target output
    if (r->n_outputs == MAX_RULE_OUTPUTS || !read_numbers(bytes, numbers, 4))
        return false;
    if (numbers[0] < 0 || !is_variable_or_below(numbers[0], r->source.n) ||
        !is_variable_or_below(numbers[1], r->target.n))
        return false;
    r->from[r->n_outputs] = (struct taso_tensor){numbers[0], numbers[2]};
    r->to[r->n_outputs++] = (struct taso_tensor){numbers[1], numbers[3]};
    return true;
}

static bool read_rule(struct wire_range bytes, struct taso_rule *ret_rule)
{
    struct message m = {bytes, false};
    struct wire_record field;
    memset(ret_rule, 0, sizeof *ret_rule);
    while (take_field(&m, &field)) {
        if (field.number == 1 && !read_op(field.bytes, &ret_rule->source))
            return false;
        if (field.number == 2 && !read_op(field.bytes, &ret_rule->target))
            return false;
        if (field.number == 3 && !read_map(field.bytes, ret_rule))
            return false;
    }
    return !m.is_bad && ret_rule->n_outputs > 0;
}

// --- rules as text ---------------------------------------------------------------------------------------------------

// Every operator has a counterpart and the inputs that it takes, so that each walk along inputs ends at a variable.
struct writer {
    const struct taso_graph *graph;
    struct text *out;
    bool has_other_padding;
};

// A size of a tensor as an attribute term over the rule's variables.
static void write_size(struct writer *w, struct taso_tensor t, int axis)
{
    if (t.op < 0) {
        text_printf(w->out, "(dim ?x%" PRId64 " %d)", -t.op, axis);
        return;
    }
    if (w->out->count > LONGEST_RULE)
        return;
    const struct taso_op *op = &w->graph->ops[t.op];
    if (op->type == TASO_CONCAT && op->parameters[PARAMETER_AXIS] == axis) {
        text_add(w->out, "(+ ");
        write_size(w, op->inputs[0], axis);
        text_add(w->out, " ");
        write_size(w, op->inputs[1], axis);
        text_add(w->out, ")");
    } else if (op->type == TASO_CONV && axis == 1)
        write_size(w, op->inputs[1], 0);
    else
        write_size(w, op->inputs[0], axis);
}

static void write_window(struct writer *w, const struct taso_op *op)
{
    const int64_t *p = op->parameters;
    text_printf(w->out, " :stride %" PRId64 " %" PRId64, p[PARAMETER_STRIDE_H], p[PARAMETER_STRIDE_W]);
    if (p[PARAMETER_PAD] != PAD_SAME)
        return;
    int64_t h = (p[PARAMETER_KERNEL_H] - 1) / 2, v = (p[PARAMETER_KERNEL_W] - 1) / 2;
    text_printf(w->out, " :pad %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, h, v, h, v);
    bool is_symmetric = p[PARAMETER_STRIDE_H] == 1 && p[PARAMETER_STRIDE_W] == 1 && p[PARAMETER_KERNEL_H] % 2 &&
                        p[PARAMETER_KERNEL_W] % 2;
    if (!is_symmetric)
        w->has_other_padding = true;
}

static void write_activation(struct writer *w, const struct taso_op *op)
{
    if (op->parameters[PARAMETER_ACTIVATION] == ACTIVATION_RELU_OF_TASO)
        text_add(w->out, " :act relu");
}

static void write_conv(struct writer *w, const struct taso_op *op)
{
    write_window(w, op);
    text_add(w->out, " :group (/ ");
    write_size(w, op->inputs[0], 1);
    text_add(w->out, " ");
    write_size(w, op->inputs[1], 1);
    text_add(w->out, ")");
    write_activation(w, op);
}

static void write_pool(struct writer *w, const struct taso_op *op)
{
    text_printf(w->out, " :kernel %" PRId64 " %" PRId64, op->parameters[PARAMETER_KERNEL_H],
                op->parameters[PARAMETER_KERNEL_W]);
    write_window(w, op);
    write_activation(w, op);
}

static void write_attributes(struct writer *w, const struct taso_op *op)
{
    switch (op->type) {
    case TASO_MATMUL:
        write_activation(w, op);
        break;
    case TASO_CONCAT:
    case TASO_SPLIT:
        text_printf(w->out, " %" PRId64, op->parameters[PARAMETER_AXIS]);
        break;
    case TASO_CONV:
        write_conv(w, op);
        break;
    case TASO_POOL_MAX:
    case TASO_POOL_AVG:
        write_pool(w, op);
        break;
    default:   // has none
        break;
    }
}

// From TASO_ENLARGE on the numbers are of what is computed of weights alone.
static bool is_read(const struct taso_op *op)
{
    const struct operator* ours = taso_format_operator(op->type);
    if (!ours || op->type == TASO_TRANSPOSE || op->type >= TASO_ENLARGE)
        return false;
    return op->n_inputs >= (ours->max_inputs == VARIADIC ? 2 : (uint32_t)ours->min_inputs);
}

static bool are_all_read(const struct taso_graph *g)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (!is_read(&g->ops[i]))
            return false;
    return true;
}

static void write_term(struct writer *w, struct taso_tensor t)
{
    if (t.op < 0) {
        text_printf(w->out, "?x%" PRId64, -t.op);
        return;
    }
    if (w->out->count > LONGEST_RULE)
        return;
    const struct taso_op *op = &w->graph->ops[t.op];
    text_printf(w->out, "(%s", taso_format_operator(op->type)->name);
    if (op->type == TASO_SPLIT)
        text_printf(w->out, "%" PRId64, t.output);
    write_attributes(w, op);
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        text_add(w->out, " ");
        write_term(w, op->inputs[i]);
    }
    text_add(w->out, ")");
}

static int64_t variable_with_rank_of(const struct taso_graph *g, struct taso_tensor t)
{
    while (t.op >= 0)
        t = g->ops[t.op].inputs[0];
    return -t.op;
}

// What the source's parameters say of shapes: numbers of axes, sizes of windows.
static void write_conditions(struct writer *w)
{
    text_add(w->out, "\n  (where");
    for (uint32_t i = 0; i < w->graph->n; i++) {
        const struct taso_op *op = &w->graph->ops[i];
        for (uint32_t k = 0; op->type == TASO_CONCAT && k < op->n_inputs; k++)
            text_printf(w->out, " (= (rank ?x%" PRId64 ") %" PRId64 ")", variable_with_rank_of(w->graph, op->inputs[k]),
                        op->parameters[PARAMETER_NUM_DIM]);
        for (int axis = 2; op->type == TASO_CONV && axis < 4; axis++) {
            text_add(w->out, " (= ");
            write_size(w, op->inputs[1], axis);
            text_printf(w->out, " %" PRId64 ")", op->parameters[axis == 2 ? PARAMETER_KERNEL_H : PARAMETER_KERNEL_W]);
        }
        if (op->type == TASO_CONV)
            text_printf(w->out, " (= (rank ?x%" PRId64 ") 4)", variable_with_rank_of(w->graph, op->inputs[0]));
        for (uint32_t k = 0; op->type == TASO_MATMUL && k == 0; k++)
            text_printf(w->out, " (= (rank ?x%" PRId64 ") (rank ?x%" PRId64 "))",
                        variable_with_rank_of(w->graph, op->inputs[0]), variable_with_rank_of(w->graph, op->inputs[1]));
    }
    text_add(w->out, ")");
}

static bool write_rule(const struct taso_rule *r, size_t number, struct text *out)
{
    struct writer source = {&r->source, out, false}, target = {&r->target, out, false};
    text_printf(out, "(rule taso-%zu\n  (source", number);
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        text_add(out, " ");
        write_term(&source, r->from[i]);
    }
    text_add(out, ")\n  (target");
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        text_add(out, " ");
        write_term(&target, r->to[i]);
    }
    text_add(out, ")");
    write_conditions(&source);
    text_add(out, ")\n");
    return !source.has_other_padding && !target.has_other_padding;
}

// --- the file --------------------------------------------------------------------------------------------------------

static bool add_rule(struct rule_set *set, const struct taso_rule *r, size_t number, const char *path,
                     struct error *error)
{
    struct text text = {0};
    const struct sexp *list;
    struct rule *rule;
    if (!are_all_read(&r->source) || !are_all_read(&r->target) || !write_rule(r, number, &text)) {
        text_free(&text);
        return error_set(error, path, 0, 0, "rule %zu has an operator or padding without a counterpart", number);
    }
    if (text.count > LONGEST_RULE) {
        text_free(&text);
        return error_set(error, path, 0, 0, "rule %zu is too large", number);
    }
    bool is_parsed = sexp_parse(set->arena, path, text.chars, text.count, &list, error) &&
                     rule_parse(&list->items[0], path, set->arena, &rule, error);
    text_free(&text);
    if (!is_parsed)
        return error_set(error, path, 0, 0, "rule %zu: %s", number, arena_string(set->arena, error->message));
    vec_push(&set->rules, rule);
    return true;
}

static bool read_rules(struct rule_set *set, struct message m, const char *path, struct error *error)
{
    struct taso_rule *r = arena_new(set->arena, struct taso_rule);
    struct wire_record field;
    for (size_t number = 0; take_field(&m, &field);) {
        if (field.number != 1)
            continue;
        if (!field.bytes.at || !read_rule(field.bytes, r))
            return error_set(error, path, 0, 0, "rule %zu is malformed", number);
        if (!add_rule(set, r, number++, path, error))
            return false;
    }
    return !m.is_bad || error_set(error, path, 0, 0, "not a file of rules: the protobuf is malformed");
}

bool taso_rules_read(struct rule_set *set, const char *path, struct error *error)
{
    struct file_map map;
    size_t before = set->rules.count;
    if (!file_map_open(&map, path, error))
        return false;
    bool is_read = read_rules(set, (struct message){{map.bytes, map.bytes + map.size}, false}, path, error);
    file_map_close(&map);
    if (is_read && set->rules.count == before)
        return error_set(error, path, 0, 0, "no rule in this file");
    return is_read;
}
