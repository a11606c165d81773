// Which substitutions a program uses when it is not told.
#ifndef SUBSTITUTIONS_STANDARD_RULES_H
#define SUBSTITUTIONS_STANDARD_RULES_H

#include "core/system/shared_files.h"

// As shared_file_find.
const char *standard_rules_file(char buffer[SHARED_PATH_SIZE]);
const char *standard_egraph_rules_file(char buffer[SHARED_PATH_SIZE]);
#endif
