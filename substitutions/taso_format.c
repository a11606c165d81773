// The operators that TASO's rule files and this program have: one table for who reads these files and who writes them.
#include "substitutions/taso_format.h"

static const struct {
    enum taso_operator number;
    enum operator_id id;
} counterparts[] = {
    {TASO_CONV, OP_CONV},
    {TASO_POOL_MAX, OP_POOLMAX},
    {TASO_POOL_AVG, OP_POOLAVG},
    {TASO_RELU, OP_RELU},
    {TASO_SIGMOID, OP_SIGMOID},
    {TASO_TANH, OP_TANH},
    {TASO_CONCAT, OP_CONCAT},
    {TASO_SPLIT, OP_SPLIT},
    {TASO_TRANSPOSE, OP_TRANSPOSE},
    {TASO_ADD, OP_EWADD},
    {TASO_MUL, OP_EWMUL},
    {TASO_MATMUL, OP_MATMUL},
    {TASO_SCALE, OP_SMUL},
    {TASO_ENLARGE, OP_ENLARGE},
    {TASO_MERGE, OP_MERGE},
    {TASO_CONSTANT_IMM, OP_IMATMUL},
    {TASO_CONSTANT_ICONV, OP_ICONV},
    {TASO_CONSTANT_ONE, OP_IEWMUL},
    {TASO_CONSTANT_POOL, OP_CPOOL},
};
enum { N_COUNTERPARTS = sizeof counterparts / sizeof *counterparts };

const struct operator* taso_format_operator(int64_t number)
{
    for (int i = 0; i < N_COUNTERPARTS; i++)
        if (counterparts[i].number == number)
            return operators[counterparts[i].id];
    return NULL;
}

int taso_format_number(const struct operator* op)
{
    for (int i = 0; i < N_COUNTERPARTS; i++)
        if (counterparts[i].id == op->id)
            return (int)counterparts[i].number;
    return -1;
}
