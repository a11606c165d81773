// The terms that the generator finds in a space, up to the classes of equal terms.
#pragma once
#include "generator/reduce/minimal_equations.h"
#include "tests/support/check.h"

struct found {
    struct arena arena;
    struct space space;
    const struct family *family;
    struct family_types family_types;
    struct tensor_store store;
    struct findings findings;
    struct reduction reduction;
};

static void find_fast(struct found *f, const char *text, int max_ops)
{
    char reason[200];
    memset(f, 0, sizeof *f);
    space_init(&f->space, &f->arena);
    OK(space_parse(&f->space, "test", text, strlen(text), &error));
    f->family = f->space.families.items[0];
    assert_true(family_types_init(&f->family_types, f->family, 7, 2, family_types_draw(&f->arena, 7), reason));
    tensor_store_init(&f->store, &f->family_types, max_ops);
    assert_true(findings_collect(&f->store, 0, 400, NULL, &f->findings));
    assert_true(findings_collect(&f->store, 400, FINGERPRINT_SLICES, NULL, &f->findings));
    class_reduction_init(&f->reduction, &f->family_types, &f->findings, 8, 1 << 22);
}

static void free_fast(struct found *f)
{
    class_reduction_free(&f->reduction);
    findings_free(&f->findings);
    tensor_store_free(&f->store);
    family_types_free(&f->family_types);
    space_free(&f->space);
    arena_free(&f->arena);
}
