#include "tests/support/parse_rules.h"

#include "core/formats/sexp.h"
#include "tests/support/check.h"

static struct rule *parse_list(struct arena *a, const struct sexp *list)
{
    struct error error = {0};
    struct rule *rule;
    if (!rule_parse(list, "rules", a, &rule, &error))
        fail_msg("%u:%u: %s", error.line, error.column, error.message);
    return rule;
}

struct rule *parse_rule(struct arena *a, const char *text)
{
    const struct sexp *list;
    assert_true(sexp_parse(a, "rules", text, strlen(text), &list, &(struct error){0}));
    return parse_list(a, &list->items[0]);
}

void parse_rules(struct rule_set *set, struct arena *a, const char *text)
{
    const struct sexp *list;
    assert_true(sexp_parse(a, "rules", text, strlen(text), &list, &(struct error){0}));
    for (size_t i = 0; i < list->count; i++)
        vec_push(&set->rules, parse_list(a, &list->items[i]));
}

void read_rules(struct rule_set *ret_set, struct arena *a, const char *path)
{
    struct error error = {0};
    rule_set_init(ret_set, a);
    if (!rule_set_read(ret_set, path, &error))
        fail_msg("%s:%u:%u: %s", error.file, error.line, error.column, error.message);
}
