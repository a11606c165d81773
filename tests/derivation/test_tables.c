// Iterator tables are computed from definitions, and operators are found again in what they define: every application of
// tests/operators/examples.calls that sums products of two operands is matched by an application of its own operator.
#include "core/formats/sexp.h"
#include "derivation/matching/match.h"
#include "derivation/programs/check.h"
#include "tests/derivation/problem.h"
#include "tests/operators/typed_call.h"

static int count_tables(const struct iterator_tables *tables, const char *op)
{
    return SUM_ALL(int, size_t, i, tables->items.count, strcmp(tables->items.items[i].op->name, op) == 0);
}

TEST(tables_are_those_of_the_paper)
{
    static const uint8_t product[] = {IN_FIRST | IN_RESULT, IN_SECOND | IN_RESULT, IN_FIRST | IN_SECOND};
    ARENA(a);
    struct iterator_tables tables FREED_BY(iterator_tables_free);
    iterator_tables_compute(&a, &tables);
    assert_int_equal(count_tables(&tables, "matmul"), 2);
    assert_int_equal(count_tables(&tables, "conv"), 4);
    assert_string_equal(tables.items.items[0].op->name, "matmul");
    assert_int_equal(tables.items.items[0].n_iterators, 3);
    assert_memory_equal(tables.items.items[0].signatures, product, sizeof product);
}

static bool is_matched_by_itself(struct derivation *dv, int program, const struct operator* op)
{
    struct match_list matches = {0};
    bool is_found = false;
    match_scope(dv, program, &matches);
    for (size_t i = 0; i < matches.items.count; i++) {
        const struct application *a = derivation_application(dv, matches.items.items[i].result);
        is_found = is_found || a->op == op;
        assert_true(programs_agree_everywhere(dv, program, matches.items.items[i].equal, i));
    }
    vec_free(&matches.items);
    return is_found;
}

static void check_call(struct arena *a, const struct iterator_tables *tables, const struct operator_call *call, int *n)
{
    struct derivation dv FREED_BY(derivation_end);
    struct definition d FREED_BY(definition_free);
    struct scope s;
    derivation_begin(&dv, a, call->n_inputs, call->inputs, tables);
    definition_init(&d, a, call->n_inputs, call->inputs);
    assert_true(operator_define(&d, call));
    int program = derivation_add(&dv, &d);
    bool sums_products = program != NO_SCOPE && scope_take(&dv.all.pool, program, &s) && s.n_reads == OPERANDS &&
                         s.n_sums > 0 && s.factor == 1 && s.divisor == 1;
    if (sums_products && !is_matched_by_itself(&dv, program, call->op))
        fail_msg("%s is not found in its own definition", call->op->name);
    *n += sums_products;
}

static const char *examples_path;

TEST(operators_are_found_in_their_definitions)
{
    ARENA(a);
    struct error error;
    const struct sexp *list;
    int n = 0;
    struct iterator_tables tables FREED_BY(iterator_tables_free);
    iterator_tables_compute(&a, &tables);
    if (!sexp_parse_file(&a, examples_path, &list, &error))
        fail_msg("%s: %s", examples_path, error.message);
    for (size_t i = 0; i < list->count; i++) {
        struct typed_call c;
        if (!typed_call_parse(&a, &list->items[i], examples_path, &c, &error))
            fail_msg("%u: %s", error.line, error.message);
        check_call(&a, &tables, &c.call, &n);
    }
    print_message("%d of %zu examples sum products of two operands\n", n, list->count);
    assert_true(n >= 2);
}

// Every application of a window, a stride, a dilation, pads and groups.
TEST(random_convolutions_are_found)
{
    ARENA(a);
    int n = 0;
    struct iterator_tables tables FREED_BY(iterator_tables_free);
    iterator_tables_compute(&a, &tables);
    for (uint64_t k = 0; k < some_of(144); k++) {
        int64_t stride[2] = {1 + (int64_t)(k % 3), 1 + (int64_t)(k / 3 % 2)}, pads[4] = {(int64_t)(k % 2), 2, 1, 0};
        int64_t dilation[2] = {1 + (int64_t)(k / 6 % 3), 1}, group = 1 + (int64_t)(k / 18 % 2), act = 0;
        const int64_t x[] = {1 + (int64_t)(k / 36 % 2), 4, 9, 8}, f[] = {6, 4 / group, 3, 1 + (int64_t)(k / 72 % 2)};
        const struct type inputs[] = {type_make(DTYPE_F32, 4, x), type_make(DTYPE_F32, 4, f)};
        const struct attribute_value attributes[] = {{2, stride}, {4, pads}, {2, dilation}, {1, &group}, {1, &act}};
        struct operator_call call = {operator_find("conv"), 2, inputs, attributes};
        check_call(&a, &tables, &call, &n);
    }
    assert_int_equal(n, some_of(144));
}

int main(int argc, char **argv)
{
    examples_path = argv[1];
    return tests_run("*");
}
