// Which substitutions a program uses when it is not told.
#ifndef OPTIMIZER_STANDARD_RULES_H
#define OPTIMIZER_STANDARD_RULES_H

// Beside the sources while they are there, else where they were installed.
const char *standard_rules_file(void);
#endif
