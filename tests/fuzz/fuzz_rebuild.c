// Additions, unions and rebuilds in any order: after each rebuild the classes are those of congruence closure by looking
// at all pairs. Three bytes are an operation and what it is applied to.
#include "operators/operator.h"
#include "tests/egraph/closure.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_NODES = 150, INPUTS = 4 };
enum operation { ADD_RELU, ADD_SUM, ADD_DIFFERENCE, ADD_SPLIT, UNITE, REBUILD, OPERATIONS };

struct run {
    struct egraph e;
    struct closure closure;
    uint32_t tensor, pair;   // types
    VEC(enode_id) tensors;
};

static uint32_t attributes_of(struct egraph *e, enum operator_id op, int64_t value)
{
    struct attribute_value values[MAX_ATTRIBUTES];
    for (int i = 0; i < MAX_ATTRIBUTES; i++)
        values[i] = (struct attribute_value){1, &value};
    return egraph_intern_attributes(e, operators[op], values);
}

static void begin(struct run *r)
{
    struct type t[2] = {type_make(DTYPE_F32, 2, (const int64_t[]){2, 3}),
                        type_make(DTYPE_F32, 2, (const int64_t[]){2, 3})};
    *r = (struct run){0};
    egraph_init(&r->e, 0);
    r->tensor = egraph_intern_type(&r->e, 1, t);
    r->pair = egraph_intern_type(&r->e, 2, t);
    for (int64_t i = 0; i < INPUTS; i++)
        vec_push(&r->tensors,
                 egraph_add(&r->e, operators[OP_INPUT], attributes_of(&r->e, OP_INPUT, i), r->tensor, 0, NULL));
    closure_init(&r->closure, &r->e);
}

static void add(struct run *r, enum operation what, enode_id x, enode_id y, int64_t attribute)
{
    static const enum operator_id ops[] = {OP_RELU, OP_EWADD, OP_SUB, OP_SPLIT};
    enum operator_id op = ops[what];
    uint32_t type = what == ADD_SPLIT ? r->pair : r->tensor, n_children = what == ADD_RELU || what == ADD_SPLIT ? 1 : 2;
    enode_id n = egraph_add(&r->e, operators[op], attributes_of(&r->e, op, attribute), type, n_children,
                            (const enode_id[]){x, y});
    for (uint32_t i = 0; i < r->e.types.items[type].count; i++)
        vec_push(&r->tensors, egraph_add_output(&r->e, n, i));
    closure_add_new(&r->closure);
}

static void rebuild(struct run *r)
{
    const char *what;
    enode_id x, y;
    egraph_rebuild(&r->e);
    closure_close(&r->closure);
    FUZZ_REQUIRE(egraph_check(&r->e, &what));
    FUZZ_REQUIRE(closure_agrees(&r->closure, &x, &y));
}

static void operate(struct run *r, const uint8_t *bytes)
{
    enum operation what = bytes[0] % OPERATIONS;
    enode_id x = r->tensors.items[bytes[1] % r->tensors.count], y = r->tensors.items[bytes[2] % r->tensors.count];
    if (what == REBUILD) {
        rebuild(r);
    } else if (what == UNITE) {
        egraph_union(&r->e, x, y, REASON_GIVEN);
        closure_unite(&r->closure, x, y);
    } else if (r->e.nodes.count < MOST_NODES) {
        add(r, what, x, y, bytes[0] / OPERATIONS % 2);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run r;
    begin(&r);
    for (size_t i = 0; i + 3 <= size; i += 3)
        operate(&r, data + i);
    rebuild(&r);
    vec_free(&r.tensors);
    egraph_free(&r.e);
    return 0;
}
