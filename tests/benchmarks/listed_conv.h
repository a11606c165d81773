// Convolutions as tests/cuda/convolutions.txt lists them, a line each.
#pragma once
#include "core/text/text.h"

struct listed_conv {
    long n, c, h, w, filters, channels_of_group, window[2], out[2], stride[2], dilation[2], begin[2], end[2], groups;
};
bool listed_conv_read(const char *line, struct listed_conv *ret_conv);
// A graph of it with a bias and a relu.
void listed_conv_print(struct text *text, const struct listed_conv *c);
