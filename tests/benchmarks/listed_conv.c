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
                "(graph (let x (input 0) (f32 %ld %ld %ld %ld)) (let w (weight 0) (f32 %ld %ld %ld %ld))"
                "(let v (weight 1) (f32 %ld)) (let r (reshape :shape %ld 1 1 v))"
                "(let b (broadcast :shape %ld %ld %ld %ld r))"
                "(let c (conv :stride %ld %ld :pad %ld %ld %ld %ld :dilation %ld %ld :group %ld x w))"
                "(let a (ewadd c b)) (let z (relu a)) (output z))",
                c->n, c->c, c->h, c->w, c->filters, c->channels_of_group, c->window[0], c->window[1], c->filters,
                c->filters, c->n, c->filters, c->out[0], c->out[1], c->stride[0], c->stride[1], c->begin[0],
                c->begin[1], c->end[0], c->end[1], c->dilation[0], c->dilation[1], c->groups);
}
