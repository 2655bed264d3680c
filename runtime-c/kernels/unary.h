/*
 * Functions of one element: out[i] = f(x[i]) for i < count. In and out may be the same tile, but must not overlap
 * otherwise. Cores take parts of 8 elements.
 *
 * Integer forms wrap. Predicates write 0 or 1 as bytes. Bounds of the float functions: float_functions.h, or
 * beside a function that only its kernel in unary.c uses.
 */
#ifndef PARTITA_UNARY_H
#define PARTITA_UNARY_H

#include "kernel.h"

struct partita_unary {
    const void *x; /* [count] */
    void *out;     /* [count] */
    int32_t count;
};

/* f32 -> f32, exact */
partita_kernel partita_abs_f32, partita_neg_f32, partita_sign_f32, partita_ceil_f32, partita_floor_f32,
    partita_round_f32, partita_sqrt_f32, partita_reciprocal_f32, partita_relu_f32;

/* f32 -> f32, approximated */
partita_kernel partita_exp_f32, partita_log_f32, partita_sin_f32, partita_cos_f32, partita_tan_f32, partita_asin_f32,
    partita_acos_f32, partita_atan_f32, partita_sinh_f32, partita_cosh_f32, partita_tanh_f32, partita_asinh_f32,
    partita_acosh_f32, partita_atanh_f32, partita_erf_f32, partita_sigmoid_f32, partita_softplus_f32, partita_gelu_f32,
    partita_gelu_tanh_f32, partita_silu_f32, partita_hard_swish_f32, partita_quick_gelu_f32;

/* f64 -> f64, within the bounds of double_functions.h */
partita_kernel partita_abs_f64, partita_neg_f64, partita_sign_f64, partita_ceil_f64, partita_floor_f64,
    partita_round_f64, partita_sqrt_f64, partita_reciprocal_f64, partita_relu_f64, partita_exp_f64, partita_log_f64;

/* f32 -> bool, f64 -> bool */
partita_kernel partita_is_nan_f32, partita_is_positive_infinity_f32, partita_is_negative_infinity_f32;
partita_kernel partita_is_nan_f64, partita_is_positive_infinity_f64, partita_is_negative_infinity_f64;

/* i32 -> i32, i8 -> i8, i64 -> i64, u64 -> u64 */
partita_kernel partita_abs_i32, partita_neg_i32, partita_sign_i32, partita_relu_i32, partita_bit_not_i32;
partita_kernel partita_abs_i8, partita_neg_i8, partita_sign_i8, partita_relu_i8, partita_bit_not_i8;
partita_kernel partita_abs_i64, partita_neg_i64, partita_sign_i64, partita_relu_i64, partita_bit_not_i64;
partita_kernel partita_abs_u64, partita_neg_u64, partita_sign_u64, partita_relu_u64, partita_bit_not_u64;

/* bool -> bool */
partita_kernel partita_not_bool;

#endif
