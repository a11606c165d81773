// Texts of rules, forwards and backwards, are looked up.
#include "verifier/rules/reversed.h"

#include "core/memory/arena.h"
#include "core/memory/key_set.h"
#include "core/text/text.h"
#include "substitutions/pattern.h"
#include "verifier/text/variables.h"

// Equal for two rules that differ in the names of variables alone.
static void print_rule(struct text *out, const struct rule *r, bool backwards)
{
    TEXT(named);
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        pattern_print_term(&named, &r->pattern, backwards ? r->targets[i] : r->sources[i]);
        text_add(&named, " ");
        pattern_print_term(&named, &r->pattern, backwards ? r->sources[i] : r->targets[i]);
        text_add(&named, " ");
    }
    text_clear(out);
    text_add_numbered(out, named.chars);
}

const uint32_t *find_reversed_rules(const struct rule *const *rules, size_t n, struct arena *a)
{
    uint32_t *reversed = arena_array(a, uint32_t, n + 1);
    struct key_set met FREED_BY(key_set_free) = {0};
    LOCAL_VEC(uint32_t, first);   // rule of each
    ARENA(keys);
    TEXT(key);
    for (uint32_t i = 0; i < n; i++) {
        reversed[i] = NO_RULE;
        if (rules[i]->n_conditions || rules[i]->pattern.nodes.count > MOST_NODES_OF_TEXT)
            continue;
        print_rule(&key, rules[i], true);
        uint32_t found = key_set_find(&met, key.chars, key.count);
        if (found != KEY_NONE) {
            reversed[i] = first.items[found];
            continue;
        }
        print_rule(&key, rules[i], false);
        if (key_set_add(&met, &keys, key.chars, key.count) == first.count)
            vec_push(&first, i);
    }
    return reversed;
}
