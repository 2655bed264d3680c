/* e^x inline, for loops in which its constants stay in registers. u and bounds are those of float_functions.h. */
#ifndef PARTITA_EXPONENTIAL_H
#define PARTITA_EXPONENTIAL_H

#include "float_functions.h"
#include "kernel.h"

static const float PARTITA_LOG2_E = 1.44269504089f;
/* ln 2 in two parts; the upper one has 16 digits, so that its products with exponents are exact. */
static const float PARTITA_LN_2_UPPER = 0x1.62e4p-1f;
static const float PARTITA_LN_2_LOWER = 1.42860682031e-6f;

/* Added to a float below 2^22, leaves no fractional digits, so the addition rounds, half to even. */
static const float PARTITA_ROUNDER = 0x1.8p23f;

/* The most numbers whose exponentials are computed side by side. */
enum { PARTITA_EXPONENTIALS = 4 };

/*
 * Replaces each of `count` numbers x = exponent ln 2 + r, |x| < 2^21, by e^r - 1. The product with the upper part and its
 * difference are exact, so r is off by 0.25 u; the square's term by 3 u of at most 0.06, and the sum by 0.25 u of a float
 * below 0.5.
 *
 * The polynomial is (e^r - 1 - r) / r^2 for |r| <= ln 2 / 2: Chebyshev, relative error 1.4e-7, which is 0.2 u of e^r.
 */
PARTITA_INLINE void partita_reduced_exponentials(float *x, int32_t *exponents, int32_t count)
{
    const float coefficients[] = {0.00836377387441f, 0.0416665501103f, 0.166665733819f, 0.5f};
    float sums[PARTITA_EXPONENTIALS];
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sums[i] = x[i] * PARTITA_LOG2_E + PARTITA_ROUNDER;
        exponents[i] = (int32_t)(partita_bits(sums[i]) - partita_bits(PARTITA_ROUNDER));
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        sums[i] -= PARTITA_ROUNDER;
        x[i] -= sums[i] * PARTITA_LN_2_UPPER;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] -= sums[i] * PARTITA_LN_2_LOWER;
        sums[i] = 0.0013926926614f;
    }
    PARTITA_UNROLLED (int32_t degree = 0; degree < 4; degree++) {
        PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
            sums[i] = sums[i] * x[i] + coefficients[degree];
        }
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] += x[i] * x[i] * sums[i];
    }
}

static inline float partita_reduced_exponential(float x, int32_t *exponent)
{
    partita_reduced_exponentials(&x, exponent, 1);
    return x;
}

/*
 * e^x for x <= 0 or NaN, of `count` numbers, a constant, in place: 3 u. Each step is taken for all numbers before the next,
 * so that none waits for the last.
 */
PARTITA_INLINE void partita_exp_of_negatives(float *x, int32_t count)
{
    float y[PARTITA_EXPONENTIALS];
    int32_t exponents[PARTITA_EXPONENTIALS];
    int32_t are_normal = 1;
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        y[i] = x[i];
        are_normal &= y[i] >= -86.0f;
    }
    if (!are_normal) {
        for (int32_t i = 0; i < count; i++) {
            x[i] = partita_exp(x[i]);
        }
        return;
    }
    partita_reduced_exponentials(y, exponents, count);
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        x[i] = partita_from_bits(partita_bits(1.0f + y[i]) + ((uint32_t)exponents[i] << 23));
    }
}

static inline float partita_exp_of_negative(float x)
{
    partita_exp_of_negatives(&x, 1);
    return x;
}

#endif
