/*
 * Functions of one f32. They use no C library, since devices have none and results must be the same everywhere.
 *
 * u is 2^-24, half the distance of neighbouring floats at 1. A bound of n u holds for the relative error against the
 * exact function where the result is normal, and becomes n 2^-150 absolute where it's subnormal. Each bound is the
 * error of the approximating polynomial plus that of each rounding, derived beside the code;
 * FloatFunctionsTest checks it. NaN gives NaN.
 */
#ifndef PARTITA_FLOAT_FUNCTIONS_H
#define PARTITA_FLOAT_FUNCTIONS_H

#include <stdint.h>

#define PARTITA_INFINITY __builtin_inff()
#define PARTITA_NAN __builtin_nanf("")

static inline uint32_t partita_bits(float x)
{
    union {
        float value;
        uint32_t bits;
    } both = {.value = x};
    return both.bits;
}

static inline float partita_from_bits(uint32_t bits)
{
    union {
        uint32_t bits;
        float value;
    } both = {.bits = bits};
    return both.value;
}

static inline float partita_absolute(float x)
{
    return partita_from_bits(partita_bits(x) & 0x7fffffffu);
}

static inline float partita_with_sign_of(float magnitude, float sign)
{
    return partita_from_bits((partita_bits(magnitude) & 0x7fffffffu) | (partita_bits(sign) & 0x80000000u));
}

/* NaN if either is; 0 is larger than -0. */
static inline float partita_maximum(float x, float y)
{
    if (x != x || y != y) {
        return PARTITA_NAN;
    }
    if (x == y) {
        return (partita_bits(x) & 0x80000000u) != 0 ? y : x;
    }
    return x > y ? x : y;
}

static inline float partita_minimum(float x, float y)
{
    if (x != x || y != y) {
        return PARTITA_NAN;
    }
    if (x == y) {
        return (partita_bits(x) & 0x80000000u) != 0 ? x : y;
    }
    return x < y ? x : y;
}

/* Exact; a single instruction on each target with -fno-math-errno. */
static inline float partita_sqrt(float x)
{
    return __builtin_sqrtf(x);
}

float partita_floor(float x);                    /* exact */
float partita_ceil(float x);                     /* exact */
float partita_round(float x);                    /* exact, to the nearest integer, half to even */
float partita_sign(float x);                     /* exact: -1, 1, or x if that's 0 or NaN */
float partita_remainder(float x, float y);       /* exact: x - n y, with the sign of x */
float partita_modulo(float x, float y);          /* exact, or rounded once: with the sign of y */
float partita_exp(float x);                      /* 3 u */
float partita_exp_minus_1(float x);              /* 5 u */
float partita_sinh(float x);                     /* 9 u */
float partita_log(float x);                      /* 4 u */
float partita_log_1_plus(float x);               /* 6 u, for x >= 0 */
float partita_sin(float x);                      /* 6 u, and 2^-60 absolute */
float partita_cos(float x);                      /* 6 u, and 2^-60 absolute */
float partita_tan(float x);                      /* 14 u, and 2^-59 (1 + result^2) absolute */
float partita_asin(float x);                     /* 6 u */
float partita_acos(float x);                     /* 8 u */
float partita_atan(float x);                     /* 5 u */
float partita_tanh(float x);                     /* 9 u */
float partita_asinh(float x);                    /* 14 u */
float partita_acosh(float x);                    /* 14 u, for x >= 1; NaN below */
float partita_atanh(float x);                    /* 12 u */
float partita_erf(float x);                      /* 5 u */
float partita_erf_complement(float x);           /* 1 - erf(x), for x >= 1 only: 16 u */
float partita_sigmoid(float x);                  /* 6 u */
float partita_softplus(float x);                 /* 10 u */
float partita_gelu(float x);                     /* (40 + 2 x^2) u */
float partita_gelu_tanh(float x);                /* (8 + 8 |y|) u, y being the argument of tanh */
float partita_silu(float x);                     /* 7 u */
float partita_hard_swish(float x);               /* 3 |x| u absolute */
float partita_quick_gelu(float x);               /* (7 + 3 |x|) u */
float partita_power(float base, float exponent); /* (16 + 6 |exponent log(base)|) u */

#endif
