// The numbers by which TASO's published rule files (protobuf, `graph_subst.pb`) name operators and their parameters:
// the enumerations OpType, PMParameter, PaddingMode and ActiMode of that project, as far as its rules use them.
#pragma once
#include "operators/operator.h"

enum taso_operator {
    TASO_CONV = 3,
    TASO_POOL_MAX = 6,
    TASO_POOL_AVG = 7,
    TASO_RELU = 8,
    TASO_SIGMOID = 9,
    TASO_TANH = 10,
    TASO_CONCAT = 12,
    TASO_SPLIT = 13,
    TASO_TRANSPOSE = 15,
    TASO_ADD = 16,
    TASO_MUL = 17,
    TASO_MATMUL = 18,
    TASO_SCALE = 19,
    TASO_ENLARGE = 20,
    TASO_MERGE = 21,
    TASO_CONSTANT_IMM = 22,
    TASO_CONSTANT_ICONV = 23,
    TASO_CONSTANT_ONE = 24,
    TASO_CONSTANT_POOL = 25,
};
enum taso_parameter {
    PARAMETER_OP_TYPE = 0,
    PARAMETER_NUM_INPUTS = 1,
    PARAMETER_NUM_OUTPUTS = 2,
    PARAMETER_KERNEL_H = 4,
    PARAMETER_KERNEL_W = 5,
    PARAMETER_STRIDE_H = 6,
    PARAMETER_STRIDE_W = 7,
    PARAMETER_PAD = 8,
    PARAMETER_ACTIVATION = 9,
    PARAMETER_NUM_DIM = 10,
    PARAMETER_AXIS = 11,
    PARAMETER_PERM = 12,
    PARAMETER_SHUFFLE = 13,
    PARAMETER_MERGE_COUNT = 14,
};
enum { PAD_SAME = 0, PAD_VALID = 1, PAD_OTHER = -1, ACTIVATION_RELU_OF_TASO = 2 };

const struct operator* taso_format_operator(int64_t number);   // NULL: it has no counterpart here
int taso_format_number(const struct operator* op);             // -1: it has none there
