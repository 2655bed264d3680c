/*
 * Along one axis of x [outer, extent, inner]: lines of `extent` elements that are `inner` apart. Out may be x. Cores
 * take whole lines.
 *
 *   softmax:     e^(x - max) / sum e^(x - max)
 *   log softmax: x - max - ln sum e^(x - max)
 *
 * A line of nothing but -infinity gives NaN, as the formula says.
 *
 * Softmax is within (extent + 12) u: 3 u of the exponential and |x - max| u of its argument's rounding, for numerator
 * and each term of the sum, extent u of the sum, a division and a product; relative, for |x - max| <= 2, and |x - max|
 * u more below. The logarithm is within (extent + 16) u + 2 |x - max| u absolute.
 */
#ifndef PARTITA_SOFTMAX_H
#define PARTITA_SOFTMAX_H

#include "kernel.h"

struct partita_softmax {
    const float *x; /* [outer, extent, inner] */
    float *out;     /* [outer, extent, inner] */
    int32_t outer;
    int32_t extent;
    int32_t inner;
};

partita_kernel partita_softmax_f32, partita_log_softmax_f32;

#endif
