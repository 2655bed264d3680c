/*
 * Functions of f64, for the few f64 values in models. Devices compute f64 in software and have no C library.
 *
 * u is 2^-53, half the distance of neighbouring doubles at 1. A bound of n u holds for the relative error where the
 * result is normal. NaN gives NaN.
 */
#ifndef PARTITA_DOUBLE_FUNCTIONS_H
#define PARTITA_DOUBLE_FUNCTIONS_H

#include <stdint.h>

#define PARTITA_DOUBLE_INFINITY __builtin_inf()
#define PARTITA_DOUBLE_NAN __builtin_nan("")

static inline uint64_t partita_double_bits(double x)
{
    union {
        double value;
        uint64_t bits;
    } both = {.value = x};
    return both.bits;
}

static inline double partita_double_from_bits(uint64_t bits)
{
    union {
        uint64_t bits;
        double value;
    } both = {.bits = bits};
    return both.value;
}

static inline double partita_double_absolute(double x)
{
    return partita_double_from_bits(partita_double_bits(x) & 0x7fffffffffffffffu);
}

static inline double partita_double_with_sign_of(double magnitude, double sign)
{
    return partita_double_from_bits((partita_double_bits(magnitude) & 0x7fffffffffffffffu) |
                                    (partita_double_bits(sign) & 0x8000000000000000u));
}

/* NaN if either is; 0 is larger than -0. */
static inline double partita_double_maximum(double x, double y)
{
    if (x != x || y != y) {
        return PARTITA_DOUBLE_NAN;
    }
    if (x == y) {
        return partita_double_bits(x) >> 63 != 0 ? y : x;
    }
    return x > y ? x : y;
}

static inline double partita_double_minimum(double x, double y)
{
    if (x != x || y != y) {
        return PARTITA_DOUBLE_NAN;
    }
    if (x == y) {
        return partita_double_bits(x) >> 63 != 0 ? x : y;
    }
    return x < y ? x : y;
}

double partita_double_floor(double x);                      /* exact */
double partita_double_ceil(double x);                       /* exact */
double partita_double_round(double x);                      /* exact, to the nearest integer, half to even */
double partita_double_sign(double x);                       /* exact: -1, 1, or x if that's 0 or NaN */
double partita_double_sqrt(double x);                       /* exact */
double partita_double_exp(double x);                        /* 4 u */
double partita_double_log(double x);                        /* 6 u */
double partita_double_remainder(double x, double y);        /* exact: x - n y, with the sign of x */
double partita_double_modulo(double x, double y);           /* exact, or rounded once: with the sign of y */
double partita_double_power(double base, double exponent);  /* 4 (|exponent| + 60) u; 1 / 2^k powers of squares exact */

/* Converts to f32; the last digit records whether anything was truncated, so rounding again rounds only once. */
float partita_double_to_odd(double x);

#endif
