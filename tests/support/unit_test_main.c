// The main of test programs that have none of their own.
#include "tests/support/check.h"

int main(void)
{
    return tests_run();
}
