#include "quantize.h"

#include "float_functions.h"
#include "lines.h"

#define WALK(NAME, IN, OUT, ZERO, VALUE)                                                                               \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_quantize *quantize = arguments;                                                           \
        const struct partita_range share = partita_share_of(quantize->extents, 8, core, cores);         \
        const int32_t step = quantize->parameter_strides[PARTITA_AXES - 1];                                            \
        struct partita_lines lines =                                                                                   \
            partita_lines(quantize->extents, share, 1, quantize->parameter_strides, 0, 0);                             \
        while (partita_next_line(&lines)) {                                                                            \
            const IN *restrict in = (const IN *)quantize->x + lines.position;                                          \
            OUT *restrict out = (OUT *)quantize->out + lines.position;                                                 \
            for (int32_t i = 0; i < lines.length; i++) {                                                               \
                const int32_t at = lines.offset[0] + (lines.first + i) * step;                                         \
                const float scale = quantize->scale[at];                                                               \
                const ZERO zero = ((const ZERO *)quantize->zero)[at];                                                  \
                const IN x = in[i];                                                                                    \
                out[i] = (OUT)(VALUE);                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }

static inline int64_t level(float x, float scale, int64_t zero, int64_t least, int64_t most)
{
    const float quotient = x / scale;
    if (quotient != quotient) {
        return least;
    }
    /* Beyond 2^40 all values saturate. */
    const float near = quotient > 0x1p40f ? 0x1p40f : quotient < -0x1p40f ? -0x1p40f : quotient;
    return partita_clamp((int64_t)partita_round(near) + zero, least, most);
}

/*
 * The level of x with one scale for all elements, most of which need no division: with the rounded inverse of the scale,
 * the product of x has an error below 2^-22 of its magnitude, and is used below 2^9 where it is further than 2^-11 from
 * a half. Other x are divided: also NaN, and all x if the inverse isn't a normal number. The sum with 1.5 2^23 has the
 * nearest integer in its last bits.
 */
static inline int32_t near_level(float x, float scale, float inverse, int32_t zero, int32_t least, int32_t most)
{
    const union {
        float real;
        uint32_t bits;
    } sum = {.real = x * inverse + 0x1.8p23f};
    const float product = x * inverse;
    const int32_t nearest = (int32_t)(sum.bits - 0x4b400000u);
    const float rest = product - (float)nearest;
    const float limit = 0.5f - 0x1p-11f;
    if (product > -0x1p9f && product < 0x1p9f && rest > -limit && rest < limit) {
        const int32_t sum_with_zero = nearest + zero;
        return sum_with_zero < least ? least : sum_with_zero > most ? most : sum_with_zero;
    }
    return (int32_t)level(x, scale, zero, least, most);
}

static inline int32_t is_one_scale(const struct partita_quantize *quantize)
{
    int32_t strides = 0;
    for (int32_t axis = 0; axis < PARTITA_AXES; axis++) {
        strides |= quantize->extents[axis] > 1 ? quantize->parameter_strides[axis] : 0;
    }
    return strides == 0;
}

/* NaN, for which nothing is near, if the inverse isn't a normal number. */
static inline float inverse_of(float scale)
{
    return scale > 0x1p-100f && scale < 0x1p100f ? 1.0f / scale : PARTITA_NAN;
}

#define QUANTIZE(TYPE, T, WIDE, MIN, MAX)                                                                              \
    WALK(partita_quantize_f32_##TYPE, float, T, T, level(x, scale, zero, MIN, MAX))                                    \
    WALK(partita_dequantize_##TYPE##_f32, T, float, T, (float)((WIDE)x - zero) * scale)

QUANTIZE(i16, int16_t, int32_t, INT16_MIN, INT16_MAX)
QUANTIZE(u16, uint16_t, int32_t, 0, UINT16_MAX)
QUANTIZE(i32, int32_t, int64_t, INT32_MIN, INT32_MAX)

static partita_kernel levels_i8, levels_u8;

#define QUANTIZE_BYTES(TYPE, T, MIN, MAX)                                                                              \
    WALK(levels_##TYPE, float, T, T, level(x, scale, zero, MIN, MAX))                                                  \
    WALK(partita_dequantize_##TYPE##_f32, T, float, T, (float)(x - zero) * scale)                                      \
                                                                                                                       \
    void partita_quantize_f32_##TYPE(const void *arguments, int32_t core, int32_t cores)                               \
    {                                                                                                                  \
        const struct partita_quantize *quantize = arguments;                                                           \
        if (!is_one_scale(quantize)) {                                                                                 \
            levels_##TYPE(arguments, core, cores);                                                                     \
            return;                                                                                                    \
        }                                                                                                              \
        const struct partita_range share = partita_share_of(quantize->extents, 8, core, cores);         \
        const float scale = quantize->scale[0];                                                                        \
        const float inverse = inverse_of(scale);                                                                       \
        const T zero = *(const T *)quantize->zero;                                                                     \
        const float *restrict in = quantize->x;                                                                        \
        T *restrict out = quantize->out;                                                                               \
        for (int32_t i = share.from; i < share.to; i++) {                                                              \
            out[i] = (T)near_level(in[i], scale, inverse, zero, MIN, MAX);                                             \
        }                                                                                                              \
    }

QUANTIZE_BYTES(i8, int8_t, INT8_MIN, INT8_MAX)
QUANTIZE_BYTES(u8, uint8_t, 0, UINT8_MAX)
