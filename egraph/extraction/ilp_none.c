// A build without CBC.
#include "egraph/extraction/ilp.h"

bool ilp_is_available(void)
{
    return false;
}

enum ilp_status ilp_solve(const struct extraction_problem *p, const struct ilp_question *question, uint32_t *ret_choice,
                          double *ret_bound)
{
    return ILP_FAILED;
}
