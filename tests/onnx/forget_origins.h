// No node of the graph is as it was in the model: all are written as a rewrite would.
#pragma once
#include "onnx/convert/imported_model.h"

static inline void forget_origins(struct imported_model *m)
{
    for (size_t i = 0; i < m->origins.list.count; i++)
        m->origins.list.items[i].node = NO_ORIGIN;
}
