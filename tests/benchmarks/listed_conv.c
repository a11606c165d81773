// Convolutions as tests/cuda/convolutions.txt lists them, a line each.
#include "tests/benchmarks/listed_conv.h"
#include <stdio.h>

bool listed_conv_read(const char *line, struct listed_conv *c)
{
    long images, filters;
    return sscanf(line,
                  "%ldx%ldx%ldx%ld %ldx%ldx%ldx%ld %ldx%ldx%ldx%ld stride %ld,%ld dilation %ld,%ld begin %ld,%ld end "
                  "%ld,%ld groups %ld",
                  &c->n, &c->c, &c->h, &c->w, &c->filters, &c->channels_of_group, &c->window[0], &c->window[1], &images,
                  &filters, &c->out[0], &c->out[1], &c->stride[0], &c->stride[1], &c->dilation[0], &c->dilation[1],
                  &c->begin[0], &c->begin[1], &c->end[0], &c->end[1], &c->groups) == 21;
}

void listed_conv_print(struct text *text, const struct listed_conv *c)
{
    text_printf(text,
                "x = f32 %ld %ld %ld %ld; w = weight f32 %ld %ld %ld %ld; v = weight f32 %ld; r = reshape :shape %ld 1 "
                "1 v; b = broadcast :shape %ld %ld %ld %ld r; c = conv :stride %ld %ld :pad %ld %ld %ld %ld :dilation "
                "%ld %ld :group %ld x w; a = ewadd c b; z = relu a",
                c->n, c->c, c->h, c->w, c->filters, c->channels_of_group, c->window[0], c->window[1], c->filters,
                c->filters, c->n, c->filters, c->out[0], c->out[1], c->stride[0], c->stride[1], c->begin[0],
                c->begin[1], c->end[0], c->end[1], c->dilation[0], c->dilation[1], c->groups);
}
