#include "optimizer/standard_rules.h"

#include <unistd.h>

const char *standard_rules_file(void)
{
    return access(RULES_BUILT, R_OK) == 0 ? RULES_BUILT : RULES_INSTALLED;
}
