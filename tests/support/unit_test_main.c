// The main of test programs that have none of their own: all tests, or those of a name (`*` is any part of one).
#include "tests/support/check.h"

int main(int n_arguments, char **arguments)
{
    return tests_run(n_arguments > 1 ? arguments[1] : "*");
}
