#include "integer_network.h"

#include "simd.h"

/* Bytes of a line up to this long, less their mean, have squares whose sum fits 32 bits. */
enum { SHORT_LINE = 1 << 15 };

/* The floor of the root, one binary digit at a time. The first digit is the highest power of four of the type. */
#define SQUARE_ROOT(NAME, T)                                                                                           \
    static T NAME(T rest, T digit)                                                                                     \
    {                                                                                                                  \
        T root = 0;                                                                                                    \
        while (digit > rest) {                                                                                         \
            digit >>= 2;                                                                                               \
        }                                                                                                              \
        while (digit != 0) {                                                                                           \
            const T more = root + digit;                                                                               \
            root >>= 1;                                                                                                \
            if (rest >= more) {                                                                                        \
                rest -= more;                                                                                          \
                root += digit;                                                                                         \
            }                                                                                                          \
            digit >>= 2;                                                                                               \
        }                                                                                                              \
        return root;                                                                                                   \
    }

SQUARE_ROOT(square_root_32, uint32_t)
SQUARE_ROOT(square_root_64, uint64_t)

/* 0 for an overflowed argument. */
static int64_t square_root(int64_t square)
{
    if (square <= 0) {
        return 0;
    }
    return square == (int32_t)square ? square_root_32((uint32_t)square, (uint32_t)1 << 30)
                                     : (int64_t)square_root_64((uint64_t)square, (uint64_t)1 << 62);
}

static __attribute__((noinline)) int64_t normalised(const struct partita_integer_norm *norm, int64_t value, int64_t root,
                                                    int32_t i)
{
    const int64_t weighted = partita_multiply_wrapping_64(value, norm->weight[i * norm->weight_stride]);
    const int64_t bias = norm->bias == 0 ? 0 : norm->bias[i * norm->bias_stride];
    const int64_t shifted = partita_add_wrapping_64(partita_divide_wrapping_64(weighted, root), bias) >> norm->shift;
    return partita_clamp(shifted, norm->low, norm->high);
}

/* The product of a byte less a mean of bytes, below 2^8, with a weight below this one fits 32 bits. */
enum { SMALL_WEIGHT = 1 << 22 };

/* The same in 32 bits, for a byte less the mean, without a bias, and limits of 32 bits. */
static inline int32_t small_normalised(const struct partita_integer_norm *norm, int32_t value, int32_t root, int32_t i)
{
    const int32_t weight = norm->weight[i * norm->weight_stride];
    if (weight <= -SMALL_WEIGHT || weight >= SMALL_WEIGHT) {
        return (int32_t)normalised(norm, value, root, i);
    }
    const int32_t shifted = value * weight / root >> norm->shift;
    return partita_min(partita_max(shifted, (int32_t)norm->low), (int32_t)norm->high);
}

/* Whether a row of bytes can be normalised in 32 bits, if its weights are small. */
static inline int32_t is_short(const struct partita_integer_norm *norm)
{
    return norm->size <= SHORT_LINE && norm->bias == 0 && norm->shift < 32 && norm->low == (int32_t)norm->low &&
           norm->high == (int32_t)norm->high;
}

/*
 * A part of a short row of bytes. The sum of (x - mean)^2 is that of x^2 less mean (2 sum - size mean); sums of four
 * bytes at a time.
 */
#define SHORT_NORM(TYPE, T, DOT)                                                                                       \
    static PARTITA_COMPACT void short_##TYPE(const struct partita_integer_norm *norm, int32_t row,                     \
                                             struct partita_range part, int32_t centre)                                \
    {                                                                                                                  \
        const T *x = (const T *)norm->x + row * norm->size;                                                            \
        T *out = (T *)norm->out + row * norm->size;                                                                    \
        const uint8_t *word = (const uint8_t *)x;                                                                      \
        uint32_t sum = 0;                                                                                              \
        uint32_t squares = 0;                                                                                          \
        int32_t i = 0;                                                                                                 \
        for (; i + 4 <= norm->size; i += 4) {                                                                          \
            const uint32_t four = partita_next_word(&word, 4);                                                         \
            sum = DOT(sum, four, 0x01010101u);                                                                         \
            squares = DOT(squares, four, four);                                                                        \
        }                                                                                                              \
        for (; i < norm->size; i++) {                                                                                  \
            sum += (uint32_t)x[i];                                                                                     \
            squares += (uint32_t)(x[i] * x[i]);                                                                        \
        }                                                                                                              \
        const int32_t mean = centre ? (int32_t)sum / norm->size : 0;                                                   \
        squares -= (uint32_t)mean * (2 * sum - (uint32_t)norm->size * (uint32_t)mean);                                 \
        const uint32_t root = square_root_32(squares / (uint32_t)norm->size + 1, (uint32_t)1 << 30);                   \
        for (i = part.from; i < part.to; i++) {                                                                        \
            out[i] = (T)small_normalised(norm, x[i] - mean, (int32_t)root, i);                                         \
        }                                                                                                              \
    }

SHORT_NORM(i8, int8_t, partita_sdotsp_b)
SHORT_NORM(u8, uint8_t, partita_sdotup_b)

/* A part of any row, in 64 bits. */
#define WIDE_NORM(TYPE, T)                                                                                             \
    static __attribute__((noinline)) void wide_##TYPE(const struct partita_integer_norm *norm, int32_t row,            \
                                                      struct partita_range part, int32_t centre)                       \
    {                                                                                                                  \
        const T *x = (const T *)norm->x + row * norm->size;                                                            \
        T *out = (T *)norm->out + row * norm->size;                                                                    \
        int64_t mean = 0;                                                                                              \
        int64_t squares = 0;                                                                                           \
        for (int32_t i = 0; i < norm->size && centre; i++) {                                                           \
            mean += x[i];                                                                                              \
        }                                                                                                              \
        mean = partita_divide_wrapping_64(mean, norm->size);                                                           \
        for (int32_t i = 0; i < norm->size; i++) {                                                                     \
            const int64_t value = x[i] - mean;                                                                         \
            squares = partita_add_wrapping_64(squares, partita_multiply_wrapping_64(value, value));                    \
        }                                                                                                              \
        const int64_t variance = partita_divide_wrapping_64(squares, norm->size);                                      \
        const int64_t found = square_root(partita_add_wrapping_64(variance, 1));                                       \
        const int64_t root = found > 1 ? found : 1;                                                                    \
        for (int32_t i = part.from; i < part.to; i++) {                                                                \
            out[i] = (T)normalised(norm, x[i] - mean, root, i);                                                        \
        }                                                                                                              \
    }

WIDE_NORM(i8, int8_t)
WIDE_NORM(u8, uint8_t)
WIDE_NORM(i32, int32_t)

#define INTEGER_NORM(TYPE, IS_SHORT, SHORT)                                                                            \
    static PARTITA_COMPACT void rows_##TYPE(const struct partita_integer_norm *norm, int32_t core, int32_t cores,      \
                                            int32_t centre)                                                            \
    {                                                                                                                  \
        const int32_t few = norm->rows < cores;                                                                        \
        const struct partita_range all = {0, few ? norm->rows : norm->size};                                           \
        const struct partita_range share = partita_share(few ? norm->size : norm->rows, 1, core, cores);               \
        const struct partita_range rows = few ? all : share;                                                           \
        for (int32_t row = rows.from; row < rows.to && norm->size > 0; row++) {                                        \
            if (IS_SHORT) {                                                                                            \
                SHORT(norm, row, few ? share : all, centre);                                                           \
            } else {                                                                                                   \
                wide_##TYPE(norm, row, few ? share : all, centre);                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void partita_integer_layer_norm_##TYPE(const void *arguments, int32_t core, int32_t cores)                         \
    {                                                                                                                  \
        rows_##TYPE(arguments, core, cores, 1);                                                                        \
    }                                                                                                                  \
                                                                                                                       \
    void partita_integer_rms_norm_##TYPE(const void *arguments, int32_t core, int32_t cores)                           \
    {                                                                                                                  \
        rows_##TYPE(arguments, core, cores, 0);                                                                        \
    }

INTEGER_NORM(i8, is_short(norm), short_i8)
INTEGER_NORM(u8, is_short(norm), short_u8)
INTEGER_NORM(i32, 0, wide_i32)
