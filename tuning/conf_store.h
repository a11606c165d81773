// The best value of each node for each pass (XTAT's ConfStore), as rows of the cost database, so that it is shared,
// merged and kept as costs are:
//     ("pass fusion 8f3a..." 0.0121 0 "apart")     pass, fingerprint, seconds of the whole that it was best in, value
#pragma once
#include "backends/contract/backend.h"

bool conf_store_has(const char *key);   // is a row of the cost database one of these?
bool conf_store_find(const struct backend *b, const char *pass, uint64_t fingerprint, char ret_value[CHOICE_SIZE]);
void conf_store_put(struct backend *b, const char *pass, uint64_t fingerprint, const char *value, double seconds);
