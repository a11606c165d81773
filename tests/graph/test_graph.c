// Graphs: text, hash-consing, rollback, replacement, keys and checks.
#include "graph/field_entries.h"
#include "graph/graph_whole.h"
#include "graph/undone_reshapes.h"
#include "tests/support/cases.h"
#include "tests/support/graph_check.h"
#include "tests/support/graph_text.h"

TEST_OF_CASES(graphs_are_printed_as_they_are_read, c, "graph/graphs.cases")
{
    ARENA(a);
    struct graph g FREED_BY(graph_free);
    struct error error = {0};
    TEXT(text);
    bool is_right = graph_read_text(&g, &a, c->items[0].text, &error);
    assert_int_equal(is_right, c->count == 1);
    if (is_right) {
        assert_true(graph_check(&g, &(struct error){0}));
        graph_print(&text, &g);
        assert_string_equal(text.chars, c->items[0].text);
    } else {
        assert_string_equal(error.message, c->items[1].text);
        assert_int_equal(error.line, c->items[2].integer);
        assert_int_equal(error.column, c->items[3].integer);
    }
}

struct fixture {
    struct arena arena;
    struct graph g;
    tensor_id x, y;
};

static void set_up(struct fixture *f)
{
    struct type type = type_make(DTYPE_F32, 2, (int64_t[]){4, 6});
    arena_init(&f->arena);
    graph_init(&f->g, &f->arena);
    f->x = graph_add_leaf(&f->g, operators[OP_INPUT], 0, &type);
    f->y = graph_add_leaf(&f->g, operators[OP_INPUT], 1, &type);
}

static void tear_down(struct fixture *f)
{
    graph_free(&f->g);
    arena_free(&f->arena);
}

static tensor_id add(struct graph *g, enum operator_id op, uint32_t n, const tensor_id *inputs)
{
    node_id node;
    assert_true(graph_add(g, operators[op], NULL, n, inputs, &node));
    return graph_output_of(g, node, 0);
}

TEST(finds_equal_applications)
{
    FIXTURE(&f);
    tensor_id sum = add(&f.g, OP_EWADD, 2, (tensor_id[]){f.x, f.y});
    assert_int_equal(add(&f.g, OP_EWADD, 2, (tensor_id[]){f.y, f.x}), sum);
    assert_int_not_equal(add(&f.g, OP_SUB, 2, (tensor_id[]){f.y, f.x}), add(&f.g, OP_SUB, 2, (tensor_id[]){f.x, f.y}));
}

TEST(takes_back_what_was_added)
{
    FIXTURE(&f);
    struct graph_mark mark = graph_mark(&f.g);
    tensor_id first = add(&f.g, OP_RELU, 1, &f.x);
    add(&f.g, OP_EWADD, 2, (tensor_id[]){first, f.y});
    graph_rollback(&f.g, mark);
    assert_int_equal(f.g.nodes.count, 2);
    assert_int_equal(add(&f.g, OP_RELU, 1, &f.x), first);
}

// The definitions of a model's nodes, which only their types are taken from, were four fifths of its memory.
TEST(definitions_leave_nothing_behind)
{
    enum { N = 256 };
    ARENA(a);
    struct graph g FREED_BY(graph_free);
    struct type type = type_make(DTYPE_F32, 2, (const int64_t[]){4, 8});
    graph_init(&g, &a);
    tensor_id t = graph_add_leaf(&g, operators[OP_INPUT], 0, &type);
    size_t before = arena_used(&a);
    for (int i = 0; i < N; i++) {
        struct attribute_value axis = {1, (const int64_t[]){1}};
        node_id n;
        assert_true(graph_add(&g, operators[OP_SOFTMAX], &axis, 1, &t, &n));
        t = graph_output_of(&g, n, 0);
    }
    assert_true(arena_used(&a) - before < 2 * N * sizeof(struct type));
}

TEST(split_takes_its_sizes_from_the_tree)
{
    node_id node;
    FIXTURE(&f);
    int64_t axis = 1;
    struct attribute_value attributes[2] = {{1, &axis}, {0}};
    assert_true(graph_add(&f.g, operators[OP_CONCAT], attributes, 2, (tensor_id[]){f.x, f.y}, &node));
    tensor_id both = add(&f.g, OP_RELU, 1, (tensor_id[]){graph_output_of(&f.g, node, 0)});
    assert_true(graph_add(&f.g, operators[OP_SPLIT], attributes, 1, &both, &node));
    assert_int_equal(f.g.nodes.items[node].n_outputs, 2);
    assert_int_equal(f.g.nodes.items[node].attributes[1].count, 2);
    assert_int_equal(f.g.nodes.items[node].attributes[1].ints[0], 6);
    node_id again;
    assert_true(graph_add(&f.g, operators[OP_SPLIT], attributes, 1, &both, &again));
    assert_int_equal(again, node);
}

// relu(x + y) + tanh(y)   with relu(x + y) replaced by sigmoid(x - y)
TEST(replacement_keeps_what_reads_it)
{
    FIXTURE(&f);
    tensor_id relu = add(&f.g, OP_RELU, 1, (tensor_id[]){add(&f.g, OP_EWADD, 2, (tensor_id[]){f.x, f.y})});
    tensor_id whole = add(&f.g, OP_SUB, 2, (tensor_id[]){relu, add(&f.g, OP_TANH, 1, &f.y)});
    graph_add_output(&f.g, whole);
    uint64_t key_before = graph_key(&f.g);
    tensor_id other = add(&f.g, OP_SIGMOID, 1, (tensor_id[]){add(&f.g, OP_SUB, 2, (tensor_id[]){f.x, f.y})});
    assert_true(graph_key(&f.g) == key_before);

    struct graph result FREED_BY(graph_free);
    assert_true(graph_replace(&result, &f.g, 1, &relu, &other, NULL));
    assert_true(graph_check(&result, &(struct error){0}));
    assert_int_equal(result.nodes.count, 6);
    assert_int_equal(graph_producer(&result, result.outputs.items[0])->op->id, OP_SUB);
    assert_true(graph_key(&result) != key_before);
    assert_false(graph_equal(&result, &f.g));
    assert_true(result.tensors.items[result.outputs.items[0]].value == f.g.tensors.items[whole].value);

    struct graph same FREED_BY(graph_free);
    assert_true(graph_replace(&same, &f.g, 0, NULL, NULL, NULL));
    assert_true(graph_key(&same) == key_before);
    assert_true(graph_equal(&same, &f.g));
}

// tanh(concat(x, y)) with concat(x, y) replaced by concat(y, x): the axis is cut elsewhere now, and all below know.
TEST(replacement_brings_split_trees_up_to_date)
{
    struct graph result FREED_BY(graph_free);
    node_id node;
    int64_t axis = 1;
    struct attribute_value attributes[2] = {{1, &axis}, {0}};
    FIXTURE(&f);
    struct type narrow = type_make(DTYPE_F32, 2, (int64_t[]){4, 2});
    tensor_id z = graph_add_leaf(&f.g, operators[OP_INPUT], 2, &narrow);
    assert_true(graph_add(&f.g, operators[OP_CONCAT], attributes, 2, (tensor_id[]){f.x, z}, &node));
    tensor_id both = graph_output_of(&f.g, node, 0), tanh = add(&f.g, OP_TANH, 1, &both);
    graph_add_output(&f.g, tanh);
    assert_int_equal(graph_type(&f.g, tanh)->split[1]->left_size, 6);
    assert_true(graph_add(&f.g, operators[OP_CONCAT], attributes, 2, (tensor_id[]){z, f.x}, &node));
    tensor_id turned = graph_output_of(&f.g, node, 0);
    assert_true(graph_replace(&result, &f.g, 1, &both, &turned, NULL));
    assert_true(graph_check(&result, &(struct error){0}));
    assert_int_equal(graph_type(&result, result.outputs.items[0])->split[1]->left_size, 2);
}

// x itself takes the place of relu(x): it still is what it was, and every way there gives the same key.
TEST(replacement_by_what_was_there_keeps_its_key)
{
    struct graph result, direct;
    FIXTURE(&f);
    graph_add_output(&f.g, add(&f.g, OP_TANH, 1, (tensor_id[]){add(&f.g, OP_RELU, 1, &f.x)}));
    graph_init(&direct, &f.arena);
    struct type type = *graph_type(&f.g, f.x);
    tensor_id x = graph_add_leaf(&direct, operators[OP_INPUT], 0, &type);
    graph_add_output(&direct, add(&direct, OP_TANH, 1, &x));
    tensor_id relu = add(&f.g, OP_RELU, 1, &f.x);
    assert_true(graph_replace(&result, &f.g, 1, &relu, &f.x, NULL));
    assert_true(graph_equal(&result, &direct));
    assert_true(result.tensors.items[0].value == f.g.tensors.items[f.x].value);
    assert_true(result.nodes.items[1].key == direct.nodes.items[1].key);
    graph_free(&result);
    graph_free(&direct);
}

static tensor_id add_product(struct graph *g, tensor_id x, tensor_id y)
{
    node_id node;
    int64_t no_activation = 0;
    struct attribute_value attribute = {1, &no_activation};
    assert_true(graph_add(g, operators[OP_MATMUL], &attribute, 2, (tensor_id[]){x, y}, &node));
    return graph_output_of(g, node, 0);
}

// x * a and (x * b) + tanh(x * b), multiplied; of layers that differ by their weights alone.
static tensor_id add_layer(struct graph *g, tensor_id x, int64_t number)
{
    struct type type = type_make(DTYPE_F32, 2, (int64_t[]){6, 6});
    tensor_id a = graph_add_leaf(g, operators[OP_WEIGHT], 2 * number, &type);
    tensor_id b = graph_add_leaf(g, operators[OP_WEIGHT], 2 * number + 1, &type);
    tensor_id products[2] = {add_product(g, x, a), add_product(g, x, b)};
    tensor_id sum = add(g, OP_EWADD, 2, (tensor_id[]){products[1], add(g, OP_TANH, 1, &products[1])});
    tensor_id both[2] = {add(g, OP_EWMUL, 2, (tensor_id[]){products[0], sum}), add(g, OP_EWMUL, 2, products)};
    return add(g, OP_EWADD, 2, both);
}

TEST(equal_layers_stand_in_equal_order)
{
    enum { LAYERS = 16 };
    tensor_id x;
    FIXTURE(&f);
    x = f.x;
    size_t edges[LAYERS], first[LAYERS];
    for (int layer = 0; layer < LAYERS; layer++) {
        edges[layer] = f.g.edges.count;
        first[layer] = f.g.tensors.count;
        x = add_layer(&f.g, x, layer);
    }
    for (int layer = 2; layer < LAYERS; layer++)   // the first one reads a leaf
        for (size_t i = 0; i < f.g.edges.count - edges[LAYERS - 1]; i++)
            assert_int_equal(f.g.edges.items[edges[layer] + i] - first[layer],
                             f.g.edges.items[edges[1] + i] - first[1]);
}

// The maker of the first input of a sum is replaced, so that it becomes the second one: the sum still is what it was.
TEST(keys_do_not_depend_on_the_order_of_inputs)
{
    const enum operator_id made_by[] = {OP_NEG, OP_RELU, OP_TANH, OP_EXP};
    size_t n_swapped = 0;
    for (size_t i = 0; i < COUNT_OF(made_by); i++)
        for (size_t j = 0; j < COUNT_OF(made_by); j++) {
            struct graph result FREED_BY(graph_free);
            FIXTURE(&f);
            tensor_id old = add(&f.g, made_by[i], 1, &f.x), other = add(&f.g, OP_SIGMOID, 1, &f.y);
            tensor_id sum = add(&f.g, OP_EWADD, 2, (tensor_id[]){old, other});
            graph_add_output(&f.g, sum);
            tensor_id new = add(&f.g, made_by[j], 1, (tensor_id[]){add(&f.g, OP_ABS, 1, &f.x)});
            bool was_first = graph_inputs(&f.g, graph_producer(&f.g, sum) - f.g.nodes.items)[0] == old;
            uint64_t key = graph_producer(&f.g, sum)->key;
            assert_true(graph_replace(&result, &f.g, 1, &old, &new, NULL));
            const struct node *after = graph_producer(&result, result.outputs.items[0]);
            bool is_first =
                graph_producer(&result, graph_inputs(&result, after - result.nodes.items)[0])->op->id == made_by[j];
            n_swapped += was_first != is_first;
            assert_true(after->key == key);
        }
    assert_true(n_swapped > 0);
}

TEST(replacement_refuses_cycles)
{
    struct graph result;
    FIXTURE(&f);
    tensor_id relu = add(&f.g, OP_RELU, 1, &f.x);
    tensor_id above = add(&f.g, OP_TANH, 1, &relu);
    graph_add_output(&f.g, above);
    assert_false(graph_replace(&result, &f.g, 1, &relu, &above, NULL));
}

TEST(counts_uses)
{
    FIXTURE(&f);
    add(&f.g, OP_EWMUL, 2, (tensor_id[]){f.x, f.x});
    node_id last = f.g.tensors.items[add(&f.g, OP_SUB, 2, (tensor_id[]){f.y, f.x})].producer;
    struct graph_uses uses FREED_BY(graph_uses_free);
    graph_uses_init(&uses, &f.g, NULL);
    assert_int_equal(uses.first[f.x + 1] - uses.first[f.x], 3);
    assert_int_equal(uses.first[f.y + 1] - uses.first[f.y], 1);
    assert_int_equal(uses.nodes[uses.first[f.y]], last);
}

// A tensor read twice at each of sixty levels is read 2^60 times: the cost says so, without counting.
TEST(costs_of_shared_entries_are_found_once)
{
    ARENA(a);
    FIXTURE(&f);
    tensor_id t = f.x;
    for (int level = 0; level < 60; level++)
        t = add(&f.g, OP_SUB, 2, (tensor_id[]){t, t});
    struct field_entries entries FREED_BY(field_entries_free);
    field_entries_init(&entries, &f.g, 1, &a);
    assert_true(field_entry_cost(&entries, t) >= 0x1p60);
}

// The graph without them is the one that is printed so.
TEST_OF_CASES(reshapes_around_elementwise_operators_are_left_out, c, "graph/undone_reshapes.cases")
{
    ARENA(a);
    struct graph g FREED_BY(graph_free), made;
    TEXT(text);
    OK(graph_read_text(&g, &a, c->items[0].text, &error));
    bool is_any = graph_leave_out_undone_reshapes(&made, &g);
    assert_int_equal(is_any, c->count > 1);
    if (is_any) {
        OK(graph_check(&made, &error));
        graph_print(&text, &made);
        assert_string_equal(text.chars, c->items[1].text);
        graph_free(&made);
    }
}
