#include "binary_lines.h"

#include "double_functions.h"
#include "float_functions.h"

/* SHORT_BINARY: of a function of a few instructions. */
#define BINARY(NAME, IN, OUT, VALUE)                                                                                   \
    PARTITA_BINARY_LINE(NAME, IN, OUT, VALUE)                                                                          \
    PARTITA_BINARY_LINES(NAME, IN, OUT)

#define SHORT_BINARY(NAME, IN, OUT, VALUE)                                                                             \
    PARTITA_SHORT_BINARY_LINE(NAME, IN, OUT, VALUE)                                                                    \
    PARTITA_BINARY_LINES(NAME, IN, OUT)

static inline int32_t divide_32(int32_t x, int32_t y)
{
    return y == 0 ? 0 : y == -1 ? (int32_t)(0u - (uint32_t)x) : x / y;
}

static inline int32_t remainder_32(int32_t x, int32_t y)
{
    return y == 0 || y == -1 ? 0 : x % y;
}

static inline int32_t mod_32(int32_t x, int32_t y)
{
    const int32_t rest = remainder_32(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static inline int64_t divide_64(int64_t x, int64_t y)
{
    return y == 0 ? 0 : y == -1 ? (int64_t)(0u - (uint64_t)x) : x / y;
}

static inline int64_t remainder_64(int64_t x, int64_t y)
{
    return y == 0 || y == -1 ? 0 : x % y;
}

static inline int64_t mod_64(int64_t x, int64_t y)
{
    const int64_t rest = remainder_64(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static inline int32_t shift_right_32(int32_t x, int32_t y, int32_t bits)
{
    return y >= 0 && y < bits ? x >> y : x < 0 ? -1 : 0;
}

static inline int64_t shift_right_64(int64_t x, int64_t y, int32_t bits)
{
    return y >= 0 && y < bits ? x >> y : x < 0 ? -1 : 0;
}

static inline uint64_t divide_u64(uint64_t x, uint64_t y)
{
    return y == 0 ? 0 : x / y;
}

static inline uint64_t remainder_u64(uint64_t x, uint64_t y)
{
    return y == 0 ? 0 : x % y;
}

static inline uint64_t mod_u64(uint64_t x, uint64_t y)
{
    return remainder_u64(x, y);
}

static inline uint64_t shift_right_u64(uint64_t x, uint64_t y, uint64_t bits)
{
    return y < bits ? x >> y : 0;
}

static inline uint64_t power_u64(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;
    for (uint64_t square = base; exponent != 0; exponent >>= 1, square *= square) {
        result *= (exponent & 1u) != 0 ? square : 1u;
    }
    return result;
}

static inline uint64_t power_64(int64_t base, int64_t exponent)
{
    if (exponent >= 0) {
        return power_u64((uint64_t)base, (uint64_t)exponent);
    }
    return base == 1 || (base == -1 && (exponent & 1) == 0) ? 1u : base == -1 ? UINT64_MAX : 0;
}

/* T has BITS bits and is computed in WIDTH bits; NATURAL is the unsigned type of that width. */
#define INTEGERS(TYPE, T, BITS, NATURAL, WIDTH)                                                                        \
    BINARY(partita_div_##TYPE, T, T, divide_##WIDTH(x, y))                                                             \
    BINARY(partita_mod_##TYPE, T, T, mod_##WIDTH(x, y))                                                                \
    BINARY(partita_remainder_##TYPE, T, T, remainder_##WIDTH(x, y))                                                    \
    BINARY(partita_bit_and_##TYPE, T, T, x &y)                                                                         \
    BINARY(partita_bit_or_##TYPE, T, T, x | y)                                                                         \
    BINARY(partita_bit_xor_##TYPE, T, T, x ^ y)                                                                        \
    BINARY(partita_shift_left_##TYPE, T, T, (NATURAL)y < (BITS) ? (NATURAL)x << y : 0)                                 \
    BINARY(partita_shift_right_##TYPE, T, T, shift_right_##WIDTH(x, y, BITS))                                          \
    COMPARISONS(TYPE, T)

/* Those of i32 are in binary_words.c. */
#define SHORT_INTEGERS(TYPE, T, NATURAL)                                                                               \
    SHORT_BINARY(partita_add_##TYPE, T, T, (NATURAL)x + (NATURAL)y)                                                    \
    SHORT_BINARY(partita_sub_##TYPE, T, T, (NATURAL)x - (NATURAL)y)                                                    \
    SHORT_BINARY(partita_mul_##TYPE, T, T, (NATURAL)x *(NATURAL)y)                                                     \
    SHORT_BINARY(partita_min_##TYPE, T, T, x < y ? x : y)                                                              \
    SHORT_BINARY(partita_max_##TYPE, T, T, x > y ? x : y)

#define COMPARISONS(TYPE, T)                                                                                           \
    BINARY(partita_equal_##TYPE, T, uint8_t, x == y)                                                                   \
    BINARY(partita_less_##TYPE, T, uint8_t, x < y)                                                                     \
    BINARY(partita_less_or_equal_##TYPE, T, uint8_t, x <= y)                                                           \
    BINARY(partita_greater_##TYPE, T, uint8_t, x > y)                                                                  \
    BINARY(partita_greater_or_equal_##TYPE, T, uint8_t, x >= y)

INTEGERS(i8, int8_t, 8, uint32_t, 32)
INTEGERS(u8, uint8_t, 8, uint32_t, 32)
INTEGERS(i32, int32_t, 32, uint32_t, 32)
INTEGERS(i64, int64_t, 64, uint64_t, 64)
INTEGERS(u64, uint64_t, 64, uint64_t, u64)

SHORT_INTEGERS(i8, int8_t, uint32_t)
SHORT_INTEGERS(u8, uint8_t, uint32_t)
SHORT_INTEGERS(i64, int64_t, uint64_t)
SHORT_INTEGERS(u64, uint64_t, uint64_t)

BINARY(partita_pow_i32, int32_t, int32_t, power_64(x, y))
BINARY(partita_pow_i64, int64_t, int64_t, power_64(x, y))
BINARY(partita_pow_u64, uint64_t, uint64_t, power_u64(x, y))

BINARY(partita_div_f32, float, float, x / y)
BINARY(partita_mod_f32, float, float, partita_modulo(x, y))
BINARY(partita_remainder_f32, float, float, partita_remainder(x, y))
BINARY(partita_min_f32, float, float, partita_minimum(x, y))
BINARY(partita_max_f32, float, float, partita_maximum(x, y))
BINARY(partita_pow_f32, float, float, partita_power(x, y))
COMPARISONS(f32, float)

BINARY(partita_add_f64, double, double, x + y)
BINARY(partita_sub_f64, double, double, x - y)
BINARY(partita_mul_f64, double, double, x *y)
BINARY(partita_div_f64, double, double, x / y)
BINARY(partita_mod_f64, double, double, partita_double_modulo(x, y))
BINARY(partita_remainder_f64, double, double, partita_double_remainder(x, y))
BINARY(partita_min_f64, double, double, partita_double_minimum(x, y))
BINARY(partita_max_f64, double, double, partita_double_maximum(x, y))
BINARY(partita_pow_f64, double, double, partita_double_power(x, y))
COMPARISONS(f64, double)

BINARY(partita_and_bool, uint8_t, uint8_t, (x != 0) & (y != 0))
BINARY(partita_or_bool, uint8_t, uint8_t, (x != 0) | (y != 0))
BINARY(partita_xor_bool, uint8_t, uint8_t, (x != 0) ^ (y != 0))
BINARY(partita_equal_bool, uint8_t, uint8_t, (x != 0) == (y != 0))

#define SELECT(NAME, T)                                                                                                \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_select *select = arguments;                                                               \
        const struct partita_range share = partita_share_of(select->extents, core, cores);           \
        const int32_t condition_step = select->condition_strides[PARTITA_AXES - 1];                                    \
        const int32_t then_step = select->then_strides[PARTITA_AXES - 1];                                              \
        const int32_t otherwise_step = select->otherwise_strides[PARTITA_AXES - 1];                                    \
        struct partita_lines lines = partita_lines(select->extents, share, 3, select->condition_strides,               \
                                                   select->then_strides, select->otherwise_strides);                   \
        while (partita_next_line(&lines)) {                                                                            \
            const uint8_t *condition = select->condition + lines.offset[0] + lines.first * condition_step;             \
            const T *then = (const T *)select->then + lines.offset[1] + lines.first * then_step;                       \
            const T *otherwise = (const T *)select->otherwise + lines.offset[2] + lines.first * otherwise_step;        \
            T *out = (T *)select->out + lines.position;                                                                \
            for (int32_t i = 0; i < lines.length; i++) {                                                               \
                out[i] = condition[i * condition_step] ? then[i * then_step] : otherwise[i * otherwise_step];          \
            }                                                                                                          \
        }                                                                                                              \
    }

SELECT(partita_select_8, uint8_t)
SELECT(partita_select_16, uint16_t)
SELECT(partita_select_32, uint32_t)
SELECT(partita_select_64, uint64_t)
