// Additions, unions and rebuilds in any order: after each rebuild the classes are those of congruence closure by looking
// at all pairs. Three bytes are an operation and what it is applied to.
#include "tests/egraph/closure.h"
#include "tests/egraph/egraph_check.h"
#include "tests/egraph/grown.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_NODES = 150, UNITE = GROWN_OPERATORS, REBUILD, OPERATIONS };

struct run {
    struct grown g;
    struct closure closure;
};

static void rebuild(struct run *r)
{
    const char *what;
    enode_id x, y;
    egraph_rebuild(&r->g.e);
    closure_close(&r->closure);
    FUZZ_REQUIRE(egraph_check(&r->g.e, &what));
    FUZZ_REQUIRE(closure_agrees(&r->closure, &x, &y));
}

static void operate(struct run *r, const uint8_t *bytes)
{
    struct grown *g = &r->g;
    uint32_t what = bytes[0] % OPERATIONS;
    enode_id x = g->tensors.items[bytes[1] % g->tensors.count], y = g->tensors.items[bytes[2] % g->tensors.count];
    if (what == REBUILD) {
        rebuild(r);
    } else if (what == UNITE) {
        egraph_union(&g->e, x, y, REASON_GIVEN);
        closure_unite(&r->closure, x, y);
    } else if (g->e.nodes.count < MOST_NODES) {
        grown_add(g, what, x, y, bytes[0] / OPERATIONS % 2);
        closure_add_new(&r->closure);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run r;
    grown_init(&r.g);
    closure_init(&r.closure, &r.g.e);
    for (size_t i = 0; i + 3 <= size; i += 3)
        operate(&r, data + i);
    rebuild(&r);
    grown_free(&r.g);
    return 0;
}
