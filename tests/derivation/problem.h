// A definition as text, in a derivation of its own.
#pragma once
#include "derivation/matching/table.h"
#include "expressions/definition_parse.h"
#include "tests/support/check.h"

struct problem {
    struct arena arena;
    struct definition definition;
    struct iterator_tables tables;
    struct derivation dv;
    int program;
};

static inline void problem_init(struct problem *p, const char *text)
{
    struct error error;
    arena_init(&p->arena);
    if (!definition_parse(&p->arena, "problem", text, strlen(text), &p->definition, &error))
        fail_msg("%u:%u: %s\n%s", error.line, error.column, error.message, text);
    iterator_tables_compute(&p->arena, &p->tables);
    derivation_begin(&p->dv, &p->arena, p->definition.n_inputs, p->definition.inputs, &p->tables);
    p->program = derivation_add(&p->dv, &p->definition);
    assert_true(p->program != NO_SCOPE);
}

static inline void problem_free(struct problem *p)
{
    derivation_end(&p->dv);
    iterator_tables_free(&p->tables);
    definition_free(&p->definition);
    arena_free(&p->arena);
}
