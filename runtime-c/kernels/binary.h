/*
 * Functions of two elements: out[i...] = f(left[i...], right[i...]), operands broadcast by strides of 0. The result
 * is contiguous; it may be in place of an operand that is contiguous too and isn't broadcast. Cores divide the result
 * into parts of 8 elements in row-major order. All are exact except the power.
 *
 * Integers wrap. Division truncates towards zero, and division by zero gives 0; mod has the sign of the divisor,
 * remainder that of the dividend; a shift by a negative amount or by at least the width gives 0, to the right the
 * sign. A maximum or minimum is NaN if either operand is. Comparisons write 0 or 1 as bytes.
 */
#ifndef PARTITA_BINARY_H
#define PARTITA_BINARY_H

#include "kernel.h"

struct partita_binary {
    const void *left;
    const void *right;
    void *out;
    int32_t extents[PARTITA_AXES];
    int32_t left_strides[PARTITA_AXES];
    int32_t right_strides[PARTITA_AXES];
};

/* f32, f32 -> f32; the power within the bound of float_functions.h */
partita_kernel partita_add_f32, partita_sub_f32, partita_mul_f32, partita_div_f32, partita_mod_f32,
    partita_remainder_f32, partita_min_f32, partita_max_f32, partita_pow_f32;

/* f64, f64 -> f64; the power within the bound of double_functions.h */
partita_kernel partita_add_f64, partita_sub_f64, partita_mul_f64, partita_div_f64, partita_mod_f64,
    partita_remainder_f64, partita_min_f64, partita_max_f64, partita_pow_f64;

/* T, T -> T */
#define PARTITA_DECLARE_BINARY(TYPE)                                                                                   \
    partita_kernel partita_add_##TYPE, partita_sub_##TYPE, partita_mul_##TYPE, partita_div_##TYPE, partita_mod_##TYPE, \
        partita_remainder_##TYPE, partita_min_##TYPE, partita_max_##TYPE, partita_bit_and_##TYPE,                      \
        partita_bit_or_##TYPE, partita_bit_xor_##TYPE, partita_shift_left_##TYPE, partita_shift_right_##TYPE
PARTITA_DECLARE_BINARY(i8);
PARTITA_DECLARE_BINARY(u8);
PARTITA_DECLARE_BINARY(i32);
PARTITA_DECLARE_BINARY(i64);
PARTITA_DECLARE_BINARY(u64);

/* T, T -> T; by products. A negative exponent gives the reciprocal, truncated towards zero, and 0 for that of 0. */
partita_kernel partita_pow_i32, partita_pow_i64, partita_pow_u64;

/* T, T -> bool */
#define PARTITA_DECLARE_COMPARISON(TYPE)                                                                               \
    partita_kernel partita_equal_##TYPE, partita_less_##TYPE, partita_less_or_equal_##TYPE, partita_greater_##TYPE,    \
        partita_greater_or_equal_##TYPE
PARTITA_DECLARE_COMPARISON(f32);
PARTITA_DECLARE_COMPARISON(f64);
PARTITA_DECLARE_COMPARISON(i8);
PARTITA_DECLARE_COMPARISON(u8);
PARTITA_DECLARE_COMPARISON(i32);
PARTITA_DECLARE_COMPARISON(i64);
PARTITA_DECLARE_COMPARISON(u64);

/* bool, bool -> bool */
partita_kernel partita_and_bool, partita_or_bool, partita_xor_bool, partita_equal_bool;

/* out[i...] = condition[i...] ? then[i...] : otherwise[i...] for elements of 8 to 64 bits; as above. */
struct partita_select {
    const uint8_t *condition;
    const void *then;
    const void *otherwise;
    void *out;
    int32_t extents[PARTITA_AXES];
    int32_t condition_strides[PARTITA_AXES];
    int32_t then_strides[PARTITA_AXES];
    int32_t otherwise_strides[PARTITA_AXES];
};

partita_kernel partita_select_8, partita_select_16, partita_select_32, partita_select_64;

#endif
