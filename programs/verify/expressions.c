// taso-verify expressions: what both sides of a rule compute, as one tensor expression each.
#include "core/text/text.h"
#include "expressions/definition_print.h"
#include "graph/compose.h"
#include "programs/verify/command.h"
#include "programs/verify/commands.h"
#include "selection/example.h"
#include <stdio.h>
#include <string.h>

struct options {
    bool quiet;
};
static const struct option_spec specs[] = {
    {"quiet", OPTION_FLAG, offsetof(struct options, quiet), .letter = 'q', .help = "print totals only"}, {0}};
static const struct program program = {
    .name = "taso-verify expressions",
    .usage = "FILE.rules [RULE ...] [options]",
    .summary =
        "Prints what both sides of rules compute, as one expression each of the inputs, at an example of sizes;\n"
        "once where the normal form of both is the same.",
    .epilog = "Exit codes: 0 done, 1 no example of a rule was found, 2 wrong command line, 3 bad input.",
    .options = specs,
};

struct expressions_run {
    const struct options *options;
    struct arena *arena;
    struct typing typing;
    size_t n_same, n_different, n_without_example;
};

// Both sides of an example, composed.
struct sides {
    const struct rule *rule;
    struct type types[MAX_RULE_VARIABLES];
    struct composition composition;
    int scopes[2][MAX_RULE_OUTPUTS];
    bool are_same;
};

// --- composing -------------------------------------------------------------------------------------------------------

static void find_types(const struct graph *g, struct type *ret_types)
{
    vec_each(&g->nodes, node)
        if (node->op->flags & OPERATOR_IS_LEAF)
            ret_types[node->attributes[0].ints[0]] = *graph_type(g, node->first_output);
}

static bool compose_side(struct sides *s, const struct graph *g, int *ret_scopes)
{
    LOCAL_ARRAY(int, tensors, g->tensors.count + 1);
    bool is_composed = graph_compose(g, &s->composition, tensors);
    for (size_t i = 0; is_composed && i < g->outputs.count; i++)
        ret_scopes[i] = composition_scope_of(&s->composition, tensors[g->outputs.items[i]]);
    return is_composed;
}

static bool compose_sides(struct sides *s, const struct rule *r, const struct example *e, struct arena *a)
{
    *s = (struct sides){.rule = r};
    find_types(&e->source, s->types);
    find_types(&e->target, s->types);
    composition_init(&s->composition, a, (int)r->pattern.n_variables, s->types);
    bool are_composed = compose_side(s, &e->source, s->scopes[0]) && compose_side(s, &e->target, s->scopes[1]);
    s->are_same = are_composed && memcmp(s->scopes[0], s->scopes[1], sizeof s->scopes[0]) == 0;
    return are_composed;
}

// --- printing --------------------------------------------------------------------------------------------------------

static void print_scope(const struct sides *s, int scope, const char *indent)
{
    const char *names[MAX_RULE_VARIABLES];
    struct definition d FREED_BY(definition_free) = {0};
    TEXT(text);
    for (uint32_t v = 0; v < s->rule->pattern.n_variables; v++)
        names[v] = s->rule->pattern.variables[v];
    composition_extract(&s->composition, scope, &d);
    definition_print(&text, &d, names);
    for (char *line = text.chars, *end; line && *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        printf("%s%.*s\n", indent, (int)(end - line), line);
    }
}

static void print_inputs(const struct sides *s)
{
    TEXT(text);
    for (uint32_t v = 0; v < s->rule->pattern.n_variables; v++) {
        text_printf(&text, "%s ?%s ", v ? "," : "", s->rule->pattern.variables[v]);
        type_print(&text, &s->types[v]);
    }
    printf("%s: %s of%s\n", s->rule->name, s->are_same ? "one expression" : "two expressions", text.chars);
}

static void print_sides(const struct sides *s)
{
    print_inputs(s);
    for (uint32_t i = 0; i < s->rule->n_outputs; i++) {
        print_scope(s, s->scopes[0][i], "  ");
        if (s->scopes[1][i] == s->scopes[0][i])
            continue;
        printf("  and\n");
        print_scope(s, s->scopes[1][i], "  ");
    }
}

// --- rules -----------------------------------------------------------------------------------------------------------

static bool show_example(struct expressions_run *run, const struct rule *r, const struct example *e)
{
    ARENA_MARK(mark, run->arena);
    struct sides sides;
    bool is_composed = compose_sides(&sides, r, e, run->arena);
    if (is_composed && !run->options->quiet)
        print_sides(&sides);
    run->n_same += sides.are_same;
    run->n_different += is_composed && !sides.are_same;
    composition_free(&sides.composition);
    return is_composed;
}

static int axes_of(const struct example *e)
{
    return SUM_ALL(int, tensor_id, t, e->source.tensors.count, graph_type(&e->source, t)->rank);
}

// The one that says most: of the most axes.
static const struct example *choose_example(const struct examples *all)
{
    const struct example *best = NULL;
    for (size_t i = 0; i < all->items.count; i++)
        if (!best || axes_of(&all->items.items[i]) > axes_of(best))
            best = &all->items.items[i];
    return best;
}

static void show_rule(struct expressions_run *run, const struct rule *r)
{
    struct examples examples FREED_BY(examples_free);
    examples_make(&examples, r, &run->typing);
    const struct example *best = choose_example(&examples);
    if (!best || !show_example(run, r, best)) {
        run->n_without_example++;
        printf("%s: no example was found\n", r->name);
    }
}

static int show_all(struct command *c, int count, char **arguments, struct error *error)
{
    struct expressions_run run = {.options = c->options, .arena = &c->arena};
    if (!named_rules_read(&c->rules, count, arguments, error))
        return COMMAND_FAILED;
    typing_init(&run.typing);
    for (size_t i = 0; i < c->rules.rules.count; i++)
        if (rule_is_named(c->rules.rules.items[i], count - 1, arguments + 1))
            show_rule(&run, c->rules.rules.items[i]);
    typing_free(&run.typing);
    printf("%zu rule%s of one expression, %zu of two, %zu without an example\n", run.n_same, plural_ending(run.n_same),
           run.n_different, run.n_without_example);
    return run.n_without_example ? EXIT_CHECK_FAILED : EXIT_DONE;
}

int command_expressions(int argc, char **argv)
{
    struct options options = {0};
    return command_run(&program, &options, argc, argv, show_all);
}
