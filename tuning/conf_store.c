// The value stands where costs have a choice.
#include "tuning/conf_store.h"

#include "backends/costs/cost_database.h"
#include <stdio.h>
#include <string.h>

#define KEY_SIZE 96
#define PREFIX "pass "

static void print_key(const char *pass, uint64_t fingerprint, char ret_key[KEY_SIZE])
{
    snprintf(ret_key, KEY_SIZE, PREFIX "%s %016llx", pass, (unsigned long long)fingerprint);
}

bool conf_store_has(const char *key)
{
    return strncmp(key, PREFIX, strlen(PREFIX)) == 0;
}

bool conf_store_find(const struct backend *b, const char *pass, uint64_t fingerprint, char ret_value[CHOICE_SIZE])
{
    char key[KEY_SIZE];
    struct step_cost row;
    print_key(pass, fingerprint, key);
    if (!cost_database_find(b->costs, key, &row))
        return false;
    snprintf(ret_value, CHOICE_SIZE, "%s", row.choice);
    return true;
}

void conf_store_put(struct backend *b, const char *pass, uint64_t fingerprint, const char *value, double seconds)
{
    char key[KEY_SIZE];
    struct step_cost row = {.seconds = seconds};
    print_key(pass, fingerprint, key);
    snprintf(row.choice, sizeof row.choice, "%s", value);
    cost_database_add(b->costs, key, &row);
}
