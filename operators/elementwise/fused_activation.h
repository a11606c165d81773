// The activation that convolution, matrix product and pooling can apply to their result.
#pragma once
#include "expressions/definition.h"

enum activation { ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_COUNT };
extern const char *const activation_names[];   // "none", "relu", NULL

#define ACTIVATION_ATTRIBUTE                                                                                           \
    {                                                                                                                  \
        .name = "act", .kind = ATTRIBUTE_CHOICE, .role = ROLE_ACTIVATION, .choices = activation_names                  \
    }

expr activation_apply(struct definition *d, enum activation activation, expr value);
