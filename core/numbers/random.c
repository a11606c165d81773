// splitmix64 (Steele, Lea and Flood 2014) spreads a seed over the state of xoshiro256** (Blackman and Vigna 2018).
// Only exact or correctly rounded operations are used, the logarithm included, and the build turns contraction off for
// this layer: a seed gives the same numbers with every compiler, C library and machine.
#include "core/numbers/random.h"
#include <assert.h>
#include <math.h>

__extension__ typedef unsigned __int128 uint128;

static uint64_t finalize(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t next_of_splitmix(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u;
    return finalize(*state);
}

static uint64_t rotate_left(uint64_t x, unsigned n)
{
    return (x << n) | (x >> (64 - n));
}

struct random random_seed(uint64_t seed)
{
    struct random r;
    for (int i = 0; i < 4; i++)
        r.s[i] = next_of_splitmix(&seed);
    return r;
}

uint64_t random_next(struct random *r)
{
    uint64_t *s = r->s, result = rotate_left(s[1] * 5, 7) * 9, shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

// The high half of a 64 by 64 bit product; the few low halves that would favour some results are drawn again, and
// nothing is divided by to see that others do not (Lemire 2019).
uint64_t random_below(struct random *r, uint64_t bound)
{
    assert(bound > 0);
    uint128 product = (uint128)random_next(r) * bound;
    if ((uint64_t)product < bound)
        for (uint64_t unfair = -bound % bound; (uint64_t)product < unfair;)
            product = (uint128)random_next(r) * bound;
    return (uint64_t)(product >> 64);
}

double random_unit(struct random *r)
{
    return (double)(random_next(r) >> 11) * 0x1p-53;
}

// ln x = e ln 2 + 2 artanh(t) with x = m 2^e, m in [1/sqrt 2, sqrt 2), t = (m - 1) / (m + 1), |t| < 0.1716.
static double natural_logarithm(double x)
{
    const double half_root = 0.70710678118654752440, ln2 = 0.69314718055994530942;
    int exponent;
    double m = frexp(x, &exponent);
    if (m < half_root) {
        m *= 2;
        exponent--;
    }
    double t = (m - 1) / (m + 1), square = t * t, sum = 0;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return exponent * ln2 + 2 * t * sum;
}

// Marsaglia's polar method; the second number of each pair is not kept, so that the state stays the stream's only one.
double random_normal(struct random *r)
{
    double u, v, square;
    do {
        u = 2 * random_unit(r) - 1;
        v = 2 * random_unit(r) - 1;
        square = u * u + v * v;
    } while (square >= 1 || square == 0);
    return u * sqrt(-2 * natural_logarithm(square) / square);
}

uint64_t random_keyed(uint64_t key, uint64_t value)
{
    uint64_t inner = finalize(value + 0x9E3779B97F4A7C15u) ^ finalize(key + 0xD1B54A32D192ED03u);
    return finalize(inner + key * 0x8CB92BA72F3D8DD7u);
}
