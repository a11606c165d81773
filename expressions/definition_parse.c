// A recursive descent over one text; what stands for an index and what for a scalar is known by the place. After the
// first failure nothing is left to be read, so that whoever reads goes on with zeros, and looks once, at the end.
#include "expressions/definition_parse.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include <ctype.h>
#include <stdio.h>
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
    bool is_declared[MAX_VARIABLES], is_in_scope[MAX_VARIABLES], has_failed;
    struct error *error;
};

// --- words -----------------------------------------------------------------------------------------------------------

static bool fail(struct parser *p, const char *what)
{
    if (!p->has_failed)
        error_set(p->error, p->file, p->line, (unsigned)(p->at - p->line_start) + 1, "%s", what);
    p->has_failed = true;
    p->at = p->end;
    return false;
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

static bool take_word(struct parser *p, const char *word)
{
    char next[WORD_LENGTH];
    peek_word(p, next);
    bool is_next = strcmp(next, word) == 0;
    p->at += is_next ? strlen(word) : 0;
    return is_next;
}

static bool expect_word(struct parser *p, const char *word)
{
    char what[40];
    snprintf(what, sizeof what, "expected `%s`", word);
    return take_word(p, word) || fail(p, what);
}

// `least` where it fails.
static int64_t parse_integer(struct parser *p, int64_t least)
{
    int64_t value = 0;
    skip_blanks(p);
    const char *at = p->at;
    bool is_negative = at < p->end && *at == '-', fits = true;
    at += is_negative;
    if (at == p->end || !isdigit((unsigned char)*at))
        fail(p, "expected an integer");
    for (; at < p->end && isdigit((unsigned char)*at) && fits; at++) {
        int64_t digit = is_negative ? '0' - *at : *at - '0';
        fits = !__builtin_mul_overflow(value, 10, &value) && !__builtin_add_overflow(value, digit, &value);
    }
    if (!fits)
        fail(p, "an integer of more than 64 bits");
    else if (value < least)
        fail(p, least == 1 ? "expected a positive integer" : "expected an integer that is not negative");
    p->at = p->has_failed ? p->end : at;
    return p->has_failed ? least : value;
}

static double parse_real(struct parser *p)
{
    char digits[64], *end;
    size_t n = 0;
    skip_blanks(p);
    for (bool is_end = false; !is_end && p->at + n < p->end && n + 1 < sizeof digits; n += !is_end) {
        bool is_sign = p->at[n] == '+' || p->at[n] == '-';
        is_end = is_sign ? n && p->at[n - 1] != 'e' : !isalnum((unsigned char)p->at[n]) && p->at[n] != '.';
        digits[n] = p->at[n];
    }
    digits[n] = '\0';
    double value = strtod(digits, &end);
    if (n == 0 || *end)
        fail(p, "expected a value");
    else
        p->at += n;
    return value;
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

static uint32_t parse_variable(struct parser *p)
{
    char word[WORD_LENGTH];
    uint32_t variable = 0;
    peek_word(p, word);
    if (variable_of_word(word, &variable))
        p->at += strlen(word);
    else
        fail(p, "expected a variable");
    return variable;
}

static void declare(struct parser *p, uint32_t variable, int64_t extent)
{
    bool is_other = p->is_declared[variable] && p->d->extents.items[variable] != extent;
    if (p->has_failed || p->is_in_scope[variable] || is_other) {
        fail(p, "the variable stands for another range already");
        return;
    }
    p->is_declared[variable] = p->is_in_scope[variable] = true;
    while (p->d->extents.count <= variable)
        vec_push(&p->d->extents, 1);
    p->d->extents.items[variable] = extent;
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

static expr parse_index(struct parser *p);
static expr parse_scalar(struct parser *p);

static void enter(struct parser *p)
{
    if (++p->depth > MAX_DEPTH)
        fail(p, "nested too deeply");
}

// Up to the bracket that closes what was opened.
static expr parse_to_bracket(struct parser *p, expr parse(struct parser *))
{
    enter(p);
    expr e = parse(p);
    expect(p, ")");
    p->depth--;
    return e;
}

static expr parse_index_operand(struct parser *p)
{
    if (take(p, "("))
        return parse_to_bracket(p, parse_index);
    if (take_word(p, "index")) {
        expect(p, "(");
        return index_of(p->d, parse_to_bracket(p, parse_scalar));
    }
    if (p->at == p->end || !isalpha((unsigned char)*p->at))
        return index_integer(p->d, parse_integer(p, INT64_MIN));
    uint32_t variable = parse_variable(p);
    if (p->has_failed || !p->is_in_scope[variable])
        return fail(p, "the variable has no range here"), index_integer(p->d, 0);
    return index_variable(p->d, variable);
}

static expr parse_index_term(struct parser *p)
{
    expr term = parse_index_operand(p);
    for (;;)
        if (take(p, "*"))
            term = index_mul(p->d, term, parse_integer(p, INT64_MIN));
        else if (take(p, "/"))
            term = index_div(p->d, term, parse_integer(p, 1));
        else if (take_word(p, "mod"))
            term = index_mod(p->d, term, parse_integer(p, 1));
        else
            return term;
}

static expr parse_index(struct parser *p)
{
    expr sum = parse_index_term(p);
    for (;;) {
        bool is_difference = next_is(p, "-");
        if (!take(p, "+") && !take(p, "-"))
            return sum;
        expr term = parse_index_term(p);
        const struct expr_node *n = &p->d->nodes.items[term];
        if (is_difference && n->kind == EXPR_INTEGER && n->value != INT64_MIN)
            sum = index_offset(p->d, sum, -n->value);
        else
            sum = index_add(p->d, sum, is_difference ? index_mul(p->d, term, -1) : term);
    }
}

// --- scalar expressions ----------------------------------------------------------------------------------------------

static expr parse_operand(struct parser *p);

static expr parse_read(struct parser *p, const char *name)
{
    expr index[MAX_RANK];
    int tensor;
    if (!find_tensor(p, name, &tensor))
        return fail(p, "no tensor of this name stands before this one"), scalar_real(p->d, 0);
    p->at += strlen(name);
    expect(p, "[");
    for (int n = 0; n < definition_tensor(p->d, tensor)->rank; n++) {
        if (n)
            expect(p, ",");
        index[n] = parse_index(p);
    }
    enum outside outside = OUTSIDE_NEVER;
    if (take_word(p, "or"))
        outside = take_word(p, "lowest") ? OUTSIDE_LOWEST : OUTSIDE_ZERO;
    if (outside == OUTSIDE_ZERO)
        expect(p, "0");
    expect(p, "]");
    return scalar_read_or(p->d, tensor, index, outside);
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

static expr parse_reduction(struct parser *p, enum scalar_function fn)
{
    expect(p, "(");
    uint32_t variable = parse_variable(p);
    expect(p, "<");
    int64_t extent = parse_integer(p, 0);
    expect(p, ")");
    declare(p, variable, extent);
    expr body = parse_operand(p);
    if (p->has_failed)
        return body;
    p->is_in_scope[variable] = false;
    return scalar_reduce(p->d, fn, index_variable(p->d, variable), body);
}

static bool function_of_name(const char *name, enum scalar_function *ret_fn)
{
    *ret_fn = FIRST_OF(enum scalar_function, fn, FN_COUNT, strcmp(function_name(fn), name) == 0);
    return *ret_fn < FN_COUNT;
}

static expr parse_call(struct parser *p, enum scalar_function fn)
{
    expr operands[3] = {0};
    expect(p, "(");
    for (int i = 0; i < function_arity(fn); i++) {
        if (i)
            expect(p, ",");
        operands[i] = parse_scalar(p);
    }
    expect(p, ")");
    return scalar_apply(p->d, fn, operands[0], operands[1], operands[2]);
}

static expr parse_select(struct parser *p)
{
    expr index = parse_index(p);
    expect(p, ">=");
    expect(p, "0");
    expect_word(p, "then");
    expr one = parse_operand(p);
    expect_word(p, "else");
    return scalar_select(p->d, index, one, parse_operand(p));
}

static expr parse_named(struct parser *p, const char *name)
{
    enum scalar_function fn;
    const char *start = p->at;
    p->at += strlen(name);
    if (strcmp(name, "if") == 0)
        return parse_select(p);
    if (strcmp(name, "scalar") == 0) {
        expect(p, "(");
        return scalar_of(p->d, parse_to_bracket(p, parse_index));
    }
    if (reduction_of_name(name, &fn) && range_is_next(p))
        return parse_reduction(p, fn);
    if (function_of_name(name, &fn))
        return parse_call(p, fn);
    p->at = start;
    return parse_read(p, name);
}

static expr parse_operand(struct parser *p)
{
    char name[WORD_LENGTH];
    peek_word(p, name);
    if (take(p, "("))
        return parse_to_bracket(p, parse_scalar);
    if (!*name || strcmp(name, "nan") == 0)
        return scalar_real(p->d, parse_real(p));
    enter(p);
    expr e = p->has_failed ? scalar_real(p->d, 0) : parse_named(p, name);
    p->depth--;
    return e;
}

// Parts with signs between them, which are functions.
static expr parse_chain(struct parser *p, expr parse_part(struct parser *), const char *signs,
                        const enum scalar_function *functions)
{
    expr e = parse_part(p);
    for (;;) {
        skip_blanks(p);
        const char *sign = p->at < p->end && *p->at ? strchr(signs, *p->at) : NULL;
        if (!sign)
            return e;
        p->at++;
        e = scalar_apply(p->d, functions[sign - signs], e, parse_part(p), 0);
    }
}

static expr parse_product(struct parser *p)
{
    return parse_chain(p, parse_operand, "*/", (const enum scalar_function[]){FN_MUL, FN_DIV});
}

static expr parse_scalar(struct parser *p)
{
    return parse_chain(p, parse_product, "+-", (const enum scalar_function[]){FN_ADD, FN_SUB});
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
static void check_height(struct parser *p, expr body)
{
    while (p->heights.count < p->d->nodes.count) {
        uint32_t height = height_of(p, (expr)p->heights.count);
        vec_push(&p->heights, height);
    }
    if (p->heights.items[body] > MAX_HEIGHT)
        fail(p, "nested too deeply");
}

// --- lines -----------------------------------------------------------------------------------------------------------

static struct type parse_type(struct parser *p)
{
    char name[WORD_LENGTH];
    int64_t dim[MAX_RANK];
    int rank = 0;
    enum dtype dtype = DTYPE_NONE;
    peek_word(p, name);
    if (dtype_from_name(name, &dtype))
        p->at += strlen(name);
    else
        fail(p, "expected an element type");
    expect(p, "[");
    for (; !p->has_failed && !next_is(p, "]"); rank++)
        if (rank == MAX_RANK)
            return fail(p, "more axes than tensors have"), (struct type){0};
        else if (!rank || expect(p, ","))
            dim[rank] = parse_integer(p, 0);
    struct type type = type_make(dtype, p->has_failed ? 0 : rank, dim);
    if (expect(p, "]") && !type_has_allowed_size(&type))
        fail(p, "the tensor is too large");
    return type;
}

static void parse_input(struct parser *p)
{
    int64_t number;
    char name[WORD_LENGTH];
    peek_word(p, name);
    if (!number_of_word(name, &number) || number != (int64_t)p->inputs.count || number == MAX_INPUTS)
        fail(p, "inputs are x0, x1, ... in this order");
    else
        p->at += strlen(name);
    struct type type = parse_type(p);
    vec_push(&p->inputs, type);
}

// The variables of a stage are numbered one after the other. How many there are.
static int parse_stage_variables(struct parser *p, uint32_t *ret_variables)
{
    int n = 0;
    expect(p, "[");
    for (; !p->has_failed && !next_is(p, "]"); n++) {
        if (n == MAX_RANK)
            return fail(p, "more axes than tensors have"), 0;
        if (n)
            expect(p, ",");
        ret_variables[n] = parse_variable(p);
        if (ret_variables[n] != ret_variables[0] + (uint32_t)n)
            fail(p, "the variables of a tensor follow one another: i, j, k, l, m, n, p, ...");
    }
    expect(p, "]");
    return n;
}

static bool parse_stage_name(struct parser *p)
{
    const struct definition *d = p->d;
    char name[WORD_LENGTH];
    int64_t number = 0;
    peek_word(p, name);
    bool is_only = strcmp(name, "z") == 0, is_output = *name == 'z';
    if (d->n_stages == MAX_STAGES || d->n_outputs == MAX_OUTPUTS)
        return fail(p, "too many tensors");
    if ((*name != 'z' && *name != 't') || (!is_only && !number_of_word(name, &number)))
        return fail(p, "expected an input x0, an output z or z0, or a tensor t0");
    if (number != (is_output ? d->n_outputs : d->n_stages))
        return fail(p, "outputs are z0, z1, ... in this order, and t1 is the second tensor that is no input");
    p->at += strlen(name);
    return is_output;
}

static void parse_stage(struct parser *p)
{
    struct definition *d = p->d;
    uint32_t variables[MAX_RANK + 1] = {0};
    bool is_output = parse_stage_name(p);
    int n = parse_stage_variables(p, variables);
    struct type type = parse_type(p);
    if (p->has_failed || type.rank != n) {
        fail(p, "a variable for each axis is needed");
        return;
    }
    int tensor = stage_add_over(d, &type, n ? variables[0] : (uint32_t)d->extents.count);
    if (is_output)
        d->outputs[d->n_outputs++] = (uint16_t)(tensor - d->n_inputs);
    for (int i = 0; i < n; i++)
        declare(p, variables[i], type.dim[i]);
    expect(p, "=");
    expr body = parse_scalar(p);
    check_height(p, body);
    stage_set_body(d, tensor, body);
    for (int i = 0; i < n; i++)
        p->is_in_scope[variables[i]] = false;
}

static void end_line(struct parser *p)
{
    if (p->at < p->end && !next_is(p, "\n"))
        fail(p, "expected the end of the line");
    skip_empty_lines(p);
}

static void parse_lines(struct parser *p)
{
    for (skip_empty_lines(p); next_is(p, "x"); end_line(p))
        parse_input(p);
    p->d->n_inputs = (int)p->inputs.count;
    p->d->inputs = p->inputs.count ? arena_copy_array(p->arena, p->inputs.items, p->inputs.count) : NULL;
    for (; p->at < p->end; end_line(p))
        parse_stage(p);
    if (p->d->n_outputs == 0)
        fail(p, "a definition has an output");
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
    parse_lines(&p);
    vecs_free(&p, inputs, heights);
    if (p.has_failed) {
        definition_free(&d);
        return false;
    }
    definition_finish(&d);
    *ret_definition = d;
    return true;
}
