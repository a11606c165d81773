// Reads the files of properties, each a pair of terms with guards and conditions.
#include "properties/property.h"

#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "substitutions/pattern.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>

void property_set_init(struct property_set *set, struct arena *arena)
{
    *set = (struct property_set){.arena = arena};
}

void property_set_free(struct property_set *set)
{
    for (size_t i = 0; i < set->properties.count; i++)
        pattern_free(&set->properties.items[i]->pattern);
    vec_free(&set->properties);
}

const struct property *property_find(const struct property_set *set, const char *name)
{
    for (size_t i = 0; i < set->properties.count; i++)
        if (strcmp(set->properties.items[i]->name, name) == 0)
            return set->properties.items[i];
    return NULL;
}

// --- parsing ---------------------------------------------------------------------------------------------------------

struct property_items {
    const struct sexp *comment, *axiom, *equal, *where;
};

static bool is_text(const struct sexp *item, const char *file, struct error *error)
{
    return !item || (item->count == 2 && item->items[1].kind == SEXP_STRING) ||
           sexp_error(error, file, item, "expected (%s \"...\")", item->items[0].text);
}

static bool take_items(const struct sexp *s, const char *file, struct property_items *ret_items, struct error *error)
{
    *ret_items = (struct property_items){0};
    if (!sexp_is_call(s, "property") || s->count < 2 || s->items[1].kind != SEXP_SYMBOL)
        return sexp_error(error, file, s, "expected (property NAME (equal LEFT RIGHT) ...)");
    for (size_t i = 2; i < s->count; i++) {
        const struct sexp *item = &s->items[i];
        const struct sexp **place = sexp_is_call(item, "comment") ? &ret_items->comment
                                    : sexp_is_call(item, "axiom") ? &ret_items->axiom
                                    : sexp_is_call(item, "equal") ? &ret_items->equal
                                    : sexp_is_call(item, "where") ? &ret_items->where
                                                                  : NULL;
        if (!place)
            return sexp_error(error, file, item,
                              "expected (comment \"...\"), (axiom \"...\"), (equal LEFT RIGHT) or (where ...)");
        if (*place)
            return sexp_error(error, file, item, "%s is given twice", item->items[0].text);
        *place = item;
    }
    if (!ret_items->equal || ret_items->equal->count != 3)
        return sexp_error(error, file, ret_items->equal ? ret_items->equal : s, "a property needs (equal LEFT RIGHT)");
    return is_text(ret_items->comment, file, error) && is_text(ret_items->axiom, file, error);
}

static bool parse_guard(struct property *p, const struct sexp *s, const char *file, struct arena *a,
                        struct error *error)
{
    if (s->count != 2)
        return sexp_error(error, file, s, "expected (defined TERM)");
    if (p->n_guards == MAX_GUARDS)
        return sexp_error(error, file, s, "more than %d guards", MAX_GUARDS);
    return pattern_parse_term(&p->pattern, &s->items[1], file, a, &p->guards[p->n_guards++], error);
}

static bool parse_plain(struct property *p, const struct sexp *s, const char *file, struct arena *a,
                        struct error *error)
{
    term_id term;
    if (s->count != 2 || s->items[1].kind != SEXP_SYMBOL || s->items[1].text[0] != '?')
        return sexp_error(error, file, s, "expected (plain ?x)");
    if (!pattern_parse_term(&p->pattern, &s->items[1], file, a, &term, error))
        return false;
    p->plain |= 1u << p->pattern.terms.items[term].index;
    return true;
}

// A variable that is not in the equation has no value at which the condition could hold or not.
static bool has_new_variable(const struct property *p, uint32_t n_variables, uint32_t n_attribute_variables,
                             const struct sexp *item, const char *file, struct error *error)
{
    const struct pattern *q = &p->pattern;
    if (q->n_variables > n_variables)
        return !sexp_error(error, file, item, "?%s occurs on neither side", q->variables[n_variables]);
    if (q->n_attribute_variables > n_attribute_variables)
        return !sexp_error(error, file, item, "$%s occurs on neither side",
                           q->attribute_variables[n_attribute_variables]);
    return false;
}

static bool parse_where(struct property *p, const struct sexp *where, const char *file, struct arena *a,
                        struct error *error)
{
    if (!where)
        return true;
    uint32_t n_variables = p->pattern.n_variables, n_attribute_variables = p->pattern.n_attribute_variables;
    struct condition *conditions = arena_array(a, struct condition, where->count);
    p->conditions = conditions;
    for (size_t i = 1; i < where->count; i++) {
        const struct sexp *item = &where->items[i];
        bool is_parsed = sexp_is_call(item, "defined") ? parse_guard(p, item, file, a, error)
                         : sexp_is_call(item, "plain") ? parse_plain(p, item, file, a, error)
                                                       : pattern_parse_condition(&p->pattern, item, file, a,
                                                                                 &conditions[p->n_conditions++], error);
        if (!is_parsed || has_new_variable(p, n_variables, n_attribute_variables, item, file, error))
            return false;
    }
    return true;
}

static bool parse_property(struct property *p, const struct sexp *s, const char *file, struct arena *a,
                           struct error *error)
{
    struct property_items items;
    if (!take_items(s, file, &items, error))
        return false;
    p->name = arena_string(a, s->items[1].text);
    p->comment = items.comment ? arena_string(a, items.comment->items[1].text) : "";
    p->axiom = items.axiom ? arena_string(a, items.axiom->items[1].text) : NULL;
    p->file = arena_string(a, file);
    p->line = s->line;
    p->column = s->column;
    return pattern_parse_term(&p->pattern, &items.equal->items[1], file, a, &p->left, error) &&
           pattern_parse_term(&p->pattern, &items.equal->items[2], file, a, &p->right, error) &&
           parse_where(p, items.where, file, a, error);
}

static bool add_property(struct property_set *set, const struct sexp *s, const char *path, struct error *error)
{
    struct property *p = arena_new(set->arena, struct property);
    pattern_init(&p->pattern);
    bool is_parsed = parse_property(p, s, path, set->arena, error);
    if (is_parsed && property_find(set, p->name))
        is_parsed = sexp_error(error, path, s, "a property named %s was read before", p->name);
    if (!is_parsed) {
        pattern_free(&p->pattern);
        return false;
    }
    vec_push(&set->properties, p);
    return true;
}

static bool add_properties(struct property_set *set, const struct sexp *list, const char *file, struct error *error)
{
    return ALL(size_t, i, list->count, add_property(set, &list->items[i], file, error));
}

bool property_set_read(struct property_set *set, const char *path, struct error *error)
{
    const struct sexp *list;
    return sexp_parse_file(set->arena, path, &list, error) && add_properties(set, list, path, error);
}

bool property_set_parse(struct property_set *set, const char *file, const char *text, size_t size, struct error *error)
{
    const struct sexp *list;
    return sexp_parse(set->arena, file, text, size, &list, error) && add_properties(set, list, file, error);
}

// --- folders ---------------------------------------------------------------------------------------------------------

COMPARISON(compare_names, char *, strcmp(*x, *y))

bool property_set_read_folder(struct property_set *set, const char *folder, struct error *error)
{
    LOCAL_VEC(const char *, names);
    bool is_read = true;
    DIR *d = opendir(folder);
    if (!d)
        return error_set(error, folder, 0, 0, "cannot open the folder: %s", strerror(errno));
    for (struct dirent *entry; (entry = readdir(d));)
        if (text_ends_with(entry->d_name, ".properties"))
            vec_push(&names, arena_printf(set->arena, "%s/%s", folder, entry->d_name));
    closedir(d);
    vec_sort(&names, compare_names);
    return is_read && ALL(size_t, i, names.count, property_set_read(set, names.items[i], error));
}

const char *property_standard_folder(char buffer[SHARED_PATH_SIZE])
{
    return shared_file_find("properties", PROPERTIES_BUILT, buffer);
}

// --- printing --------------------------------------------------------------------------------------------------------

static void print_text(struct text *out, const char *head, const char *text)
{
    text_printf(out, "\n  (%s ", head);
    text_add_quoted(out, text);
    text_add(out, ")");
}

void property_print(struct text *out, const struct property *p)
{
    text_printf(out, "(property %s", p->name);
    if (p->comment[0])
        print_text(out, "comment", p->comment);
    if (p->axiom)
        print_text(out, "axiom", p->axiom);
    text_add(out, "\n  (equal ");
    pattern_print_term(out, &p->pattern, p->left);
    text_add(out, "\n         ");
    pattern_print_term(out, &p->pattern, p->right);
    text_add(out, ")");
    bool has_where = p->n_conditions + p->n_guards > 0 || p->plain;
    if (has_where)
        text_add(out, "\n  (where");
    for (uint32_t i = 0; i < p->n_conditions; i++) {
        text_add(out, " ");
        pattern_print_condition(out, &p->pattern, &p->conditions[i]);
    }
    for (uint32_t i = 0; i < p->n_guards; i++) {
        text_add(out, " (defined ");
        pattern_print_term(out, &p->pattern, p->guards[i]);
        text_add(out, ")");
    }
    for (uint32_t v = 0; v < p->pattern.n_variables; v++)
        if (p->plain >> v & 1)
            text_printf(out, " (plain ?%s)", p->pattern.variables[v]);
    text_add(out, has_where ? "))\n" : ")\n");
}
