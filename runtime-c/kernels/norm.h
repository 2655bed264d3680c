/*
 * Normalises each row of x [rows, size], then multiplies by a scale and adds a bias, each [size] or null. Out may be x
 * if there are at least as many rows as cores, and otherwise doesn't overlap it.
 *
 *   layer: (x - mean) / sqrt(variance + epsilon)       rms: x / sqrt(mean of squares + epsilon)
 *
 * Cores take whole rows; with fewer rows than cores, each core takes a part of every row and computes the
 * row's statistics itself. Sums have eight parts, of the elements 0, 8, 16 ..., 1, 9, 17 ... and so on, added as
 * ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), and a sum of the size % 8 last elements.
 *
 * For a few long rows, cores compute these parts together, with the same results: norm_sums gives those of the elements,
 * norm_squares those of squares, of x - mean if the sums of elements are given, and norm_by_sums the rows, or
 * rms_norm_quantize their levels: saturate(round(row / step) + zero), half to even; NaN gives the least one.
 *
 * Within (size / 8 + 17) u |x| / root |scale| for rms: sums of at most size / 8 + 8 additions of positive terms. For
 * layer, within (size / 8 + 17) u (|x - mean| + mean of |x|) / root |scale|, as the mean's error shifts all elements; that
 * it changes the variance is of second order. And u of the result for the bias.
 */
#ifndef PARTITA_NORM_H
#define PARTITA_NORM_H

#include "kernel.h"

struct partita_norm {
    const float *x;     /* [rows, size] */
    const float *scale; /* [size] or null */
    const float *bias;  /* [size] or null */
    float *out;         /* [rows, size] */
    int32_t rows;
    int32_t size;
    float epsilon;
};

partita_kernel partita_layer_norm_f32, partita_rms_norm_f32;

/* The parts of sums. */
enum { PARTITA_NORM_PARTS = 8 };

struct partita_norm_sums {
    const float *x;        /* [rows, size] */
    const float *elements; /* [rows, 8], the parts of the sums of elements; null to sum elements, or squares without a mean */
    float *out;            /* [rows, 8] */
    int32_t rows;
    int32_t size;
};

partita_kernel partita_norm_sums_f32, partita_norm_squares_f32;

struct partita_norm_by_sums {
    const float *x;        /* [rows, size] */
    const float *elements; /* [rows, 8], for a layer norm; null for rms */
    const float *squares;  /* [rows, 8] */
    const float *scale;    /* [size] or null */
    const float *bias;     /* [size] or null */
    float *out;            /* [rows, size], doesn't overlap x */
    int32_t rows;
    int32_t size;
    float epsilon;
};

partita_kernel partita_norm_by_sums_f32;

/* norm_by_sums of rms with a scale, and the levels of its results: the same as those of quantize. */
struct partita_norm_quantize {
    const float *x;       /* [rows, size] */
    const float *squares; /* [rows, 8] */
    const float *scale;   /* [size] */
    const float *step;    /* of all levels */
    const void *zero;     /* of the levels' type */
    void *out;            /* [rows, size] */
    int32_t rows;
    int32_t size;
    float epsilon;
};

partita_kernel partita_rms_norm_quantize_f32_i8, partita_rms_norm_quantize_f32_u8;

#endif
