// The cases of the EinNet paper that are one expression each: found by search from the definition, none preset. Every
// step on the way is an equality at all entries over the prime field, and so is every program that was found.
#include "derivation/programs/check.h"
#include "derivation/programs/cost.h"
#include "derivation/search/report.h"
#include "tests/derivation/problem.h"
#include "tests/support/cases.h"

#define CONVOLUTION                                                                                                    \
    "x0 f32[1,5,7,7]\nx1 f32[6,5,3,3]\nz[i,j,k,l] f32[1,6,7,7] = sum(m < 5) sum(n < 3) sum(p < 3) "                    \
    "(x0[i,m,k + n - 1,l + p - 1 or 0] * x1[j,m,n,p])\n"
#define BAND                                                                                                           \
    "x0 f32[2,16,7]\nx1 f32[2,40,5]\nz[i,j,k] f32[2,16,5] = sum(m < 40) (if 27 - ((j * 40 + m) mod 41) >= 0 then "     \
    "(if 0 - (((j * 40 + m) mod 41) mod 4) >= 0 then "                                                                 \
    "(x0[i,(j * 40 + m) / 41,((j * 40 + m) mod 41) / 4 or 0] * x1[i,m,k]) else 0.0) else 0.0)\n"

#define CASES "derivation/found.cases"

struct found_case {
    const char *name;
    int depth, most_others;      // eOperators that are no views and not of weights alone
    const char *wanted, *text;   // the application in it, no others; the definition
    bool is_published;           // in Table 3
};

static struct found_case read_case(const struct sexp *c)
{
    return (struct found_case){c->items[1].text, (int)c->items[2].integer, (int)c->items[3].integer,
                               c->items[4].text, c->items[5].text,         sexp_is_call(c, "published")};
}

// The results of a search of a definition; the weights are a set of its inputs.
#define SEARCH(p, s, definition, weights_of_it, limits)                                                                \
    struct problem p FREED_BY(problem_free);                                                                           \
    problem_init(&p, definition);                                                                                      \
    p.dv.weights = weights_of_it;                                                                                      \
    struct search s FREED_BY(search_free);                                                                             \
    search_run(&s, &p.dv, p.program, limits)

static const struct derived_program *find_wanted(const struct search *s, const struct found_case *c)
{
    for (size_t i = 0; i < s->results.count; i++) {
        TEXT(text);
        const struct derived_program *r = &s->results.items[i];
        struct program_cost cost = program_cost(s->dv, r->program);
        applications_print(&text, s->dv, r->program);
        bool is_wanted = text.count && strcmp(text.chars, c->wanted) == 0 && cost.n_others <= c->most_others;
        if (is_wanted)
            return r;
    }
    return NULL;
}

static void check_path(const struct search *s, int state, int program)
{
    for (; state >= 0; state = s->states.items[state].before) {
        assert_true(programs_agree_everywhere(s->dv, s->states.items[state].program, program, 11));
        program = s->states.items[state].program;
    }
}

static void show(const struct search *s, const struct found_case *c, const struct derived_program *r)
{
    TEXT(text);
    text_printf(&text, "%s: place %zu of %zu\n  ", c->name, (size_t)(r - s->results.items), s->results.count);
    search_print_path(&text, s, r->state);
    text_add(&text, "\n  ");
    search_print_counters(&text, s);
    program_print(&text, s->dv, r->program);
    print_message("%s", text.chars);
}

TEST_OF_CASES(programs_are_found, item, CASES)
{
    const struct check_limits check = {.n_random = 40, .most_work = 2e7};
    const struct found_case c = read_case(item);
    struct search_limits limits = search_standard_limits;
    if (!c.is_published && is_left_out(item->line, 2))
        return;
    limits.depth = c.depth;
    SEARCH(p, s, c.text, 2, &limits);
    const struct derived_program *r = find_wanted(&s, &c);
    if (!r)
        fail_msg("%s was not found", c.name);
    show(&s, &c, r);
    if (c.is_published)
        assert_true(programs_agree(&p.dv, p.program, r->program, 9, &check));
    else
        check_path(&s, r->state, r->program);
}

// A part of the programs that a search finds, in all its depths.
static void check_results(const struct search *s, int original)
{
    uint64_t wanted = some_of(80), step = s->results.count / wanted + 1;
    for (size_t i = 0; i < s->results.count; i += step)
        assert_true(programs_agree_everywhere(s->dv, original, s->results.items[i].program, 5));
    for (size_t i = 1; i < s->states.count; i += s->states.count / wanted + 1) {
        const struct search_state *at = &s->states.items[i];
        assert_true(programs_agree_everywhere(s->dv, s->states.items[at->before].program, at->program, 6));
    }
}

TEST_OF_CASES(all_programs_are_equal, item, CASES)
{
    const struct found_case c = read_case(item);
    if (c.is_published || is_left_out(item->line + 1, 3))
        return;
    struct search_limits limits = {.depth = 4, .most_programs = 200, .most_operations = 8};
    SEARCH(p, s, c.text, 2, &limits);
    check_results(&s, p.program);
}

static double turned(const char *definition)
{
    struct problem p FREED_BY(problem_free);
    problem_init(&p, definition);
    return program_cost(&p.dv, p.program).turned;
}

TEST(reads_across_rows_are_counted)
{
    assert_true(turned("x0 f32[6,5]\nz[i,j] f32[5,6] = x0[j,i]\n") == 30);
    assert_true(turned("x0 f32[6,5,1]\nz[i,j,k] f32[5,6,1] = x0[j,i,k]\n") == 30);
    assert_true(turned("x0 f32[6,5]\nz[i,j] f32[6,5] = x0[i,j + 1 or 0] + 0.0\n") == 0);
    assert_true(turned("x0 f32[6,8]\nz[i,j] f32[12,4] = x0[i / 2,(i mod 2) * 4 + j]\n") == 0);
    assert_true(turned("x0 f32[6]\nz[i,j] f32[6,5] = x0[i]\n") == 0);
}

// Tiles of a band, times what stands at its columns, cost as much as the other way round, where the band is turned.
TEST(equal_costs_go_by_rows)
{
    struct search_limits limits = search_standard_limits;
    size_t n_chosen = 0;
    limits.depth = 3;
    SEARCH(p, s, BAND, 0, &limits);
    for (size_t i = 1; i < s.results.count; i++) {
        const struct derived_program *a = &s.results.items[i - 1], *b = &s.results.items[i];
        assert_true(a->cost < b->cost || (a->cost == b->cost && a->turned <= b->turned));
        n_chosen += a->cost == b->cost && a->turned < b->turned && a->program > b->program;
    }
    assert_true(n_chosen > 0);
}

TEST(searches_are_deterministic)
{
    int programs[2];
    size_t counts[2];
    for (int run = 0; run < 2; run++) {
        struct search_limits limits = {.depth = 3, .most_programs = 200, .most_operations = 8};
        SEARCH(p, s, CONVOLUTION, 0, &limits);
        programs[run] = s.results.items[s.results.count / 2].program;
        counts[run] = s.states.count + s.counters.n_steps;
    }
    assert_int_equal(programs[0], programs[1]);
    assert_int_equal(counts[0], counts[1]);
}
