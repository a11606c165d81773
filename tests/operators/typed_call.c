#include "tests/operators/typed_call.h"

#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/call_text.h"
#include <inttypes.h>

static bool parse_tree(struct arena *a, const struct sexp *s, const char *file, const struct split_tree **ret_tree,
                       struct error *error)
{
    const struct split_tree *left, *right;
    if (sexp_is_symbol(s, "_") || sexp_is_symbol(s, "any")) {
        *ret_tree = sexp_is_symbol(s, "_") ? NULL : SPLIT_ANY;
        return true;
    }
    if (s->kind != SEXP_LIST || s->count != 3 || s->items[0].kind != SEXP_INTEGER)
        return sexp_error(error, file, s, "expected a split tree");
    if (!parse_tree(a, &s->items[1], file, &left, error) || !parse_tree(a, &s->items[2], file, &right, error))
        return false;
    *ret_tree = split_tree_join(a, s->items[0].integer, left, right);
    return true;
}

static bool parse_argument(struct arena *a, const struct sexp *s, const char *file, struct type *ret_type,
                           size_t *ret_first_value, struct error *error)
{
    size_t at = 1;
    if (s->kind != SEXP_LIST || s->count == 0)
        return sexp_error(error, file, s, "expected a typed argument");
    if (!type_parse(&s->items[0], file, ret_type, error))
        return false;
    for (; at < s->count && sexp_is_call(&s->items[at], "split"); at++) {
        const struct sexp *split = &s->items[at];
        if (split->count != 3 || split->items[1].kind != SEXP_INTEGER || split->items[1].integer < 0 ||
            split->items[1].integer >= ret_type->rank)
            return sexp_error(error, file, split, "expected (split axis tree)");
        if (!parse_tree(a, &split->items[2], file, &ret_type->split[split->items[1].integer], error))
            return false;
    }
    *ret_first_value = at;
    return true;
}

static bool parse_attributes(struct arena *a, const struct call_text *text, const char *file,
                             struct attribute_value *values, struct error *error)
{
    operator_standard_attributes(text->op, a, values);
    for (int i = 0; i < operator_n_attributes(text->op); i++) {
        if (!text->attributes[i].items)
            continue;
        int64_t *ints = arena_array(a, int64_t, text->attributes[i].count + 1);
        if (!attribute_parse(&text->op->attributes[i], text->attributes[i].items, text->attributes[i].count, file, ints,
                             error))
            return false;
        values[i] = (struct attribute_value){(uint32_t)text->attributes[i].count, ints};
    }
    return true;
}

bool typed_call_parse(struct arena *a, const struct sexp *s, const char *file, struct typed_call *ret_call,
                      struct error *error)
{
    struct call_text text;
    if (!call_text_parse(s, file, NULL, &text, error))
        return false;
    struct attribute_value *attributes = arena_array(a, struct attribute_value, MAX_ATTRIBUTES);
    struct type *types = arena_array(a, struct type, text.n_arguments);
    const struct sexp **values = arena_array(a, const struct sexp *, text.n_arguments);
    size_t *n_values = arena_array(a, size_t, text.n_arguments);
    if (!parse_attributes(a, &text, file, attributes, error))
        return false;
    for (size_t i = 0; i < text.n_arguments; i++) {
        size_t first = 0;
        if (!parse_argument(a, &text.arguments[i], file, &types[i], &first, error))
            return false;
        values[i] = text.arguments[i].items + first;
        n_values[i] = text.arguments[i].count - first;
    }
    *ret_call = (struct typed_call){
        .call = {.op = text.op, .n_inputs = (int)text.n_arguments, .inputs = types, .attributes = attributes},
        .values = values,
        .n_values = n_values};
    return true;
}

static void print_tree(struct text *out, const struct split_tree *tree)
{
    if (!tree || tree == SPLIT_ANY) {
        text_add(out, tree ? "any" : "_");
        return;
    }
    text_printf(out, "(%" PRId64 " ", tree->left_size);
    print_tree(out, tree->left);
    text_add(out, " ");
    print_tree(out, tree->right);
    text_add(out, ")");
}

void typed_call_print_type(struct text *out, const struct type *t)
{
    type_print(out, t);
    for (int i = 0; i < t->rank; i++)
        if (t->split[i]) {
            text_printf(out, " (split %d ", i);
            print_tree(out, t->split[i]);
            text_add(out, ")");
        }
}
