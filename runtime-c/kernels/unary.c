#include "unary.h"

#include "double_functions.h"
#include "exponential.h"

#define UNARY(NAME, IN, OUT, VALUE)                                                                                    \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_unary *unary = arguments;                                                                 \
        const struct partita_range share = partita_share(unary->count, 8, core, cores);                                \
        const IN *in = unary->x;                                                                                       \
        OUT *out = unary->out;                                                                                         \
        for (int32_t i = share.from; i < share.to; i++) {                                                              \
            const IN x = in[i];                                                                                        \
            out[i] = (OUT)(VALUE);                                                                                     \
        }                                                                                                              \
    }

/* Eight elements at a time: loads precede stores, so that none waits for another. For functions of a few instructions. */
#define SHORT_UNARY(NAME, IN, OUT, VALUE)                                                                              \
    static inline OUT NAME##_of(IN x)                                                                                  \
    {                                                                                                                  \
        return (OUT)(VALUE);                                                                                           \
    }                                                                                                                  \
                                                                                                                       \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        enum { NEAR = 8 };                                                                                             \
        const struct partita_unary *unary = arguments;                                                                 \
        const struct partita_range share = partita_share(unary->count, NEAR, core, cores);                             \
        const IN *in = (const IN *)unary->x + share.from;                                                              \
        OUT *out = (OUT *)unary->out + share.from;                                                                     \
        int32_t left = share.to - share.from;                                                                          \
        for (; left >= NEAR; left -= NEAR) {                                                                           \
            IN each[NEAR];                                                                                             \
            PARTITA_UNROLLED (int32_t i = 0; i < NEAR; i++) {                                                          \
                each[i] = in[i];                                                                                       \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t i = 0; i < NEAR; i++) {                                                          \
                out[i] = NAME##_of(each[i]);                                                                           \
            }                                                                                                          \
            in += NEAR;                                                                                                \
            out += NEAR;                                                                                               \
        }                                                                                                              \
        for (; left > 0; left--) {                                                                                     \
            *out++ = NAME##_of(*in++);                                                                                 \
        }                                                                                                              \
    }

/* partita_NAME_f32, with GROUP for groups within its range. */
#define GROUPED(NAME, GROUP)                                                                                           \
    /* Returns the number of elements before the first group that isn't. */                                            \
    static PARTITA_STAGED int32_t NAME##_of_groups(const float *x, float *out, int32_t count)                          \
    {                                                                                                                  \
        int32_t next = 0;                                                                                              \
        for (; next + PARTITA_GROUP <= count; next += PARTITA_GROUP, x += PARTITA_GROUP, out += PARTITA_GROUP) {       \
            float values[PARTITA_GROUP];                                                                               \
            PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {                                                 \
                values[e] = x[e];                                                                                      \
            }                                                                                                          \
            if (!GROUP(values, PARTITA_GROUP)) {                                                                       \
                return next;                                                                                           \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {                                                 \
                out[e] = values[e];                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
        return next;                                                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    void partita_##NAME##_f32(const void *arguments, int32_t core, int32_t cores)                                      \
    {                                                                                                                  \
        const struct partita_unary *unary = arguments;                                                                 \
        const struct partita_range share = partita_share(unary->count, 8, core, cores);                                \
        const float *x = unary->x;                                                                                     \
        float *out = unary->out;                                                                                       \
        for (int32_t next = share.from; next < share.to;) {                                                            \
            next += NAME##_of_groups(x + next, out + next, share.to - next);                                           \
            for (int32_t i = 0; i < PARTITA_GROUP && next < share.to; i++, next++) {                                   \
                out[next] = partita_##NAME(x[next]);                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Within 6 u. e^|x| / 2 fits where e^|x| alone does not. */
static float cosh_of(float x)
{
    const float magnitude = partita_absolute(x);
    if (magnitude > 40.0f) {
        const float root = partita_exp(magnitude / 2);
        return root / 2 * root;
    }
    const float exponential = partita_exp(magnitude);
    return exponential / 2 + 0.5f / exponential;
}

SHORT_UNARY(partita_abs_f32, float, float, partita_absolute(x))
SHORT_UNARY(partita_neg_f32, float, float, -x)
UNARY(partita_sign_f32, float, float, partita_sign(x))
UNARY(partita_ceil_f32, float, float, partita_ceil(x))
UNARY(partita_floor_f32, float, float, partita_floor(x))
UNARY(partita_round_f32, float, float, partita_round(x))
UNARY(partita_sqrt_f32, float, float, partita_sqrt(x))
UNARY(partita_reciprocal_f32, float, float, 1.0f / x)

GROUPED(exp, partita_exponentials)
GROUPED(tanh, partita_tanhs)
GROUPED(sigmoid, partita_sigmoids)
GROUPED(silu, partita_silus)
GROUPED(quick_gelu, partita_quick_gelus)
GROUPED(gelu, partita_gelus)
GROUPED(gelu_tanh, partita_tanh_gelus)
UNARY(partita_log_f32, float, float, partita_log(x))
UNARY(partita_sin_f32, float, float, partita_sin(x))
UNARY(partita_cos_f32, float, float, partita_cos(x))
UNARY(partita_tan_f32, float, float, partita_tan(x))
UNARY(partita_asin_f32, float, float, partita_asin(x))
UNARY(partita_acos_f32, float, float, partita_acos(x))
UNARY(partita_atan_f32, float, float, partita_atan(x))
UNARY(partita_sinh_f32, float, float, partita_sinh(x))
UNARY(partita_cosh_f32, float, float, cosh_of(x))
UNARY(partita_asinh_f32, float, float, partita_asinh(x))
UNARY(partita_acosh_f32, float, float, partita_acosh(x))
UNARY(partita_atanh_f32, float, float, partita_atanh(x))
UNARY(partita_erf_f32, float, float, partita_erf(x))
UNARY(partita_softplus_f32, float, float, partita_softplus(x))
UNARY(partita_hard_swish_f32, float, float, partita_hard_swish(x))

UNARY(partita_abs_f64, double, double, partita_double_absolute(x))
UNARY(partita_neg_f64, double, double, -x)
UNARY(partita_sign_f64, double, double, partita_double_sign(x))
UNARY(partita_ceil_f64, double, double, partita_double_ceil(x))
UNARY(partita_floor_f64, double, double, partita_double_floor(x))
UNARY(partita_round_f64, double, double, partita_double_round(x))
UNARY(partita_sqrt_f64, double, double, partita_double_sqrt(x))
UNARY(partita_reciprocal_f64, double, double, 1.0 / x)
UNARY(partita_relu_f64, double, double, partita_double_maximum(x, 0.0))
UNARY(partita_exp_f64, double, double, partita_double_exp(x))
UNARY(partita_log_f64, double, double, partita_double_log(x))

UNARY(partita_is_nan_f64, double, uint8_t, x != x)
UNARY(partita_is_positive_infinity_f64, double, uint8_t, x == PARTITA_DOUBLE_INFINITY)
UNARY(partita_is_negative_infinity_f64, double, uint8_t, x == -PARTITA_DOUBLE_INFINITY)
UNARY(partita_is_nan_f32, float, uint8_t, x != x)
UNARY(partita_is_positive_infinity_f32, float, uint8_t, x == PARTITA_INFINITY)
UNARY(partita_is_negative_infinity_f32, float, uint8_t, x == -PARTITA_INFINITY)

SHORT_UNARY(partita_abs_i32, int32_t, int32_t, x < 0 ? 0u - (uint32_t)x : (uint32_t)x)
SHORT_UNARY(partita_neg_i32, int32_t, int32_t, 0u - (uint32_t)x)
UNARY(partita_sign_i32, int32_t, int32_t, (x > 0) - (x < 0))
SHORT_UNARY(partita_relu_i32, int32_t, int32_t, x > 0 ? x : 0)
SHORT_UNARY(partita_bit_not_i32, int32_t, int32_t, ~x)

SHORT_UNARY(partita_abs_i8, int8_t, int8_t, x < 0 ? -x : x)
SHORT_UNARY(partita_neg_i8, int8_t, int8_t, -x)
UNARY(partita_sign_i8, int8_t, int8_t, (x > 0) - (x < 0))
SHORT_UNARY(partita_relu_i8, int8_t, int8_t, x > 0 ? x : 0)
SHORT_UNARY(partita_bit_not_i8, int8_t, int8_t, ~x)

UNARY(partita_abs_i64, int64_t, int64_t, x < 0 ? 0u - (uint64_t)x : (uint64_t)x)
UNARY(partita_neg_i64, int64_t, int64_t, 0u - (uint64_t)x)
UNARY(partita_sign_i64, int64_t, int64_t, (x > 0) - (x < 0))
UNARY(partita_relu_i64, int64_t, int64_t, x > 0 ? x : 0)
UNARY(partita_bit_not_i64, int64_t, int64_t, ~x)

UNARY(partita_abs_u64, uint64_t, uint64_t, x)
UNARY(partita_neg_u64, uint64_t, uint64_t, 0u - x)
UNARY(partita_sign_u64, uint64_t, uint64_t, x > 0)
UNARY(partita_relu_u64, uint64_t, uint64_t, x)
UNARY(partita_bit_not_u64, uint64_t, uint64_t, ~x)

UNARY(partita_not_bool, uint8_t, uint8_t, x == 0)
