/*
 * Conversions between floats and quantised integers. Scale (f32) and zero point (of the integer type) broadcast by
 * the same strides: one for all elements, one for each index of an axis, or one for each block of an axis that is
 * split in two. x and out are contiguous and don't overlap. Exact. Cores take parts of 8 elements.
 *
 *   quantize:   saturate(round(x / scale) + zero), half to even; NaN gives the smallest number of the type
 *   dequantize: (x - zero) scale
 */
#ifndef PARTITA_QUANTIZE_H
#define PARTITA_QUANTIZE_H

#include "kernel.h"

struct partita_quantize {
    const void *x;
    const float *scale;
    const void *zero;
    void *out;
    int32_t extents[PARTITA_AXES];
    int32_t parameter_strides[PARTITA_AXES];
};

partita_kernel partita_quantize_f32_i8, partita_quantize_f32_u8, partita_quantize_f32_i16, partita_quantize_f32_u16,
    partita_quantize_f32_i32;
partita_kernel partita_dequantize_i8_f32, partita_dequantize_u8_f32, partita_dequantize_i16_f32,
    partita_dequantize_u16_f32, partita_dequantize_i32_f32;

#endif
