// Sums of products.
#include "tuning/model/observation.h"

#include <math.h>

void correlation_add(struct correlation *c, double x, double y)
{
    c->n++;
    c->x += x;
    c->y += y;
    c->xx += x * x;
    c->yy += y * y;
    c->xy += x * y;
}

double correlation_r(const struct correlation *c)
{
    double of_x = c->xx - c->x * c->x / c->n, of_y = c->yy - c->y * c->y / c->n;
    return of_x > 0 && of_y > 0 ? (c->xy - c->x * c->y / c->n) / sqrt(of_x * of_y) : 0;
}
