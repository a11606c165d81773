// The activations that convolutions, products and poolings may have, by table.
#include "operators/elementwise/fused_activation.h"

const char *const activation_names[] = {"none", "relu", NULL};

expr activation_apply(struct definition *d, enum activation activation, expr value)
{
    return activation == ACTIVATION_RELU ? scalar_unary(d, FN_RELU, value) : value;
}
