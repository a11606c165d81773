// Places of the rules that ship with the programs.
#include "substitutions/standard_rules.h"

const char *standard_rules_file(char buffer[SHARED_PATH_SIZE])
{
    return shared_file_find("taso.rules", RULES_BUILT, buffer);
}

const char *standard_derived_rules_file(char buffer[SHARED_PATH_SIZE])
{
    return shared_file_find("derived.rules", DERIVED_RULES_BUILT, buffer);
}

const char *standard_egraph_rules_file(char buffer[SHARED_PATH_SIZE])
{
    return shared_file_find("egraph.rules", EGRAPH_RULES_BUILT, buffer);
}
