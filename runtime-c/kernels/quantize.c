#include "quantize.h"

#include "levels.h"
#include "lines.h"

#define WALK(NAME, IN, OUT, ZERO, VALUE)                                                                               \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_quantize *quantize = arguments;                                                           \
        const struct partita_range share = partita_share_of(quantize->extents, core, cores);                        \
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

/* Levels of 32 bits. Beyond 2^40 all values saturate. */
static inline int64_t level(float x, float scale, int64_t zero, int64_t least, int64_t most)
{
    const float quotient = x / scale;
    if (quotient != quotient) {
        return least;
    }
    const float near = quotient > 0x1p40f ? 0x1p40f : quotient < -0x1p40f ? -0x1p40f : quotient;
    return partita_clamp((int64_t)partita_round(near) + zero, least, most);
}

/* The number of elements if all have the same scale, else -1. */
static inline int32_t with_one_scale(const struct partita_quantize *quantize)
{
    int32_t strides = 0;
    int32_t elements = 1;
    for (int32_t axis = 0; axis < PARTITA_AXES; axis++) {
        const int32_t extent = quantize->extents[axis];
        elements *= extent;
        strides |= extent > 1 ? quantize->parameter_strides[axis] : 0;
    }
    return strides == 0 ? elements : -1;
}

/* (float)(x - zero). Most differences have 32 bits, of which the conversion is one instruction and not a function. */
static inline float difference(int32_t x, int32_t zero)
{
    const int32_t near = (int32_t)((uint32_t)x - (uint32_t)zero);
    return ((x ^ zero) & (x ^ near)) < 0 ? (float)((int64_t)x - zero) : (float)near;
}

#define QUANTIZE(TYPE, T, DIFFERENCE, LEVEL, MIN, MAX)                                                                 \
    WALK(partita_quantize_f32_##TYPE, float, T, T, LEVEL(x, scale, zero, MIN, MAX))                                    \
    WALK(partita_dequantize_##TYPE##_f32, T, float, T, DIFFERENCE * scale)

QUANTIZE(i16, int16_t, (float)(x - zero), partita_narrow_level, INT16_MIN, INT16_MAX)
QUANTIZE(u16, uint16_t, (float)(x - zero), partita_narrow_level, 0, UINT16_MAX)
QUANTIZE(i32, int32_t, difference(x, zero), level, INT32_MIN, INT32_MAX)

static PARTITA_COMPACT partita_kernel levels_i8, levels_u8, floats_i8, floats_u8;

/* Levels that are converted at a time. */
enum { NEAR = 8 };

#define QUANTIZE_BYTES(TYPE, T, MIN, MAX)                                                                              \
    WALK(levels_##TYPE, float, T, T, partita_narrow_level(x, scale, zero, MIN, MAX))                                   \
    WALK(floats_##TYPE, T, float, T, (float)(x - zero) * scale)                                                        \
                                                                                                                       \
    /* Whole groups. Operations on floats have others in between, as two cores share a unit, and wait for no result. */  \
    static PARTITA_STAGED void scale_##TYPE(const T *x, float *out, int32_t count, int32_t zero, float scale)          \
    {                                                                                                                  \
        for (; count >= NEAR; count -= NEAR, x += NEAR, out += NEAR) {                                                 \
            int32_t levels[NEAR];                                                                                      \
            float values[NEAR];                                                                                        \
            PARTITA_UNROLLED (int32_t i = 0; i < NEAR; i++) {                                                          \
                levels[i] = x[i];                                                                                      \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t i = 0; i < NEAR; i++) {                                                          \
                values[i] = (float)(levels[i] - zero);                                                                 \
            }                                                                                                          \
            values[0] *= scale;                                                                                        \
            PARTITA_UNROLLED (int32_t i = 0; i < NEAR; i++) {                                                          \
                if (i + 1 < NEAR) {                                                                                    \
                    values[i + 1] *= scale;                                                                            \
                }                                                                                                      \
                out[i] = values[i];                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    PARTITA_COMPACT void partita_dequantize_##TYPE##_f32(const void *arguments, int32_t core, int32_t cores)           \
    {                                                                                                                  \
        const struct partita_quantize *quantize = arguments;                                                           \
        const int32_t elements = with_one_scale(quantize);                                                             \
        if (elements < 0) {                                                                                            \
            floats_##TYPE(arguments, core, cores);                                                                     \
            return;                                                                                                    \
        }                                                                                                              \
        const struct partita_range share = partita_share(elements, 8, core, cores);                                    \
        const float scale = quantize->scale[0];                                                                        \
        const int32_t zero = *(const T *)quantize->zero;                                                               \
        const T *const x = quantize->x;                                                                                \
        float *const out = quantize->out;                                                                              \
        const int32_t count = share.to - share.from;                                                                   \
        scale_##TYPE(x + share.from, out + share.from, count, zero, scale);                                            \
        for (int32_t i = share.to - count % NEAR; i < share.to; i++) {                                                 \
            out[i] = (float)(x[i] - zero) * scale;                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* Returns the number of elements before those that need a division, in whole groups. */                           \
    static PARTITA_STAGED int32_t near_##TYPE(const float *x, T *out, int32_t count, struct partita_levels to)         \
    {                                                                                                                  \
        uint8_t *bytes = (uint8_t *)out;                                                                               \
        int32_t next = 0;                                                                                              \
        for (; next + PARTITA_GROUP <= count; next += PARTITA_GROUP) {                                                 \
            uint32_t digits = (uint32_t)PARTITA_NO_DIGITS;                                                             \
            const uint32_t levels = partita_near_##TYPE(to, x + next, &digits);                                        \
            if (!partita_are_right(digits)) {                                                                          \
                return next;                                                                                           \
            }                                                                                                          \
            partita_store_word(&bytes, 4, levels);                                                                     \
        }                                                                                                              \
        return next;                                                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    PARTITA_COMPACT void partita_quantize_f32_##TYPE(const void *arguments, int32_t core, int32_t cores)               \
    {                                                                                                                  \
        const struct partita_quantize *quantize = arguments;                                                           \
        const int32_t elements = with_one_scale(quantize);                                                             \
        if (elements < 0) {                                                                                            \
            levels_##TYPE(arguments, core, cores);                                                                     \
            return;                                                                                                    \
        }                                                                                                              \
        const struct partita_range share = partita_share(elements, 8, core, cores);                                    \
        const struct partita_levels to = partita_levels(quantize->scale[0], *(const T *)quantize->zero);               \
        const float *const x = quantize->x;                                                                            \
        T *const out = quantize->out;                                                                                  \
        for (int32_t next = share.from; next < share.to;) {                                                            \
            next += near_##TYPE(x + next, out + next, share.to - next, to);                                            \
            for (int32_t i = 0; i < PARTITA_GROUP && next < share.to; i++, next++) {                                   \
                out[next] = (T)partita_level(to, x[next], MIN, MAX);                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

QUANTIZE_BYTES(i8, int8_t, INT8_MIN, INT8_MAX)
QUANTIZE_BYTES(u8, uint8_t, 0, UINT8_MAX)
