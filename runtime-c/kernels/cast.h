/*
 * out[i] = x[i] in another element type, for i < count: partita_cast_FROM_TO. Exact. A float is truncated towards
 * zero to signed 64 bits (unsigned only for u64 from 2^63 on), saturating, with 0 for NaN, and then wraps. Integers
 * wrap. To f32 and f64 rounds half to even; to bool is x != 0. In and out don't overlap; but for i32 to f32, which ends
 * products of integers, they may be the same. Cores divide them into parts of 8 elements.
 */
#ifndef PARTITA_CAST_H
#define PARTITA_CAST_H

#include "unary.h"

#define PARTITA_DECLARE_CASTS(FROM)                                                                                    \
    partita_kernel partita_cast_##FROM##_i8, partita_cast_##FROM##_u8, partita_cast_##FROM##_i16,                      \
        partita_cast_##FROM##_u16, partita_cast_##FROM##_i32, partita_cast_##FROM##_u32, partita_cast_##FROM##_i64,    \
        partita_cast_##FROM##_u64, partita_cast_##FROM##_f32, partita_cast_##FROM##_f64, partita_cast_##FROM##_bool
PARTITA_DECLARE_CASTS(i8);
PARTITA_DECLARE_CASTS(u8);
PARTITA_DECLARE_CASTS(i16);
PARTITA_DECLARE_CASTS(u16);
PARTITA_DECLARE_CASTS(i32);
PARTITA_DECLARE_CASTS(u32);
PARTITA_DECLARE_CASTS(i64);
PARTITA_DECLARE_CASTS(u64);
PARTITA_DECLARE_CASTS(f32);
PARTITA_DECLARE_CASTS(f64);
PARTITA_DECLARE_CASTS(bool);

/* 16-bit floats are computed in f32 and rounded half to even; NaN stays NaN. */
partita_kernel partita_cast_f16_f32, partita_cast_bf16_f32, partita_cast_f32_f16, partita_cast_f32_bf16;
partita_kernel partita_cast_f16_f64, partita_cast_bf16_f64, partita_cast_f64_f16, partita_cast_f64_bf16;

/* Two elements per byte, the first in the lower half; the last byte of an odd count has one. Integers wrap. */
partita_kernel partita_cast_i4_i8, partita_cast_u4_u8, partita_cast_i8_i4, partita_cast_u8_u4;

#endif
