// The value stands where costs have a choice.
#include "backends/costs/verdicts.h"

#include "backends/contract/backend.h"
#include "backends/costs/cost_database.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_SIZE 64
#define PREFIX "contest "

static void print_key(uint64_t contest, char ret_key[KEY_SIZE])
{
    snprintf(ret_key, KEY_SIZE, PREFIX "%016" PRIx64, contest);
}

bool verdict_has(const char *key)
{
    return strncmp(key, PREFIX, strlen(PREFIX)) == 0;
}

static bool is_sound(const struct verdict *v)
{
    const struct ratio_summary *gain = &v->gain;
    return v->result == 0 || (0 < gain->low && gain->low <= gain->ratio && gain->ratio <= gain->high &&
                              isfinite(gain->high) && gain->n_loads > 0);
}

static bool read(const char *text, struct verdict *v)
{
    char *at;
    v->original = strtoull(text, &at, 16);
    v->result = strtoull(at, &at, 16);
    v->gain.ratio = strtod(at, &at);
    v->gain.low = strtod(at, &at);
    v->gain.high = strtod(at, &at);
    v->gain.n_loads = strtoul(at, &at, 10);
    return at != text && *at == '\0' && is_sound(v);
}

bool verdict_find(const struct cost_database *costs, uint64_t contest, struct verdict *ret_verdict)
{
    char key[KEY_SIZE];
    struct step_cost row;
    print_key(contest, key);
    if (!cost_database_find(costs, key, &row))
        return false;
    *ret_verdict = (struct verdict){.seconds = row.seconds, .spread = row.spread, .run = row.run};
    return read(row.choice, ret_verdict);
}

void verdict_keep(struct cost_database *costs, uint64_t contest, const struct verdict *v)
{
    char key[KEY_SIZE];
    struct step_cost row = {.seconds = v->seconds, .spread = v->spread};
    print_key(contest, key);
    snprintf(row.choice, sizeof row.choice, "%016" PRIx64 " %016" PRIx64 " %.6g %.6g %.6g %zu", v->original, v->result,
             v->gain.ratio, v->gain.low, v->gain.high, v->gain.n_loads);
    cost_database_replace(costs, key, &row);
}
