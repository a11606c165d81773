// The whole job of taso-opt: from a model file to a faster equivalent one.
#pragma once
#include "optimizer/job/options.h"

struct report;

// Prints nothing; `print` is called once with the finished report, which is gone afterwards. What fails the
// check is not written: there is another result, or the original.
bool optimize_model(const struct optimize_options *options, void (*print)(void *context, const struct report *r),
                    void *context, struct error *error);
