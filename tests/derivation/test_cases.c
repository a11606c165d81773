// The cases of the EinNet paper that are one expression each: found by search from the definition, none preset. Every
// step on the way is an equality at all entries over the prime field, and so is every program that was found.
#include "derivation/programs/check.h"
#include "derivation/programs/cost.h"
#include "derivation/search/report.h"
#include "tests/derivation/problem.h"

#define CONVOLUTION                                                                                                    \
    "x0 f32[1,5,7,7]\nx1 f32[6,5,3,3]\nz[i,j,k,l] f32[1,6,7,7] = sum(m < 5) sum(n < 3) sum(p < 3) "                    \
    "(x0[i,m,k + n - 1,l + p - 1 or 0] * x1[j,m,n,p])\n"
#define TRANSPOSED                                                                                                     \
    "x0 f32[1,5,4,4]\nx1 f32[5,3,4,4]\nz[i,j,k,l] f32[1,3,8,8] = sum(m < 5) sum(n < 4) sum(p < 4) "                    \
    "(if 0 - ((k - n + 1) mod 2) >= 0 then (if 0 - ((l - p + 1) mod 2) >= 0 then "                                     \
    "(x0[i,m,(k - n + 1) / 2,(l - p + 1) / 2 or 0] * x1[m,j,n,p]) else 0.0) else 0.0)\n"
#define BAND                                                                                                           \
    "x0 f32[2,16,7]\nx1 f32[2,40,5]\nz[i,j,k] f32[2,16,5] = sum(m < 40) (if 27 - ((j * 40 + m) mod 41) >= 0 then "     \
    "(if 0 - (((j * 40 + m) mod 41) mod 4) >= 0 then "                                                                 \
    "(x0[i,(j * 40 + m) / 41,((j * 40 + m) mod 41) / 4 or 0] * x1[i,m,k]) else 0.0) else 0.0)\n"

static const struct found_case {
    const char *name, *text;
    int depth;
    const char *wanted;   // the application in it; no others
    int most_others;      // eOperators that are no views and not of weights alone
} cases[] = {
    {"conv 3x3 as one product and an offset-reduce", CONVOLUTION, 3, "matmul (f32 54 5) (f32 5 49)", 1},
    {"conv 3x3 as im2col and a product", CONVOLUTION, 0, "matmul (f32 6 45) (f32 45 49)", 1},
    {"conv 3x3 as a convolution of three groups", CONVOLUTION, 1,
     "conv (f32 7 15 7) (f32 18 5 3) :stride 1 :pad 1 1 :dilation 1 :group 3", 2},
    {"transposed convolution as one product and an offset-reduce", TRANSPOSED, 3, "matmul (f32 48 5) (f32 5 16)", 1},
    {"transposed convolution as one convolution of all phases", TRANSPOSED, 3,
     "conv (f32 1 5 4 4) (f32 12 5 2 2) :stride 1 1 :pad 1 1 1 1 :dilation 1 1", 1},
    {"dilated convolution as one without dilation",
     "x0 f32[1,5,8,8]\nx1 f32[6,5,3,3]\nz[i,j,k,l] f32[1,6,8,8] = sum(m < 5) sum(n < 3) sum(p < 3) "
     "(x0[i,m,k + n * 2 - 2,l + p * 2 - 2 or 0] * x1[j,m,n,p])\n",
     1, "conv (f32 4 5 6 6) (f32 6 5 3 3) :stride 1 1 :pad 0 0 0 0 :dilation 1 1", 2},
    {"conv 5x5 as conv 3x3 of four times the channels",
     "x0 f32[1,2,5,5]\nx1 f32[3,2,5,5]\nz[i,j,k,l] f32[1,3,5,5] = sum(m < 2) sum(n < 5) sum(p < 5) "
     "(x0[i,m,k + n - 2,l + p - 2 or 0] * x1[j,m,n,p])\n",
     4, "conv (f32 1 2 5 5) (f32 12 2 3 3) :stride 1 1 :pad 2 2 3 3 :dilation 1 1", 1},
    {"conv 1x7 as one product and an offset-reduce",
     "x0 f32[1,5,8,8]\nx1 f32[6,5,1,7]\nz[i,j,k,l] f32[1,6,8,8] = sum(m < 5) sum(n < 1) sum(p < 7) "
     "(x0[i,m,k + n,l + p - 3 or 0] * x1[j,m,n,p])\n",
     3, "matmul (f32 42 5) (f32 5 64)", 1},
    {"conv 7x1 as one product and an offset-reduce",
     "x0 f32[1,5,8,8]\nx1 f32[6,5,7,1]\nz[i,j,k,l] f32[1,6,8,8] = sum(m < 5) sum(n < 7) sum(p < 1) "
     "(x0[i,m,k + n - 3,l + p or 0] * x1[j,m,n,p])\n",
     3, "matmul (f32 42 5) (f32 5 64)", 1},
    {"dilated product of a matrix and a band as products of tiles without dilation",
     "x0 f32[2,48,5]\nx1 f32[2,48,5]\nz[i,j,k] f32[2,48,33] = sum(m < 5) (x0[i,j,m] * x1[i,j + k * 2 - 32,m or 0])\n",
     3, "matmul (f32 12 8 5) (f32 12 5 40)", 3},
    {"product of a dilated band, which zeros and reshaping made rows of, as products of tiles without dilation", BAND,
     3, "matmul (f32 8 4 10) (f32 8 10 5)", 3},
    {"Winograd's F(4x4, 3x3)",
     "x0 f32[1,5,8,8]\nx1 f32[6,5,3,3]\nz[i,j,k,l] f32[1,6,8,8] = sum(m < 5) sum(n < 3) sum(p < 3) "
     "(x0[i,m,k + n - 1,l + p - 1 or 0] * x1[j,m,n,p])\n",
     2, "matmul (f32 36 4 5) (f32 36 5 6)", 5},
    {"Winograd's F(2x2, 3x3)", CONVOLUTION, 2, "matmul (f32 16 16 5) (f32 16 5 6)", 6},
    {"Karatsuba's three products for windows of two",
     "x0 f32[5,9]\nx1 f32[6,5,2]\nz[i,j] f32[6,8] = sum(m < 5) sum(n < 2) (x0[m,j + n] * x1[i,m,n])\n", 1,
     "matmul (f32 3 6 5) (f32 3 5 4)", 4},
    {"Strassen's product", "x0 f32[8,8]\nx1 f32[8,6]\nz[i,j] f32[8,6] = sum(m < 8) (x0[i,m] * x1[m,j])\n", 1,
     "matmul (f32 7 4 4) (f32 7 4 3)", 4},
};

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

static void case_is_found(void **state)
{
    const struct found_case *c = *state;
    struct search_limits limits = search_standard_limits;
    limits.depth = c->depth;
    SEARCH(p, s, c->text, 2, &limits);
    const struct derived_program *r = find_wanted(&s, c);
    if (!r)
        fail_msg("%s was not found", c->name);
    show(&s, c, r);
    check_path(&s, r->state, r->program);
}

// Tests of their names: `test_derivation 'cases.conv 5x5*'` runs one.
__attribute__((constructor)) static void enter_cases(void)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (!is_left_out(i, 2))
            tests_enter((struct CMUnitTest){cases[i].name, case_is_found, note_what_is_in_use,
                                            check_that_nothing_is_left, (void *)(uintptr_t)&cases[i]},
                        __FILE__, __LINE__);
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

TEST(all_programs_are_equal)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (is_left_out(i, 3))
            continue;
        struct search_limits limits = {.depth = 4, .most_programs = 200, .most_operations = 8};
        SEARCH(p, s, cases[i].text, 2, &limits);
        check_results(&s, p.program);
    }
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
        SEARCH(p, s, cases[0].text, 0, &limits);
        programs[run] = s.results.items[s.results.count / 2].program;
        counts[run] = s.states.count + s.counters.n_steps;
    }
    assert_int_equal(programs[0], programs[1]);
    assert_int_equal(counts[0], counts[1]);
}

// Three of Table 3, at its sizes, by entries at borders and at random places.
static const struct found_case published[] = {
    {"conv 3x3 of ResNet-18",
     "x0 f32[1,512,7,7]\nx1 f32[512,512,3,3]\nz[i,j,k,l] f32[1,512,7,7] = sum(m < 512) sum(n < 3) sum(p < 3) "
     "(x0[i,m,k + n - 1,l + p - 1 or 0] * x1[j,m,n,p])\n",
     3, "matmul (f32 4608 512) (f32 512 49)", 1},
    {"transposed convolution of InfoGAN",
     "x0 f32[16,448,2,2]\nx1 f32[448,256,4,4]\nz[i,j,k,l] f32[16,256,4,4] = sum(m < 448) sum(n < 4) sum(p < 4) "
     "(if 0 - ((k - n + 1) mod 2) >= 0 then (if 0 - ((l - p + 1) mod 2) >= 0 then "
     "(x0[i,m,(k - n + 1) / 2,(l - p + 1) / 2 or 0] * x1[m,j,n,p]) else 0.0) else 0.0)\n",
     3, "matmul (f32 64 448) (f32 448 4096)", 2},
    {"dilated convolution of CSRNet",
     "x0 f32[1,512,14,14]\nx1 f32[512,512,3,3]\nz[i,j,k,l] f32[1,512,14,14] = sum(m < 512) sum(n < 3) sum(p < 3) "
     "(x0[i,m,k + n * 2 - 2,l + p * 2 - 2 or 0] * x1[j,m,n,p])\n",
     1, "conv (f32 4 512 9 9) (f32 512 512 3 3) :stride 1 1 :pad 0 0 0 0 :dilation 1 1", 2},
};

TEST(published_sizes_are_found)
{
    const struct check_limits check = {.n_random = 40, .most_work = 2e7};
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        struct search_limits limits = search_standard_limits;
        limits.depth = published[i].depth;
        SEARCH(p, s, published[i].text, 2, &limits);
        const struct derived_program *r = find_wanted(&s, &published[i]);
        if (!r)
            fail_msg("%s was not found", published[i].name);
        show(&s, &published[i], r);
        assert_true(programs_agree(&p.dv, p.program, r->program, 9, &check));
    }
}
