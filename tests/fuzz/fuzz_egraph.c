// E-graphs as JSON: what is read has extractions that are valid, the best one no dearer than greedy ones.
#include "core/text/error.h"
#include "egraph/extraction/best.h"
#include "egraph/extraction/greedy.h"
#include "egraph/extraction/read_json.h"
#include "tests/fuzz/fuzz.h"

#define MOST_NODES 5000   // of those that are searched

static void extract(const struct extraction_problem *p)
{
    struct extraction_budget budget = extraction_standard_budget;
    struct extraction_answer answer;
    LOCAL_ARRAY(uint32_t, choice, p->n_classes + 1);
    double trees, dags, best, cost;
    bool is_possible = extraction_greedy_tree(p, choice, &trees);
    FUZZ_REQUIRE(extraction_greedy_dag(p, choice, &dags) == is_possible);
    budget.branches = 10;
    FUZZ_REQUIRE(extraction_find_cheapest(p, &budget, 1, NULL, choice, &cost, &answer) == is_possible);
    if (is_possible)
        FUZZ_REQUIRE(extraction_settle(p, choice, &best) && best == answer.cost && best <= trees && best <= dags &&
                     answer.bound <= best);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct extraction_problem problem;
    struct extraction_names names;
    struct error error = {0};
    if (!extraction_read_json(fuzz_file(data, size), &problem, &names, &error)) {
        FUZZ_REQUIRE(error.message[0]);
        return 0;
    }
    if (problem.n_nodes <= MOST_NODES)
        extract(&problem);
    extraction_names_free(&names);
    extraction_free(&problem);
    return 0;
}
