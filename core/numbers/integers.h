// Quotients and divisors of integers, and which of two is smaller.
#pragma once
#include <stdint.h>

// Rounded down; b > 0.
static inline int64_t floor_quotient(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static inline int64_t floor_remainder(int64_t a, int64_t b)
{
    return a % b + (a % b < 0 ? b : 0);
}

// Not negative; of 0 and a number that number.
static inline int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t smaller_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t larger_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}
