// Epilogues as a library of fused kernels knows them: a chain of curves and of operations with another tensor, each
// applied to the result so far.
#pragma once
#include "backends/planning/plan.h"

enum postop_kind {
    POSTOP_LINEAR,   // alpha * x + beta
    POSTOP_RELU,
    POSTOP_CLIP,   // between alpha and beta
    POSTOP_SIGMOID,
    POSTOP_TANH,
    POSTOP_GELU_ERF,
    POSTOP_GELU_TANH,
    POSTOP_SILU,
    POSTOP_HARDSWISH,
    POSTOP_ABS,
    POSTOP_SQRT,
    POSTOP_EXP,
    POSTOP_ADD,   // those from here on have an operand
    POSTOP_SUB,
    POSTOP_MUL,
    POSTOP_DIV,
    POSTOP_MAX,
    POSTOP_MIN,
};
enum postop_operand { OPERAND_NONE, OPERAND_SCALAR, OPERAND_CHANNEL, OPERAND_FULL };
struct postop {
    enum postop_kind kind;
    float alpha, beta;
    enum postop_operand operand;
    int operand_number;   // of the epilogue's loop
};
#define POSTOPS_MAX 12
struct postops {
    int n;
    struct postop items[POSTOPS_MAX];
    int channel_axis;   // of the result: what OPERAND_CHANNEL runs along
};

// Reads the chain off the epilogue's code. False when it is no such chain, or an operand is neither one number, nor one
// dense vector along the channel axis, nor of the result's shape and strides (or dense in the order of its axes, where
// the result is part of something larger), or not of its element type.
bool postops_from_epilogue(const struct loop *epilogue, int channel_axis, struct postops *ret_ops);
