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
#define MOST_LOADS 1000   // more than any contest makes

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
    if (v->result == 0)
        return gain->ratio == 0 && gain->low == 0 && gain->high == 0 && gain->n_loads == 0;
    return 0 < gain->low && gain->low <= gain->ratio && gain->ratio <= gain->high && isfinite(gain->high) &&
           gain->n_loads > 0 && gain->n_loads <= MOST_LOADS;
}

static void print_choice(const struct verdict *v, char ret_choice[CHOICE_SIZE])
{
    snprintf(ret_choice, CHOICE_SIZE, "%016" PRIx64 " %016" PRIx64 " %.6g %.6g %.6g %zu", v->original, v->result,
             v->gain.ratio, v->gain.low, v->gain.high, v->gain.n_loads);
}

// A text that is not as it would be written, with all its fields, is damaged.
static bool read(const char *text, struct verdict *v)
{
    char *at, again[CHOICE_SIZE];
    v->original = strtoull(text, &at, 16);
    v->result = strtoull(at, &at, 16);
    v->gain.ratio = strtod(at, &at);
    v->gain.low = strtod(at, &at);
    v->gain.high = strtod(at, &at);
    v->gain.n_loads = strtoul(at, NULL, 10);
    print_choice(v, again);
    return strcmp(text, again) == 0 && is_sound(v);
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
    print_choice(v, row.choice);
    cost_database_replace(costs, key, &row);
}
