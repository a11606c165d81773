// Cost databases: what is read of one is found in it, and is there again after a cost was added and it was written.
#include "backends/contract/backend.h"
#include "backends/costs/cost_database.h"
#include "core/text/error.h"
#include "tests/fuzz/fuzz.h"
#include <math.h>
#include <string.h>

static void require_plausible(const struct cost_database *costs)
{
    struct step_cost cost;
    if (cost_database_find(costs, "step", &cost))
        FUZZ_REQUIRE(isfinite(cost.seconds) && cost.seconds > 0);
    for (size_t i = 0; i < cost_database_count(costs); i++)
        FUZZ_REQUIRE(cost_database_device(costs, i) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cost_database *costs, *again;
    struct step_cost added = {.seconds = 0.5, .spread = 0.01, .choice = "engine"}, found;
    struct error error;
    const char *path = fuzz_output();
    fuzz_put_file(path, data, size);
    if (!cost_database_open(&costs, path, "device", &error))
        return 0;
    require_plausible(costs);
    cost_database_add(costs, "step", &added);
    FUZZ_REQUIRE(cost_database_write(costs, &error) && cost_database_open(&again, path, "device", &error));
    FUZZ_REQUIRE(cost_database_count(again) == cost_database_count(costs));
    FUZZ_REQUIRE(cost_database_find(again, "step", &found) && found.seconds == added.seconds &&
                 strcmp(found.choice, added.choice) == 0);
    cost_database_free(again);
    cost_database_free(costs);
    return 0;
}
