#include "cast.h"

#include "double_functions.h"
#include "float_functions.h"
#include "half.h"

/* GROUP elements at a time, a constant; the compiler drops the first loop if it is 1. */
#define CAST_IN_GROUPS(GROUP, NAME, IN, OUT, VALUE)                                                                    \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_unary *unary = arguments;                                                                 \
        const struct partita_range share = partita_share(unary->count, 8, core, cores);                                \
        const IN *restrict in = unary->x;                                                                              \
        OUT *restrict out = unary->out;                                                                                \
        int32_t i = share.from;                                                                                        \
        for (; (GROUP) > 1 && i + (GROUP) <= share.to; i += (GROUP)) {                                                 \
            IN each[GROUP];                                                                                            \
            PARTITA_UNROLLED (int32_t e = 0; e < (GROUP); e++) {                                                       \
                each[e] = in[i + e];                                                                                   \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t e = 0; e < (GROUP); e++) {                                                       \
                const IN x = each[e];                                                                                  \
                out[i + e] = (OUT)(VALUE);                                                                             \
            }                                                                                                          \
        }                                                                                                              \
        for (; i < share.to; i++) {                                                                                    \
            const IN x = in[i];                                                                                        \
            out[i] = (OUT)(VALUE);                                                                                     \
        }                                                                                                              \
    }

#define CAST(...) CAST_IN_GROUPS(1, __VA_ARGS__)

/* For conversions of one instruction: otherwise branches take most of the time. */
#define CAST_GROUPED(...) CAST_IN_GROUPS(PARTITA_GROUP, __VA_ARGS__)

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

/* Negative values as for the signed type. */
static inline uint64_t cut_unsigned(float x)
{
    if (x >= 0x1p64f) {
        return UINT64_MAX;
    }
    return x >= 0x1p63f ? (uint64_t)x : (uint64_t)cut(x);
}

static inline int64_t cut_double(double x)
{
    if (x >= 0x1p63) {
        return INT64_MAX;
    }
    return x >= -0x1p63 ? (int64_t)x : x < 0 ? INT64_MIN : 0;
}

static inline uint64_t cut_double_unsigned(double x)
{
    if (x >= 0x1p64) {
        return UINT64_MAX;
    }
    return x >= 0x1p63 ? (uint64_t)x : (uint64_t)cut_double(x);
}

#define CASTS(FROM, IN, EACH, INTEGER, UNSIGNED)                                                                       \
    EACH(partita_cast_##FROM##_i8, IN, int8_t, INTEGER)                                                                \
    EACH(partita_cast_##FROM##_u8, IN, uint8_t, INTEGER)                                                               \
    CAST(partita_cast_##FROM##_i16, IN, int16_t, INTEGER)                                                              \
    CAST(partita_cast_##FROM##_u16, IN, uint16_t, INTEGER)                                                             \
    EACH(partita_cast_##FROM##_i32, IN, int32_t, INTEGER)                                                              \
    CAST(partita_cast_##FROM##_u32, IN, uint32_t, INTEGER)                                                             \
    CAST(partita_cast_##FROM##_i64, IN, int64_t, INTEGER)                                                              \
    CAST(partita_cast_##FROM##_u64, IN, uint64_t, UNSIGNED)                                                            \
    CAST(partita_cast_##FROM##_f64, IN, double, x)                                                                     \
    CAST(partita_cast_##FROM##_bool, IN, uint8_t, x != 0)

CASTS(i8, int8_t, CAST_GROUPED, x, x)
CASTS(u8, uint8_t, CAST_GROUPED, x, x)
CASTS(i16, int16_t, CAST, x, x)
CASTS(u16, uint16_t, CAST, x, x)
CASTS(i32, int32_t, CAST_GROUPED, x, x)
CASTS(u32, uint32_t, CAST, x, x)
CASTS(i64, int64_t, CAST, x, x)
CASTS(u64, uint64_t, CAST, x, x)
CASTS(f32, float, CAST, cut(x), cut_unsigned(x))
CASTS(f64, double, CAST, cut_double(x), cut_double_unsigned(x))
CASTS(bool, uint8_t, CAST, x != 0, x != 0)

CAST_GROUPED(partita_cast_i8_f32, int8_t, float, x)
CAST_GROUPED(partita_cast_u8_f32, uint8_t, float, x)
CAST(partita_cast_i16_f32, int16_t, float, x)
CAST(partita_cast_u16_f32, uint16_t, float, x)
CAST(partita_cast_u32_f32, uint32_t, float, x)
CAST(partita_cast_i64_f32, int64_t, float, x)
CAST(partita_cast_u64_f32, uint64_t, float, x)
CAST(partita_cast_f32_f32, float, float, x)
CAST(partita_cast_f64_f32, double, float, x)
CAST(partita_cast_bool_f32, uint8_t, float, x)

/* In place, too: each word is read before it is written, both as the bytes of a union. Eight at a time, so that none waits. */
void partita_cast_i32_f32(const void *arguments, int32_t core, int32_t cores)
{
    enum { NEAR = 8 };
    union word {
        int32_t integer;
        float real;
    };
    const struct partita_unary *unary = arguments;
    const struct partita_range share = partita_share(unary->count, 8, core, cores);
    const union word *in = unary->x;
    union word *out = unary->out;
    int32_t i = share.from;
    for (; i + NEAR <= share.to; i += NEAR) {
        int32_t each[NEAR];
        PARTITA_UNROLLED (int32_t e = 0; e < NEAR; e++) {
            each[e] = in[i + e].integer;
        }
        PARTITA_UNROLLED (int32_t e = 0; e < NEAR; e++) {
            out[i + e].real = (float)each[e];
        }
    }
    for (; i < share.to; i++) {
        out[i].real = (float)in[i].integer;
    }
}

CAST(partita_cast_f16_f32, uint16_t, float, partita_from_f16(x))
CAST(partita_cast_bf16_f32, uint16_t, float, partita_from_bf16(x))
CAST(partita_cast_f32_f16, float, uint16_t, partita_to_f16(x))
CAST(partita_cast_f32_bf16, float, uint16_t, partita_to_bf16(x))

CAST(partita_cast_f16_f64, uint16_t, double, partita_from_f16(x))
CAST(partita_cast_bf16_f64, uint16_t, double, partita_from_bf16(x))
CAST(partita_cast_f64_f16, double, uint16_t, partita_to_f16(partita_double_to_odd(x)))
CAST(partita_cast_f64_bf16, double, uint16_t, partita_to_bf16(partita_double_to_odd(x)))

/* VALUE is the value of the four bits x. */
#define UNPACK(NAME, OUT, VALUE)                                                                                       \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_unary *unary = arguments;                                                                 \
        const struct partita_range share = partita_share(unary->count, 8, core, cores);                                \
        const uint8_t *restrict in = unary->x;                                                                         \
        OUT *restrict out = unary->out;                                                                                \
        for (int32_t i = share.from; i < share.to; i++) {                                                              \
            const int32_t x = in[i / 2] >> (i % 2 * 4) & 15;                                                           \
            out[i] = (OUT)(VALUE);                                                                                     \
        }                                                                                                              \
    }

UNPACK(partita_cast_u4_u8, uint8_t, x)
UNPACK(partita_cast_i4_i8, int8_t, x < 8 ? x : x - 16)

static void pack(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_unary *unary = arguments;
    const struct partita_range share = partita_share(unary->count, 8, core, cores);
    const uint8_t *restrict in = unary->x;
    uint8_t *restrict out = unary->out;
    for (int32_t i = share.from; i < share.to; i += 2) {
        const uint32_t upper = i + 1 < share.to ? in[i + 1] & 15u : 0u;
        out[i / 2] = (uint8_t)(upper << 4 | (in[i] & 15u));
    }
}

void partita_cast_i8_i4(const void *arguments, int32_t core, int32_t cores)
{
    pack(arguments, core, cores);
}

void partita_cast_u8_u4(const void *arguments, int32_t core, int32_t cores)
{
    pack(arguments, core, cores);
}
