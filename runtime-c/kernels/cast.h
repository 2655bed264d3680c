/*
 * out[i] = x[i] in another element type, for i < count: partita_cast_FROM_TO. Exact. A float is cut towards zero to 64
 * bits, where it saturates and NaN is 0, and then wraps; integers wrap; to f32 rounds half to even; to bool is
 * non-zero. In and out don't overlap. Cores take parts of 8 elements.
 */
#ifndef PARTITA_CAST_H
#define PARTITA_CAST_H

#include "unary.h"

#define PARTITA_DECLARE_CASTS(FROM)                                                                                    \
    partita_kernel partita_cast_##FROM##_i8, partita_cast_##FROM##_u8, partita_cast_##FROM##_i16,                      \
        partita_cast_##FROM##_u16, partita_cast_##FROM##_i32, partita_cast_##FROM##_u32, partita_cast_##FROM##_i64,    \
        partita_cast_##FROM##_f32, partita_cast_##FROM##_bool
PARTITA_DECLARE_CASTS(i8);
PARTITA_DECLARE_CASTS(u8);
PARTITA_DECLARE_CASTS(i16);
PARTITA_DECLARE_CASTS(u16);
PARTITA_DECLARE_CASTS(i32);
PARTITA_DECLARE_CASTS(u32);
PARTITA_DECLARE_CASTS(i64);
PARTITA_DECLARE_CASTS(f32);
PARTITA_DECLARE_CASTS(bool);

/* Floats of 16 bits are computed with in 32: half to even on the way back, NaN stays one. */
partita_kernel partita_cast_f16_f32, partita_cast_bf16_f32, partita_cast_f32_f16, partita_cast_f32_bf16;

#endif
