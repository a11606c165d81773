// operator_eval f64|i64|field FILE: evaluates every typed call of FILE (typed_call.h) and prints, one line for each
// output, `type values...`, or one line `refused reason`; then an empty line. For the tests in Python that know what
// should come out.
#include "core/formats/sexp.h"
#include "core/text/error.h"
#include "expressions/evaluation/evaluate.h"
#include "expressions/field.h"
#include "tests/operators/typed_call.h"
#include "tests/support/scoped.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum domain { DOMAIN_F64, DOMAIN_I64, DOMAIN_FIELD };

// Eight bytes whatever the domain.
union value {
    double f64;
    int64_t i64;
    uint64_t field;
};

static union value value_from(enum domain domain, const struct sexp *s)
{
    if (domain == DOMAIN_F64)
        return (union value){.f64 = s->real};
    if (domain == DOMAIN_I64)
        return (union value){.i64 = s->integer};
    return (union value){.field = s->kind == SEXP_INTEGER ? field_from_int(s->integer) : field_from_real(s->real)};
}

static void print_value(struct text *out, enum domain domain, union value v)
{
    text_add(out, " ");
    if (domain == DOMAIN_F64)
        text_add_real(out, v.f64);
    else if (domain == DOMAIN_I64)
        text_printf(out, "%" PRId64, v.i64);
    else
        text_printf(out, "%" PRIu64, v.field);
}

static void evaluate_in(enum domain domain, const struct definition *d, union value *const *inputs,
                        union value *const *outputs, struct arena *arena)
{
    if (domain == DOMAIN_F64)
        evaluate_f64(d, (const double *const *)inputs, (double *const *)outputs, arena);
    else if (domain == DOMAIN_I64)
        evaluate_i64(d, (const int64_t *const *)inputs, (int64_t *const *)outputs, arena);
    else
        evaluate_field(d, 1, (const uint64_t *const *)inputs, (uint64_t *const *)outputs, arena);
}

static bool read_values(enum domain domain, const struct typed_call *c, struct arena *arena, union value **ret_inputs,
                        const char *file, struct error *error)
{
    for (int i = 0; i < c->call.n_inputs; i++) {
        size_t n = (size_t)type_elements(&c->call.inputs[i]);
        if (c->n_values[i] != n)
            return error_set(error, file, 0, 0, "input %d has %zu values, not %zu", i, c->n_values[i], n);
        ret_inputs[i] = arena_array(arena, union value, n);
        for (size_t j = 0; j < n; j++)
            ret_inputs[i][j] = value_from(domain, &c->values[i][j]);
    }
    return true;
}

static void print_outputs(struct text *out, enum domain domain, const struct definition *d, union value *const *outputs)
{
    for (int i = 0; i < d->n_outputs; i++) {
        const struct type *t = definition_output(d, i);
        type_print(out, t);
        for (int64_t j = 0; j < type_elements(t); j++)
            print_value(out, domain, outputs[i][j]);
        text_add(out, "\n");
    }
}

static bool run_call(enum domain domain, const struct sexp *s, const char *file, struct arena *arena,
                     struct definition *d, struct text *out, struct error *error)
{
    struct typed_call c;
    if (!typed_call_parse(arena, s, file, &c, error))
        return false;
    definition_clear(d, c.call.n_inputs, c.call.inputs);
    if (!operator_define(d, &c.call)) {
        text_printf(out, "refused %s\n\n", d->reason);
        return true;
    }
    union value **inputs = arena_array(arena, union value *, c.call.n_inputs);
    union value **outputs = arena_array(arena, union value *, d->n_outputs);
    if (!read_values(domain, &c, arena, inputs, file, error))
        return false;
    for (int i = 0; i < d->n_outputs; i++)
        outputs[i] = arena_array(arena, union value, type_elements(definition_output(d, i)));
    evaluate_in(domain, d, inputs, outputs, arena);
    print_outputs(out, domain, d, outputs);
    text_add(out, "\n");
    return true;
}

static bool run_file(enum domain domain, const char *file, struct text *out, struct error *error)
{
    ARENA(arena);
    struct definition d FREED_BY(definition_free);
    const struct sexp *list;
    definition_init(&d, &arena, 0, NULL);
    bool is_good = sexp_parse_file(&arena, file, &list, error);
    for (size_t i = 0; is_good && i < list->count; i++) {
        ARENA_MARK(mark, &arena);
        is_good = run_call(domain, &list->items[i], file, &arena, &d, out, error);
    }
    return is_good;
}

int main(int argc, char **argv)
{
    struct error error;
    TEXT(out);
    if (argc != 3)
        return EXIT_USAGE;
    enum domain domain = strcmp(argv[1], "f64") == 0   ? DOMAIN_F64
                         : strcmp(argv[1], "i64") == 0 ? DOMAIN_I64
                                                       : DOMAIN_FIELD;
    bool is_good = run_file(domain, argv[2], &out, &error);
    if (is_good)
        fputs(out.chars ? out.chars : "", stdout);
    else
        error_exit("operator_eval", &error);
    return is_good ? EXIT_DONE : (int)error.code;
}
