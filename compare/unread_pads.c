// A pooling with ceil_mode is written with pads by some and without by others, and both read the same. Whether they do
// is not computed from strides and kernels, but asked of the definitions: they have to be the same text.
#include "compare/unread_pads.h"

#include "core/memory/arena.h"
#include "core/text/text.h"
#include "expressions/definition_print.h"
#include <string.h>

// False: it is no valid call.
static bool print_call(struct text *out, struct arena *arena, const struct operator_call *call)
{
    struct definition d FREED_BY(definition_free);
    definition_init(&d, arena, call->n_inputs, call->inputs);
    bool is_defined = operator_define(&d, call);
    if (is_defined)
        definition_print_typed(out, &d);
    return is_defined;
}

static bool defines(struct arena *arena, const struct operator_call *call, const struct text *expected)
{
    TEXT(text);
    return print_call(&text, arena, call) && strcmp(text.chars, expected->chars) == 0;
}

static void lessen(struct arena *arena, const struct operator_call *call, const struct text *expected, int64_t *pad)
{
    while (*pad > 0) {
        (*pad)--;
        if (defines(arena, call, expected))
            continue;
        (*pad)++;
        return;
    }
}

const struct attribute_value *attributes_without_unread_pads(struct arena *arena, const struct operator_call *call)
{
    int role = operator_find_role(call->op, ROLE_WINDOW_PADS);
    uint32_t count = role < 0 ? 0 : call->attributes[role].count;
    TEXT(expected);
    if (count == 0 || !print_call(&expected, arena, call))
        return call->attributes;
    struct attribute_value *attributes = arena_array(arena, struct attribute_value, operator_n_attributes(call->op));
    int64_t *pads = arena_array(arena, int64_t, count);
    memcpy(attributes, call->attributes, (size_t)operator_n_attributes(call->op) * sizeof *attributes);
    memcpy(pads, call->attributes[role].ints, count * sizeof *pads);
    attributes[role].ints = pads;
    struct operator_call lessened = *call;
    lessened.attributes = attributes;
    for (uint32_t end = count / 2; end < count; end++)
        lessen(arena, &lessened, &expected, &pads[end]);
    return attributes;
}
