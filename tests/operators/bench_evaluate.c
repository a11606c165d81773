// bench_evaluate: microseconds to define and to evaluate small and middling applications over the prime field, which is
// what the generator does most.
#include "core/formats/sexp.h"
#include "core/numbers/random.h"
#include "core/system/clock.h"
#include "core/text/error.h"
#include "expressions/evaluation/evaluate.h"
#include "expressions/field.h"
#include "tests/operators/typed_call.h"
#include "tests/support/scoped.h"
#include <stdio.h>
#include <string.h>

static const char calls[] = "(ewadd ((f32 4 4)) ((f32 4 4)))"
                            "(relu ((f32 1 4 5 5)))"
                            "(transpose :perm 1 0 ((f32 4 4)))"
                            "(concat 1 ((f32 1 4 5 5)) ((f32 1 4 5 5)))"
                            "(split 1 :sizes 2 2 ((f32 1 4 5 5)))"
                            "(matmul ((f32 4 4)) ((f32 4 4)))"
                            "(matmul ((f32 64 64)) ((f32 64 64)))"
                            "(conv ((f32 1 4 5 5)) ((f32 4 4 1 1)))"
                            "(conv :pad 1 1 1 1 ((f32 1 4 5 5)) ((f32 4 4 3 3)))"
                            "(conv :pad 1 1 1 1 :group 2 ((f32 1 4 5 5)) ((f32 4 2 3 3)))"
                            "(conv :pad 1 1 1 1 ((f32 1 32 28 28)) ((f32 32 32 3 3)))"
                            "(poolavg :kernel 3 3 :pad 1 1 1 1 ((f32 1 4 5 5)))"
                            "(poolmax :kernel 3 3 :pad 1 1 1 1 ((f32 1 4 5 5)))"
                            "(reshape :shape 10 10 ((f32 1 4 5 5)))"
                            "(softmax 1 ((f32 16 64)))"
                            "(layernorm 1 ((f32 16 64)) ((f32 64)))";

static uint64_t *random_tensor(struct arena *a, const struct type *t, struct random *random)
{
    int64_t n = type_elements(t);
    uint64_t *values = arena_array(a, uint64_t, n);
    for (int64_t i = 0; i < n; i++)
        values[i] = field_reduce(random_next(random));
    return values;
}

static double microseconds_to_define(struct definition *d, const struct operator_call *call)
{
    const int n = 1000;
    double start = clock_cpu_seconds();
    for (int i = 0; i < n; i++) {
        definition_clear(d, call->n_inputs, call->inputs);
        operator_define(d, call);
    }
    return (clock_cpu_seconds() - start) * 1e6 / n;
}

static double microseconds_to_evaluate(const struct definition *d, const struct evaluation_plan *plan,
                                       const uint64_t **inputs, uint64_t **outputs, struct arena *a)
{
    int n = 0;
    double start = clock_cpu_seconds(), seconds;
    do {
        if (plan)
            evaluate_plan_field(plan, 1, inputs, outputs, a);
        else
            evaluate_field(d, 1, inputs, outputs, a);
        n++;
        seconds = clock_cpu_seconds() - start;
    } while (seconds < 0.05);
    return seconds * 1e6 / n;
}

static void time_call(const struct sexp *s, struct arena *a, struct definition *d)
{
    struct error error;
    struct typed_call c;
    struct random random = random_seed(1);
    if (!typed_call_parse(a, s, "calls", &c, &error)) {
        error_print(stderr, "bench_evaluate", &error);
        return;
    }
    double define = microseconds_to_define(d, &c.call);
    const uint64_t **inputs = arena_array(a, const uint64_t *, c.call.n_inputs);
    uint64_t **outputs = arena_array(a, uint64_t *, d->n_outputs);
    for (int i = 0; i < c.call.n_inputs; i++)
        inputs[i] = random_tensor(a, &c.call.inputs[i], &random);
    for (int i = 0; i < d->n_outputs; i++)
        outputs[i] = random_tensor(a, definition_output(d, i), &random);
    double once = microseconds_to_evaluate(d, NULL, inputs, outputs, a);
    double planned = microseconds_to_evaluate(d, evaluation_plan_make(d, a), inputs, outputs, a);
    printf("%-10s define %6.2f us   evaluate %10.2f us   planned %10.2f us\n", c.call.op->name, define, once, planned);
}

int main(void)
{
    ARENA(a);
    struct definition d FREED_BY(definition_free);
    struct error error;
    const struct sexp *list;
    definition_init(&d, &a, 0, NULL);
    if (sexp_parse(&a, "calls", calls, strlen(calls), &list, &error))
        for (size_t i = 0; i < list->count; i++)
            time_call(&list->items[i], &a, &d);
    return 0;
}
