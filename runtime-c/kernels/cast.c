#include "cast.h"

#define CAST(NAME, IN, OUT, VALUE)                                                                                     \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_unary *unary = arguments;                                                                 \
        const struct partita_range share = partita_share(unary->count, 8, core, cores);                                \
        const IN *restrict in = unary->x;                                                                              \
        OUT *restrict out = unary->out;                                                                                \
        for (int32_t i = share.from; i < share.to; i++) {                                                              \
            const IN x = in[i];                                                                                        \
            out[i] = (OUT)(VALUE);                                                                                     \
        }                                                                                                              \
    }

static inline int64_t cut(float x)
{
    if (x > -0x1p31f && x < 0x1p31f) {
        return (int32_t)x;
    }
    if (x >= 0x1p63f) {
        return INT64_MAX;
    }
    return x >= -0x1p63f ? (int64_t)x : x < 0 ? INT64_MIN : 0;
}

#define CASTS(FROM, IN, INTEGER)                                                                                       \
    CAST(partita_cast_##FROM##_i8, IN, int8_t, INTEGER)                                                                \
    CAST(partita_cast_##FROM##_u8, IN, uint8_t, INTEGER)                                                               \
    CAST(partita_cast_##FROM##_i16, IN, int16_t, INTEGER)                                                              \
    CAST(partita_cast_##FROM##_u16, IN, uint16_t, INTEGER)                                                             \
    CAST(partita_cast_##FROM##_i32, IN, int32_t, INTEGER)                                                              \
    CAST(partita_cast_##FROM##_u32, IN, uint32_t, INTEGER)                                                             \
    CAST(partita_cast_##FROM##_i64, IN, int64_t, INTEGER)                                                              \
    CAST(partita_cast_##FROM##_f32, IN, float, x)                                                                      \
    CAST(partita_cast_##FROM##_bool, IN, uint8_t, x != 0)

CASTS(i8, int8_t, x)
CASTS(u8, uint8_t, x)
CASTS(i16, int16_t, x)
CASTS(u16, uint16_t, x)
CASTS(i32, int32_t, x)
CASTS(u32, uint32_t, x)
CASTS(i64, int64_t, x)
CASTS(f32, float, cut(x))
CASTS(bool, uint8_t, x != 0)
