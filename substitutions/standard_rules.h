// Which substitutions a program uses when it is not told.
#pragma once

#include "core/system/shared_files.h"

// Files of rules, found as shared_file_find does.
const char *standard_rules_file(char buffer[SHARED_PATH_SIZE]);
const char *standard_derived_rules_file(char buffer[SHARED_PATH_SIZE]);   // for our own executor
const char *standard_egraph_rules_file(char buffer[SHARED_PATH_SIZE]);
