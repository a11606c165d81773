// Where the rules are that ship with the programs.
#include "optimizer/standard_rules.h"

const char *standard_rules_file(char buffer[SHARED_PATH_SIZE])
{
    return shared_file_find("taso.rules", RULES_BUILT, buffer);
}
