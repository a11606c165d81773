// Reads the text of a space, and keeps the families and operators that are asked for.
#include "generator/enumerate/space.h"

#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/call_text.h"
#include "operators/traits.h"
#include <ctype.h>
#include <string.h>

void space_init(struct space *space, struct arena *arena)
{
    *space = (struct space){.arena = arena};
}

void space_free(struct space *space)
{
    vecs_free(space, families, added);
}

// --- reading ---------------------------------------------------------------------------------------------------------

struct reader {
    struct space *space;
    const char *file;
    struct error *error;
};

static bool is_constant_value(const struct sexp *item)
{
    return item->kind == SEXP_INTEGER;
}

static bool read_argument(struct reader *r, const struct sexp *s, struct argument_pattern *ret_pattern)
{
    *ret_pattern = (struct argument_pattern){.rank = -1};
    if (sexp_is_symbol(s, "_"))
        return true;
    if (sexp_is_symbol(s, "leaf")) {
        ret_pattern->is_leaf = true;
        return true;
    }
    size_t first = sexp_is_call(s, "not");
    if (s->kind != SEXP_LIST || s->count - first > MAX_RANK)
        return sexp_error(r->error, r->file, s, "expected an argument: _, leaf, or a shape such as (_ _ 3 3)");
    ret_pattern->is_negated = first == 1;
    ret_pattern->rank = (int)(s->count - first);
    for (size_t i = first; i < s->count; i++) {
        bool is_any = sexp_is_symbol(&s->items[i], "_");
        if (!is_any && s->items[i].kind != SEXP_INTEGER)
            return sexp_error(r->error, r->file, &s->items[i], "expected a size or _");
        ret_pattern->dim[i - first] = is_any ? -1 : s->items[i].integer;
    }
    return true;
}

static bool read_attributes(struct reader *r, const struct call_text *call, struct instance *ret_instance)
{
    struct attribute_value *values =
        arena_array(r->space->arena, struct attribute_value, operator_n_attributes(call->op) + 1);
    ret_instance->attributes = values;
    return call_text_attributes(call, r->file, r->space->arena, values, r->error);
}

static bool read_call(struct reader *r, const struct sexp *s, struct instance *ret_instance)
{
    struct call_text call;
    if (!call_text_parse(s, r->file, is_constant_value, &call, r->error))
        return false;
    if (call.op->flags & (OPERATOR_IS_LEAF | OPERATOR_IS_OPAQUE) || call.output >= 0)
        return sexp_error(r->error, r->file, s, "%s is no operator to enumerate", s->items[0].text);
    if (call.n_arguments > 2)
        return sexp_error(r->error, r->file, s, "operators with more than two arguments are not enumerated");
    *ret_instance = (struct instance){.op = call.op,
                                      .n_inputs = (int)call.n_arguments,
                                      .is_commutative = (call.op->flags & OPERATOR_IS_COMMUTATIVE) != 0};
    return ALL(size_t, i, call.n_arguments, read_argument(r, &call.arguments[i], &ret_instance->arguments[i])) &&
           read_attributes(r, &call, ret_instance);
}

static bool add_operator(struct reader *r, struct family *f, const struct sexp *s)
{
    if (f->n_instances == MAX_INSTANCES)
        return sexp_error(r->error, r->file, s, "more than %d operators in a family", MAX_INSTANCES);
    struct instance *instance = &f->instances[f->n_instances];
    if (!read_call(r, s, instance))
        return false;
    if (instance->n_inputs == 0)
        return sexp_error(r->error, r->file, s, "an operator without arguments is a constant");
    f->n_instances++;
    return true;
}

static bool add_constant(struct reader *r, struct family *f, const struct sexp *s)
{
    if (f->n_leaves == MAX_LEAVES)
        return sexp_error(r->error, r->file, s, "more than %d inputs and constants", MAX_LEAVES);
    struct leaf *leaf = &f->leaves[f->n_leaves];
    leaf->is_constant = true;
    if (!read_call(r, s, &leaf->constant))
        return false;
    if (leaf->constant.n_inputs != 0)
        return sexp_error(r->error, r->file, s, "a constant takes no arguments");
    f->n_leaves++;
    return true;
}

static bool add_inputs_of_type(struct reader *r, struct family *f, int64_t count, const struct sexp *s)
{
    struct type type;
    if (!type_parse(s, r->file, &type, r->error))
        return false;
    if (!type_is_known(&type) || type_elements(&type) > 4096)
        return sexp_error(r->error, r->file, s, "an input needs a known type of at most 4096 elements");
    if (f->n_leaves > f->n_inputs)
        return sexp_error(r->error, r->file, s, "inputs stand before constants");
    if (count > MAX_LEAVES - f->n_leaves)
        return sexp_error(r->error, r->file, s, "more than %d inputs and constants", MAX_LEAVES);
    for (int i = 0; i < f->n_inputs; i++)
        if (type_equal(&f->leaves[i].type, &type))
            return sexp_error(r->error, r->file, s, "inputs of this type are given twice");
    int end = f->n_leaves + (int)count;
    while (f->n_leaves < end)
        f->leaves[f->n_leaves++] =
            (struct leaf){.type = type, .first_alike = (uint8_t)f->n_inputs, .end_alike = (uint8_t)end};
    for (int i = f->n_inputs + 1; i < end; i++)
        f->following |= 1u << i;
    f->n_inputs = f->n_leaves;
    return true;
}

static bool add_inputs(struct reader *r, struct family *f, const struct sexp *s)
{
    if (s->count < 3 || s->items[1].kind != SEXP_INTEGER || s->items[1].integer < 1)
        return sexp_error(r->error, r->file, s, "expected (inputs COUNT (f32 SIZES...) ...)");
    return ALL(size_t, i, s->count - 2, add_inputs_of_type(r, f, s->items[1].integer, &s->items[i + 2]));
}

static bool add_each(struct reader *r, struct family *f, const struct sexp *s,
                     bool (*add)(struct reader *r, struct family *f, const struct sexp *s))
{
    if (s->count < 2)
        return sexp_error(r->error, r->file, s, "expected (%s (NAME ...) ...)", s->items[0].text);
    return ALL(size_t, i, s->count - 1, add(r, f, &s->items[i + 1]));
}

static bool set_max_ops(struct reader *r, struct family *f, const struct sexp *s)
{
    if (s->count != 2 || s->items[1].kind != SEXP_INTEGER || s->items[1].integer < 1 || s->items[1].integer > MAX_OPS)
        return sexp_error(r->error, r->file, s, "expected (max-ops N) with N from 1 to %d", MAX_OPS);
    f->max_ops = (int)s->items[1].integer;
    return true;
}

static bool read_item(struct reader *r, struct family *f, const struct sexp *s)
{
    if (sexp_is_call(s, "inputs"))
        return add_inputs(r, f, s);
    if (sexp_is_call(s, "constant"))
        return add_each(r, f, s, add_constant);
    if (sexp_is_call(s, "operator"))
        return add_each(r, f, s, add_operator);
    if (sexp_is_call(s, "max-ops"))
        return set_max_ops(r, f, s);
    if (sexp_is_call(s, "fewer-products") && s->count == 1)
        return f->wants_fewer_products = true;
    return sexp_error(r->error, r->file, s,
                      "expected (inputs ...), (constant ...), (operator ...), (max-ops ...) or (fewer-products)");
}

// Files of checkpoints are called by it.
static bool is_family_name(const struct sexp *s)
{
    size_t n = s->kind == SEXP_SYMBOL ? strlen(s->text) : 0;
    return ALL(size_t, i, n, isalnum((unsigned char)s->text[i]) || strchr("-_", s->text[i])) && n > 0 &&
           n <= MAX_FAMILY_NAME;
}

static bool gives_part_sizes(const struct instance *in)
{
    return in->attributes[operator_find_role(in->op, ROLE_PART_SIZES)].count > 0;
}

// There are splits, and all give the sizes of their parts.
static bool forgets_cuts(const struct family *f)
{
    int n_splits = 0, n_with_sizes = 0;
    for (int i = 0; i < f->n_instances; i++)
        if (operator_splits(f->instances[i].op)) {
            n_splits++;
            n_with_sizes += gives_part_sizes(&f->instances[i]);
        }
    return n_splits > 0 && n_with_sizes == n_splits;
}

static bool read_family(struct reader *r, const struct sexp *s)
{
    if (!sexp_is_call(s, "family") || s->count < 2 || !is_family_name(&s->items[1]))
        return sexp_error(r->error, r->file, s, "expected (family NAME ...), the name of letters, digits, - and _");
    struct family *f = arena_new(r->space->arena, struct family);
    f->name = s->items[1].text;
    f->max_ops = MAX_OPS;
    f->instances[PAIR_INSTANCE].n_inputs = 2;
    for (size_t i = 0; i < r->space->families.count; i++)
        if (strcmp(r->space->families.items[i]->name, f->name) == 0)
            return sexp_error(r->error, r->file, &s->items[1], "family %s is given twice", f->name);
    for (size_t i = 2; i < s->count; i++)
        if (!read_item(r, f, &s->items[i]))
            return false;
    if (f->n_inputs == 0 || f->n_instances == 0)
        return sexp_error(r->error, r->file, s, "a family needs inputs and operators");
    f->forgets_cuts = forgets_cuts(f);
    vec_push(&r->space->families, f);
    return true;
}

bool space_parse(struct space *space, const char *file, const char *text, size_t size, struct error *error)
{
    struct reader r = {space, file, error};
    const struct sexp *list;
    return sexp_parse(space->arena, file, text, size, &list, error) &&
           !ANY(size_t, i, list->count, !read_family(&r, &list->items[i])) &&
           (space->families.count != 0 || error_set(error, file, 0, 0, "no family"));
}

// --- choosing --------------------------------------------------------------------------------------------------------

typedef VEC(const char *) name_list;

static void split_names(struct arena *a, const char *list, name_list *ret_names)
{
    for (char *at = arena_string(a, list); at;) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma++ = '\0';
        vec_push(ret_names, at);
        at = comma;
    }
}

bool space_keep_families(struct space *space, const char *list, struct error *error)
{
    LOCAL_LIST(name_list, names);
    LOCAL_LIST(name_list, known);
    size_t kept = 0;
    split_names(space->arena, list, &names);
    for (size_t i = 0; i < space->families.count; i++) {
        struct family *f = space->families.items[i];
        vec_push(&known, f->name);
        if (text_is_among(f->name, names.count, names.items))
            space->families.items[kept++] = f;
    }
    const char *const *unknown = vec_find(&names, name, !text_is_among(*name, known.count, known.items));
    space->families.count = kept;
    return !unknown || error_set_code(error, EXIT_USAGE, NULL, "the space has no family %s", *unknown);
}

static bool computes(const struct definition *d)
{
    return ANY(size_t, i, d->nodes.count,
               d->nodes.items[i].kind == EXPR_APPLY || d->nodes.items[i].kind == EXPR_REDUCE);
}

// Is it well-typed on these two leaves, or on the first, and without any computation there?
static bool moves_entries_of(const struct instance *in, const struct type *types)
{
    ARENA(arena);
    struct definition d FREED_BY(definition_free) = {0};
    struct operator_call call = {in->op, in->n_inputs, types, in->attributes};
    definition_init(&d, &arena, in->n_inputs, types);
    return operator_define(&d, &call) && !computes(&d);
}

// Parts that a split tree tells are none of plain inputs, so that a split says by its role what it does.
static bool moves_entries(const struct family *f, const struct instance *in)
{
    return operator_find_role(in->op, ROLE_PART_SIZES) >= 0 ||
           ANY(int, i, f->n_inputs,
               ANY(int, j, f->n_inputs, moves_entries_of(in, (struct type[]){f->leaves[i].type, f->leaves[j].type})));
}

static bool keep_instances(struct family *f, const name_list *names, bool with_movers)
{
    int kept = 0;
    for (int i = 0; i < f->n_instances; i++)
        if (text_is_among(f->instances[i].op->name, names->count, names->items) ||
            (with_movers && moves_entries(f, &f->instances[i])))
            f->instances[kept++] = f->instances[i];
    f->n_instances = kept;
    return kept > 0;
}

static bool has_operator(const struct space *space, const char *name)
{
    return ANY(size_t, i, space->families.count,
               ANY(int, j, space->families.items[i]->n_instances,
                   strcmp(space->families.items[i]->instances[j].op->name, name) == 0));
}

static bool make_standard_instance(struct space *space, const char *name, struct instance *ret_instance,
                                   struct error *error)
{
    const struct operator* op = operator_find(name);
    if (!op)
        return error_set_code(error, EXIT_USAGE, NULL, "unknown operator %s", name);
    int n_inputs = op->min_inputs;
    struct attribute_value *values = arena_array(space->arena, struct attribute_value, operator_n_attributes(op) + 1);
    operator_standard_attributes(op, space->arena, values);
    for (int i = 0; i < operator_n_attributes(op); i++)
        if (op->attributes[i].is_required)
            return error_set_code(error, EXIT_USAGE, NULL, "%s needs attribute %s: describe it in a space file", name,
                                  op->attributes[i].name);
    if (!op->define || n_inputs < 1 || n_inputs > 2)
        return error_set_code(error, EXIT_USAGE, NULL, "%s cannot be enumerated: it does not take one or two inputs",
                              name);
    *ret_instance = (struct instance){.op = op,
                                      .attributes = values,
                                      .n_inputs = n_inputs,
                                      .is_commutative = (op->flags & OPERATOR_IS_COMMUTATIVE) != 0,
                                      .arguments = {{.rank = -1}, {.rank = -1}}};
    return true;
}

static bool is_added(const struct instance *added, int n, const char *name)
{
    return ANY(int, i, n, strcmp(added[i].op->name, name) == 0);
}

bool space_keep_operators(struct space *space, const char *list, struct error *error)
{
    LOCAL_LIST(name_list, names);
    struct instance added[MAX_INSTANCES];
    int n_added = 0;
    bool is_good = true;
    split_names(space->arena, list, &names);
    for (size_t i = 0; is_good && i < names.count; i++)
        if (!has_operator(space, names.items[i]) && !is_added(added, n_added, names.items[i]))
            is_good = n_added < MAX_INSTANCES
                          ? make_standard_instance(space, names.items[i], &added[n_added++], error)
                          : error_set_code(error, EXIT_USAGE, NULL, "more than %d new operators", MAX_INSTANCES);
    size_t kept = 0;
    for (size_t i = 0; is_good && i < space->families.count; i++)
        if (keep_instances(space->families.items[i], &names, n_added > 0))
            space->families.items[kept++] = space->families.items[i];
    if (is_good && kept == 0)
        kept = 1;
    space->families.count = kept;
    for (size_t i = 0; is_good && i < kept; i++) {
        struct family *f = space->families.items[i];
        for (int j = 0; j < n_added && f->n_instances < MAX_INSTANCES; j++)
            f->instances[f->n_instances++] = added[j];
        f->forgets_cuts = forgets_cuts(f);
    }
    for (int i = 0; is_good && i < n_added; i++)
        vec_push(&space->added, added[i].op);
    return is_good;
}
