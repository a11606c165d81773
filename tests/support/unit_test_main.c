// The main of test programs that have none of their own: all tests, or those of a name (`*` is any part of one).
#include "tests/support/check.h"

int main(int n_arguments, char **arguments)
{
    if (n_arguments > 1)
        cmocka_set_test_filter(arguments[1]);
    return tests_run();
}
