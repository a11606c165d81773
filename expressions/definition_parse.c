// A recursive descent over one text; what stands for an index and what for a scalar is known by the place.
#include "expressions/definition_parse.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// A level of a tree is printed with at most two brackets: what is read is printed as what can be read again.
enum { MAX_DEPTH = 200, MAX_HEIGHT = MAX_DEPTH / 2 - 1, MAX_VARIABLES = 4096, MAX_INPUTS = 1024, MAX_STAGES = 1024 };

struct parser {
    const char *file, *at, *end, *line_start;
    unsigned line;
    int depth;
    struct arena *arena;
    struct definition *d;
    VEC(struct type) inputs;
    VEC(uint32_t) heights;   // of the definition's nodes, as trees
    bool is_declared[MAX_VARIABLES], is_in_scope[MAX_VARIABLES];
    struct error *error;
};

// --- words -----------------------------------------------------------------------------------------------------------

static bool fail(struct parser *p, const char *what)
{
    return error_set(p->error, p->file, p->line, (unsigned)(p->at - p->line_start) + 1, "%s", what);
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
        p->at++;
}

static void skip_empty_lines(struct parser *p)
{
    skip_blanks(p);
    while (p->at < p->end && *p->at == '\n') {
        p->line_start = ++p->at;
        p->line++;
        skip_blanks(p);
    }
}

static bool next_is(struct parser *p, const char *sign)
{
    size_t n = strlen(sign);
    skip_blanks(p);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, sign, n) == 0;
}

static bool take(struct parser *p, const char *sign)
{
    bool is_next = next_is(p, sign);
    p->at += is_next ? strlen(sign) : 0;
    return is_next;
}

static bool expect(struct parser *p, const char *sign)
{
    char what[40];
    snprintf(what, sizeof what, "expected `%s`", sign);
    return take(p, sign) || fail(p, what);
}

enum { WORD_LENGTH = 32 };
// Letters, then digits; the empty word where none stands.
static void peek_word(struct parser *p, char *ret_word)
{
    size_t n = 0;
    skip_blanks(p);
    while (p->at + n < p->end && n + 1 < WORD_LENGTH && isalnum((unsigned char)p->at[n]) &&
           (n || isalpha((unsigned char)p->at[0]))) {
        ret_word[n] = p->at[n];
        n++;
    }
    ret_word[n] = '\0';
}

static bool word_is_next(struct parser *p, const char *word)
{
    char next[WORD_LENGTH];
    peek_word(p, next);
    return strcmp(next, word) == 0;
}

static bool take_word(struct parser *p, const char *word)
{
    bool is_next = word_is_next(p, word);
    p->at += is_next ? strlen(word) : 0;
    return is_next;
}

static bool expect_word(struct parser *p, const char *word)
{
    char what[40];
    snprintf(what, sizeof what, "expected `%s`", word);
    return take_word(p, word) || fail(p, what);
}

static bool parse_integer(struct parser *p, int64_t least, int64_t *ret_value)
{
    int64_t value = 0;
    skip_blanks(p);
    const char *at = p->at;
    bool is_negative = at < p->end && *at == '-';
    at += is_negative;
    if (at == p->end || !isdigit((unsigned char)*at))
        return fail(p, "expected an integer");
    for (; at < p->end && isdigit((unsigned char)*at); at++) {
        int64_t digit = *at - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, is_negative ? -digit : digit, &value))
            return fail(p, "an integer of more than 64 bits");
    }
    if (value < least)
        return fail(p, least == 1 ? "expected a positive integer" : "expected an integer that is not negative");
    p->at = at;
    *ret_value = value;
    return true;
}

static bool parse_real(struct parser *p, double *ret_value)
{
    char digits[64];
    size_t n = 0;
    skip_blanks(p);
    while (p->at + n < p->end && n + 1 < sizeof digits &&
           (isalnum((unsigned char)p->at[n]) || strchr("+-.", p->at[n]))) {
        bool is_sign = p->at[n] == '+' || p->at[n] == '-';
        if (is_sign && n && p->at[n - 1] != 'e')
            break;
        digits[n] = p->at[n];
        n++;
    }
    digits[n] = '\0';
    char *end;
    *ret_value = strtod(digits, &end);
    if (n == 0 || *end)
        return fail(p, "expected a value");
    p->at += n;
    return true;
}

// --- variables and tensors -------------------------------------------------------------------------------------------

static bool variable_of_word(const char *word, uint32_t *ret_variable)
{
    static const char letters[] = "ijklmnpqrstuvwabcdefgh";   // as definition_print names them
    const char *letter = *word ? strchr(letters, *word) : NULL;
    char *end;
    unsigned long turn = letter && word[1] ? strtoul(word + 1, &end, 10) : 0;
    if (!letter || (word[1] && (*end || word[1] == '0')) || turn >= MAX_VARIABLES / (sizeof letters - 1))
        return false;
    *ret_variable = (uint32_t)(turn * (sizeof letters - 1) + (size_t)(letter - letters));
    return true;
}

static bool parse_variable(struct parser *p, uint32_t *ret_variable)
{
    char word[WORD_LENGTH];
    peek_word(p, word);
    if (!variable_of_word(word, ret_variable))
        return fail(p, "expected a variable");
    p->at += strlen(word);
    return true;
}

static bool declare(struct parser *p, uint32_t variable, int64_t extent)
{
    bool is_other = p->is_declared[variable] && p->d->extents.items[variable] != extent;
    if (p->is_in_scope[variable] || is_other)
        return fail(p, "the variable stands for another range already");
    p->is_declared[variable] = p->is_in_scope[variable] = true;
    while (p->d->extents.count <= variable)
        vec_push(&p->d->extents, 1);
    p->d->extents.items[variable] = extent;
    return true;
}

static bool number_of_word(const char *word, int64_t *ret_number)
{
    char *end;
    *ret_number = strtol(word + 1, &end, 10);
    return isdigit((unsigned char)word[1]) && !*end;
}

// An earlier tensor.
static bool find_tensor(struct parser *p, const char *word, int *ret_tensor)
{
    const struct definition *d = p->d;
    int64_t number = 0;
    if (strcmp(word, "z") != 0 && !number_of_word(word, &number))
        return false;
    if (*word == 'x' && number < d->n_inputs)
        *ret_tensor = (int)number;
    else if (*word == 't' && number < d->n_stages)
        *ret_tensor = d->n_inputs + (int)number;
    else if (*word == 'z' && number < d->n_outputs)
        *ret_tensor = d->n_inputs + d->outputs[number];
    else
        return false;
    return *word == 'x' || d->stages[*ret_tensor - d->n_inputs].has_body;
}

// --- index expressions -----------------------------------------------------------------------------------------------

static bool parse_index(struct parser *p, expr *ret);
static bool parse_scalar(struct parser *p, expr *ret);

static bool enter(struct parser *p)
{
    return ++p->depth <= MAX_DEPTH || fail(p, "nested too deeply");
}

static bool parse_index_variable(struct parser *p, expr *ret)
{
    uint32_t variable;
    if (!parse_variable(p, &variable))
        return false;
    if (!p->is_in_scope[variable])
        return fail(p, "the variable has no range here");
    *ret = index_variable(p->d, variable);
    return true;
}

static bool parse_index_in_brackets(struct parser *p, expr *ret)
{
    if (!enter(p) || !parse_index(p, ret) || !expect(p, ")"))
        return false;
    p->depth--;
    return true;
}

static bool parse_index_operand(struct parser *p, expr *ret)
{
    int64_t value;
    expr scalar;
    if (take(p, "("))
        return parse_index_in_brackets(p, ret);
    if (take_word(p, "index")) {
        if (!expect(p, "(") || !enter(p) || !parse_scalar(p, &scalar) || !expect(p, ")"))
            return false;
        p->depth--;
        *ret = index_of(p->d, scalar);
        return true;
    }
    skip_blanks(p);
    if (p->at < p->end && isalpha((unsigned char)*p->at))
        return parse_index_variable(p, ret);
    if (!parse_integer(p, INT64_MIN, &value))
        return false;
    *ret = index_integer(p->d, value);
    return true;
}

static bool parse_index_term(struct parser *p, expr *ret)
{
    int64_t value;
    if (!parse_index_operand(p, ret))
        return false;
    for (;;) {
        if (take(p, "*")) {
            if (!parse_integer(p, INT64_MIN, &value))
                return false;
            *ret = index_mul(p->d, *ret, value);
        } else if (take(p, "/")) {
            if (!parse_integer(p, 1, &value))
                return false;
            *ret = index_div(p->d, *ret, value);
        } else if (take_word(p, "mod")) {
            if (!parse_integer(p, 1, &value))
                return false;
            *ret = index_mod(p->d, *ret, value);
        } else
            return true;
    }
}

static bool parse_index(struct parser *p, expr *ret)
{
    expr term;
    if (!parse_index_term(p, ret))
        return false;
    for (;;) {
        bool is_difference = next_is(p, "-");
        if (!take(p, "+") && !take(p, "-"))
            return true;
        if (!parse_index_term(p, &term))
            return false;
        const struct expr_node *n = &p->d->nodes.items[term];
        if (is_difference && n->kind == EXPR_INTEGER && n->value != INT64_MIN)
            *ret = index_offset(p->d, *ret, -n->value);
        else
            *ret = index_add(p->d, *ret, is_difference ? index_mul(p->d, term, -1) : term);
    }
}

// --- scalar expressions ----------------------------------------------------------------------------------------------

static bool parse_operand(struct parser *p, expr *ret);

static bool parse_read(struct parser *p, const char *name, expr *ret)
{
    expr index[MAX_RANK];
    int tensor, n = 0;
    if (!find_tensor(p, name, &tensor))
        return fail(p, "no tensor of this name stands before this one");
    int rank = definition_tensor(p->d, tensor)->rank;
    p->at += strlen(name);
    if (!expect(p, "["))
        return false;
    for (; n < rank; n++)
        if ((n && !expect(p, ",")) || !parse_index(p, &index[n]))
            return false;
    enum outside outside = OUTSIDE_NEVER;
    if (take_word(p, "or"))
        outside = take_word(p, "lowest") ? OUTSIDE_LOWEST : OUTSIDE_ZERO;
    if ((outside == OUTSIDE_ZERO && !expect(p, "0")) || !expect(p, "]"))
        return false;
    *ret = scalar_read_or(p->d, tensor, index, outside);
    return true;
}

static bool reduction_of_name(const char *name, enum scalar_function *ret_fn)
{
    static const struct {
        const char *name;
        enum scalar_function fn;
    } reductions[] = {{"sum", FN_ADD}, {"product", FN_MUL}, {"max", FN_MAX}, {"min", FN_MIN}};
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (strcmp(reductions[i].name, name) == 0) {
            *ret_fn = reductions[i].fn;
            return true;
        }
    return false;
}

// Is it a range, `(k < 3)`, and no list of operands?
static bool range_is_next(struct parser *p)
{
    const char *start = p->at;
    char word[WORD_LENGTH] = "";
    if (take(p, "(")) {
        peek_word(p, word);
        p->at += strlen(word);
    }
    bool is_range = *word && next_is(p, "<");
    p->at = start;
    return is_range;
}

static bool parse_reduction(struct parser *p, enum scalar_function fn, expr *ret)
{
    uint32_t variable;
    int64_t extent;
    expr body;
    if (!expect(p, "(") || !parse_variable(p, &variable) || !expect(p, "<") || !parse_integer(p, 0, &extent) ||
        !expect(p, ")") || !declare(p, variable, extent) || !parse_operand(p, &body))
        return false;
    p->is_in_scope[variable] = false;
    *ret = scalar_reduce(p->d, fn, index_variable(p->d, variable), body);
    return true;
}

static bool function_of_name(const char *name, enum scalar_function *ret_fn)
{
    for (int fn = 0; fn < FN_COUNT; fn++)
        if (strcmp(function_name((enum scalar_function)fn), name) == 0) {
            *ret_fn = (enum scalar_function)fn;
            return true;
        }
    return false;
}

static bool parse_call(struct parser *p, enum scalar_function fn, expr *ret)
{
    expr operands[3] = {0};
    if (!expect(p, "("))
        return false;
    for (int i = 0; i < function_arity(fn); i++)
        if ((i && !expect(p, ",")) || !parse_scalar(p, &operands[i]))
            return false;
    *ret = scalar_apply(p->d, fn, operands[0], operands[1], operands[2]);
    return expect(p, ")");
}

static bool parse_select(struct parser *p, expr *ret)
{
    expr index, one, other;
    if (!parse_index(p, &index) || !expect(p, ">=") || !expect(p, "0") || !expect_word(p, "then") ||
        !parse_operand(p, &one) || !expect_word(p, "else") || !parse_operand(p, &other))
        return false;
    *ret = scalar_select(p->d, index, one, other);
    return true;
}

static bool parse_scalar_of(struct parser *p, expr *ret)
{
    expr index;
    if (!expect(p, "(") || !parse_index(p, &index) || !expect(p, ")"))
        return false;
    *ret = scalar_of(p->d, index);
    return true;
}

static bool parse_named(struct parser *p, const char *name, expr *ret)
{
    enum scalar_function fn;
    size_t length = strlen(name);
    const char *start = p->at;
    p->at += length;
    if (strcmp(name, "if") == 0)
        return parse_select(p, ret);
    if (strcmp(name, "scalar") == 0)
        return parse_scalar_of(p, ret);
    if (reduction_of_name(name, &fn) && range_is_next(p))
        return parse_reduction(p, fn, ret);
    if (function_of_name(name, &fn))
        return parse_call(p, fn, ret);
    p->at = start;
    return parse_read(p, name, ret);
}

static bool parse_operand(struct parser *p, expr *ret)
{
    char name[WORD_LENGTH];
    double value;
    bool is_parsed;
    if (!enter(p))
        return false;
    peek_word(p, name);
    if (take(p, "("))
        is_parsed = parse_scalar(p, ret) && expect(p, ")");
    else if (*name && strcmp(name, "nan") != 0)
        is_parsed = parse_named(p, name, ret);
    else {
        is_parsed = parse_real(p, &value);
        if (is_parsed)
            *ret = scalar_real(p->d, value);
    }
    p->depth--;
    return is_parsed;
}

static bool take_sign(struct parser *p, const char *signs, const enum scalar_function *functions,
                      enum scalar_function *ret_fn)
{
    skip_blanks(p);
    const char *sign = p->at < p->end && *p->at ? strchr(signs, *p->at) : NULL;
    if (!sign)
        return false;
    p->at++;
    *ret_fn = functions[sign - signs];
    return true;
}

static bool parse_product(struct parser *p, expr *ret)
{
    static const enum scalar_function functions[] = {FN_MUL, FN_DIV};
    enum scalar_function fn;
    expr other;
    if (!parse_operand(p, ret))
        return false;
    while (take_sign(p, "*/", functions, &fn)) {
        if (!parse_operand(p, &other))
            return false;
        *ret = scalar_apply(p->d, fn, *ret, other, 0);
    }
    return true;
}

static bool parse_scalar(struct parser *p, expr *ret)
{
    static const enum scalar_function functions[] = {FN_ADD, FN_SUB};
    enum scalar_function fn;
    expr other;
    if (!parse_product(p, ret))
        return false;
    while (take_sign(p, "+-", functions, &fn)) {
        if (!parse_product(p, &other))
            return false;
        *ret = scalar_apply(p->d, fn, *ret, other, 0);
    }
    return true;
}

// --- heights ---------------------------------------------------------------------------------------------------------

static uint32_t height_of(const struct parser *p, expr e)
{
    struct operands below = expr_operands(p->d, e);
    uint32_t height = 0;
    for (uint32_t i = 0; i < below.n; i++)
        if (p->heights.items[below.items[i]] >= height)
            height = p->heights.items[below.items[i]] + 1;
    return height;
}

// A chain of sums is a tree as high as it is long, whatever the brackets are. Nodes stand behind their operands.
static bool check_height(struct parser *p, expr body)
{
    while (p->heights.count < p->d->nodes.count) {
        uint32_t height = height_of(p, (expr)p->heights.count);
        vec_push(&p->heights, height);
    }
    return p->heights.items[body] <= MAX_HEIGHT || fail(p, "nested too deeply");
}

// --- lines -----------------------------------------------------------------------------------------------------------

static bool parse_type(struct parser *p, struct type *ret_type)
{
    char name[WORD_LENGTH];
    int64_t dim[MAX_RANK];
    int rank = 0;
    enum dtype dtype;
    peek_word(p, name);
    if (!dtype_from_name(name, &dtype))
        return fail(p, "expected an element type");
    p->at += strlen(name);
    if (!expect(p, "["))
        return false;
    for (; !next_is(p, "]"); rank++) {
        if (rank == MAX_RANK)
            return fail(p, "more axes than tensors have");
        if ((rank && !expect(p, ",")) || !parse_integer(p, 0, &dim[rank]))
            return false;
    }
    *ret_type = type_make(dtype, rank, dim);
    return expect(p, "]") && (type_has_allowed_size(ret_type) || fail(p, "the tensor is too large"));
}

static bool parse_input(struct parser *p)
{
    struct type type;
    int64_t number;
    char name[WORD_LENGTH];
    peek_word(p, name);
    if (!number_of_word(name, &number) || number != (int64_t)p->inputs.count || number == MAX_INPUTS)
        return fail(p, "inputs are x0, x1, ... in this order");
    p->at += strlen(name);
    if (!parse_type(p, &type))
        return false;
    vec_push(&p->inputs, type);
    return true;
}

// The variables of a stage are numbered one after the other.
static bool parse_stage_variables(struct parser *p, uint32_t *ret_variables, int *ret_n)
{
    int n = 0;
    if (!expect(p, "["))
        return false;
    for (; !next_is(p, "]"); n++) {
        if (n == MAX_RANK)
            return fail(p, "more axes than tensors have");
        if ((n && !expect(p, ",")) || !parse_variable(p, &ret_variables[n]))
            return false;
        if (ret_variables[n] != ret_variables[0] + (uint32_t)n)
            return fail(p, "the variables of a tensor follow one another: i, j, k, l, m, n, p, ...");
    }
    *ret_n = n;
    return expect(p, "]");
}

static bool check_stage_name(struct parser *p, const char *name, bool *ret_is_output)
{
    const struct definition *d = p->d;
    int64_t number = 0;
    bool is_only = strcmp(name, "z") == 0;
    *ret_is_output = *name == 'z';
    if (d->n_stages == MAX_STAGES || d->n_outputs == MAX_OUTPUTS)
        return fail(p, "too many tensors");
    if ((*name != 'z' && *name != 't') || (!is_only && !number_of_word(name, &number)))
        return fail(p, "expected an input x0, an output z or z0, or a tensor t0");
    if (number != (*ret_is_output ? d->n_outputs : d->n_stages))
        return fail(p, "outputs are z0, z1, ... in this order, and t1 is the second tensor that is no input");
    return true;
}

static bool parse_stage(struct parser *p)
{
    struct definition *d = p->d;
    char name[WORD_LENGTH];
    uint32_t variables[MAX_RANK + 1] = {0};
    int n;
    bool is_output;
    struct type type;
    expr body;
    peek_word(p, name);
    if (!check_stage_name(p, name, &is_output))
        return false;
    p->at += strlen(name);
    if (!parse_stage_variables(p, variables, &n) || !parse_type(p, &type))
        return false;
    if (type.rank != n)
        return fail(p, "a variable for each axis is needed");
    int tensor = stage_add_over(d, &type, n ? variables[0] : (uint32_t)d->extents.count);
    if (is_output)
        d->outputs[d->n_outputs++] = (uint16_t)(tensor - d->n_inputs);
    for (int i = 0; i < n; i++)
        if (!declare(p, variables[i], type.dim[i]))
            return false;
    if (!expect(p, "=") || !parse_scalar(p, &body) || !check_height(p, body))
        return false;
    stage_set_body(d, tensor, body);
    for (int i = 0; i < n; i++)
        p->is_in_scope[variables[i]] = false;
    return true;
}

static bool parse_lines(struct parser *p)
{
    for (skip_empty_lines(p); next_is(p, "x"); skip_empty_lines(p))
        if (!parse_input(p) || (p->at < p->end && !next_is(p, "\n") && !fail(p, "expected the end of the line")))
            return false;
    p->d->n_inputs = (int)p->inputs.count;
    p->d->inputs = p->inputs.count ? arena_copy_array(p->arena, p->inputs.items, p->inputs.count) : NULL;
    for (; p->at < p->end; skip_empty_lines(p))
        if (!parse_stage(p) || (p->at < p->end && !next_is(p, "\n") && !fail(p, "expected the end of the line")))
            return false;
    return p->d->n_outputs > 0 || fail(p, "a definition has an output");
}

bool definition_parse(struct arena *a, const char *file, const char *text, size_t size,
                      struct definition *ret_definition, struct error *error)
{
    struct definition d;
    definition_init(&d, a, 0, NULL);
    struct parser p = {.file = file,
                       .at = text,
                       .end = text + size,
                       .line_start = text,
                       .line = 1,
                       .arena = a,
                       .d = &d,
                       .error = error};
    bool is_parsed = parse_lines(&p);
    vec_free(&p.inputs);
    vec_free(&p.heights);
    if (!is_parsed) {
        definition_free(&d);
        return false;
    }
    definition_finish(&d);
    *ret_definition = d;
    return true;
}
