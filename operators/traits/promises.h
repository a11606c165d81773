// Promises of an operator's table beside its definition, and searches and proofs rely on.
#pragma once
#include "operators/operator.h"

// The first promise that is not kept by an application that is well-typed; NULL: all are.
const char *operator_broken_promise(const struct operator_call *call, struct arena *scratch);
