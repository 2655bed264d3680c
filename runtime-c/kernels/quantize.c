#include "quantize.h"

#include "float_functions.h"
#include "lines.h"

#define WALK(NAME, IN, OUT, ZERO, VALUE)                                                                               \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_quantize *quantize = arguments;                                                           \
        const struct partita_range share = partita_share(partita_elements(quantize->extents), 8, core, cores);         \
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

#define QUANTIZE(TYPE, T, MIN, MAX)                                                                                    \
    WALK(partita_quantize_f32_##TYPE, float, T, T, level(x, scale, zero, MIN, MAX))                                    \
    WALK(partita_dequantize_##TYPE##_f32, T, float, T, (float)((int64_t)x - zero) * scale)

QUANTIZE(i8, int8_t, INT8_MIN, INT8_MAX)
QUANTIZE(u8, uint8_t, 0, UINT8_MAX)
QUANTIZE(i16, int16_t, INT16_MIN, INT16_MAX)
QUANTIZE(u16, uint16_t, 0, UINT16_MAX)
QUANTIZE(i32, int32_t, INT32_MIN, INT32_MAX)
