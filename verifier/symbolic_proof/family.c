// A family's outcome, and sizes of terms.
#include "verifier/symbolic_proof/family.h"

#include <stdarg.h>
#include <stdio.h>

bool family_fails(struct family *f, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!f->why)
        f->why = arena_string(f->arena, text);
    return false;
}

bool family_is_impossible(struct family *f)
{
    if (f->asked.asks)
        return family_fails(f, "one side alone is well-typed");
    f->is_impossible = true;
    return false;
}

void family_free(struct family *f)
{
    vecs_free(f, symbols.equal_zero, symbols.not_negative, asked.zero, asked.not_negative);
}

poly family_size(struct family *f, term_id term, int axis)
{
    const struct term *t = &f->equation->pattern->terms.items[term];
    if (t->is_variable)
        return f->meanings.sizes[t->index][axis];
    const struct meaning *m = &f->meanings.nodes[t->index];
    return m->dims[m->definition->outputs[t->output]][axis];
}
