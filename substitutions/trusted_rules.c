// --only-proved: rules are looked up by their whole statement among those that were built in, so that nothing depends
// on what a file says of itself, nor on hashes that somebody could make collide. The statements are printed and sorted
// anew each time: a thousand of them take some milliseconds.
#include "substitutions/trusted_rules.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "core/text/text.h"
#include "substitutions/rule.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct statements {
    size_t count;
    const char **texts;   // sorted
    struct arena arena;
};

COMPARISON(compare_texts, char *, strcmp(*x, *y))

static void collect_proved(struct statements *s)
{
    struct rule_set shipped FREED_BY(rule_set_free);
    struct error error;
    arena_init(&s->arena);
    rule_set_init(&shipped, &s->arena);
    bool is_read =
        rule_set_parse(&shipped, "taso.rules", proved_rules_file, strlen(proved_rules_file), &error) &&
        rule_set_parse(&shipped, "egraph.rules", proved_egraph_rules_file, strlen(proved_egraph_rules_file), &error);
    assert(is_read);
    (void)is_read;
    s->count = 0;
    s->texts = arena_array(&s->arena, const char *, shipped.rules.count + 1);
    for (size_t i = 0; i < shipped.rules.count; i++)
        if (rule_claims_proof(shipped.rules.items[i]))
            s->texts[s->count++] = rule_statement(shipped.rules.items[i], &s->arena);
    qsort(s->texts, s->count, sizeof *s->texts, compare_texts);
}

static bool is_among(const struct rule *r, const void *context)
{
    const struct statements *s = context;
    TEXT(text);
    rule_print_statement(&text, r);
    const char *statement = text.chars;
    return bsearch(&statement, s->texts, s->count, sizeof *s->texts, compare_texts) != NULL;
}

static size_t count_claims(const struct rule_set *rules)
{
    return COUNT(size_t, i, rules->rules.count, rule_claims_proof(rules->rules.items[i]));
}

bool proved_rules_keep(struct rule_set *rules, const char *path, const struct log *log, size_t *ret_left_out,
                       struct error *error)
{
    struct statements proved;
    size_t n_all = rules->rules.count, n_claims = count_claims(rules);
    collect_proved(&proved);
    *ret_left_out = rule_set_filter(rules, is_among, &proved);
    arena_free(&proved.arena);
    size_t n_unknown = n_claims - count_claims(rules);
    if (rules->rules.count == 0)
        return error_set_code(error, EXIT_USAGE, path,
                              "of %zu rule%s this build knows none as proved (claimed: %zu; taso-verify rules judges "
                              "them)",
                              n_all, plural_ending(n_all), n_claims);
    log_info(log, "%zu of %zu rules are proved for all sizes", rules->rules.count, n_all);
    if (n_unknown)
        log_warning(
            log,
            "%s: left out, as this build does not know them, though they claim to be proved: %zu of %zu rule%s; "
            "taso-verify rules judges them",
            path, n_unknown, n_all, plural_ending(n_all));
    return true;
}
