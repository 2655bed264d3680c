/*
 * The operations of integer-only networks, as defined by ir's IntegerNetwork; all exact. They compute in
 * 64 bits, or in 32 where values allow it. Types are those of x and out; the result wraps to its type.
 */
#ifndef PARTITA_INTEGER_NETWORK_H
#define PARTITA_INTEGER_NETWORK_H

#include "kernel.h"

/*
 * out[i...] = clamp((x[i...] multiplier[i...] + addend[i...] + 2^shift / 2) >> shift, low, high). x and out are
 * contiguous and may be the same tile if they have the same type. Cores divide them into parts of 8 elements.
 */
struct partita_requantize {
    const void *x;
    const int32_t *multiplier;
    const int32_t *addend;
    void *out;
    int32_t extents[PARTITA_AXES];
    int32_t multiplier_strides[PARTITA_AXES];
    int32_t addend_strides[PARTITA_AXES];
    int64_t low;
    int64_t high;
    int32_t shift; /* from 0 to 62 */
};

/* partita_requantize_X_OUT */
partita_kernel partita_requantize_i8_i8, partita_requantize_i8_u8, partita_requantize_i8_i32, partita_requantize_u8_i8,
    partita_requantize_u8_u8, partita_requantize_u8_i32, partita_requantize_i32_i8, partita_requantize_i32_u8,
    partita_requantize_i32_i32;

/*
 * For each row of x [rows, size] with t = x - max, z = floor(-t / log2), p = t + z log2, y = (a (p + b)^2 + c) >> z:
 * clamp(floor(y (levels - 1) / sum y), 0, levels - 1). Out may be x. Cores take whole rows.
 */
struct partita_integer_softmax {
    const void *x; /* [rows, size] */
    void *out;     /* [rows, size] */
    int32_t rows;
    int32_t size;
    int64_t a;
    int64_t b;
    int64_t c;
    int64_t log2;   /* 1 or more */
    int64_t levels; /* from 2 to 2^31 */
    /* Whether x has bytes, a and c are 0 or more, and a (|b| + log2)^2 + c is below 2^31 / levels and 2^31 / size. */
    int32_t is_small;
};

partita_kernel partita_integer_softmax_i8, partita_integer_softmax_u8, partita_integer_softmax_i32;

/*
 * The y of an integer_softmax of bytes for each t from 0 to -255: out[-t]. a (|b| + log2)^2 + c < 2^31. Cores divide them
 * into parts of 8.
 */
struct partita_softmax_weights {
    uint32_t *out; /* [256] */
    int32_t a;     /* 0 or more, as c */
    int32_t b;
    int32_t c;
    int32_t log2; /* 1 or more */
};

partita_kernel partita_softmax_weights_i32;

/*
 * For each row of x [rows, size] with y = weights[max - x]: floor(y (levels - 1) / sum y), or 0 if the sum is 0; the sum is
 * below 2^31, and y levels are below 2^30. Out may be x. Cores take whole rows.
 */
struct partita_weighted_softmax {
    const void *x;           /* [rows, size] */
    const uint32_t *weights; /* [256] */
    void *out;               /* [rows, size] */
    int32_t rows;
    int32_t size;
    int32_t levels; /* from 2 to 256 */
};

partita_kernel partita_weighted_softmax_i8, partita_weighted_softmax_u8;

/*
 * For each row with s = (max - x + 2^unit / 2) >> unit: floor((levels - 1) levels / sum(levels >> s)) >> s. With a
 * group > 0, maximum and sum run over groups of `group` elements, and levels / 2 - 1 replaces levels - 1. Out may be
 * x. Cores take whole rows.
 */
struct partita_power_softmax {
    const void *x; /* [rows, size] */
    void *out;     /* [rows, size] */
    int32_t rows;
    int32_t size;
    int32_t unit;  /* log2(levels) - log2(log2(levels)) */
    int32_t group; /* 0 for none */
    int64_t levels;
};

partita_kernel partita_power_softmax_i8, partita_power_softmax_u8, partita_power_softmax_i32;

/*
 * For each row clamp(((d weight) / s + bias) >> shift, low, high) with s = isqrt(floor(sum d^2 / size) + 1), where d
 * is x minus the mean, truncated towards zero, for a layer norm, and x for an RMS norm. Out may be x if there are at
 * least as many rows as cores, and otherwise doesn't overlap it. Cores divide the rows, or each row if there are
 * fewer rows.
 */
struct partita_integer_norm {
    const void *x;         /* [rows, size] */
    const int32_t *weight; /* [size], or one with a stride of 0 */
    const int32_t *bias;   /* [size], one with a stride of 0, or null */
    void *out;             /* [rows, size] */
    int32_t rows;
    int32_t size;
    int32_t weight_stride;
    int32_t bias_stride;
    int64_t low;
    int64_t high;
    int32_t shift; /* from 0 to 62 */
};

partita_kernel partita_integer_layer_norm_i8, partita_integer_layer_norm_u8, partita_integer_layer_norm_i32,
    partita_integer_rms_norm_i8, partita_integer_rms_norm_u8, partita_integer_rms_norm_i32;

/* x ((one + sign(x) (one - (min(|x|, -b) + b)^2)) >> 1). Out may be x. Cores take parts of 8 elements. */
struct partita_integer_gelu {
    const void *x; /* [count] */
    void *out;     /* [count] */
    int64_t b;
    int64_t one;
    int32_t count;
};

partita_kernel partita_integer_gelu_i8, partita_integer_gelu_u8, partita_integer_gelu_i32;

/* table[x - least] for the least number of x's type. Out may be x if it has bytes. Cores take parts of 8 elements. */
struct partita_lookup {
    const void *x;     /* [count] */
    const void *table; /* [256] */
    void *out;         /* [count] */
    int32_t count;
};

/* partita_lookup_X_OUT */
partita_kernel partita_lookup_i8_i8, partita_lookup_i8_u8, partita_lookup_i8_f32, partita_lookup_u8_i8,
    partita_lookup_u8_u8, partita_lookup_u8_f32;

#endif
