#include "integer_network.h"

#include "lines.h"
#include "requantized.h"

/* A 32-bit division takes a tenth of the time of a 64-bit one on a 32-bit core. */
static inline int64_t divide(int64_t x, int64_t y)
{
    if (x == (int32_t)x && y == (int32_t)y && y > 0) {
        return (int32_t)x / (int32_t)y;
    }
    return y == -1 ? partita_multiply_wrapping_64(x, -1) : x / y;
}

static inline int64_t shift_right(int64_t value, int64_t distance)
{
    return value >> (distance < 63 ? distance : 63);
}

/* The scale of all elements, if there is one with which 32 bits are enough. All types share this code. */
static __attribute__((noinline)) struct partita_scale common_scale(const struct partita_requantize *requantize)
{
    int32_t strides = 0;
    for (int32_t axis = 0; axis < PARTITA_AXES; axis++) {
        strides |= requantize->multiplier_strides[axis] | requantize->addend_strides[axis];
    }
    if (strides != 0) {
        const struct partita_scale none = {.exists = 0};
        return none;
    }
    return partita_scale(partita_requantized(requantize->shift, requantize->low, requantize->high),
                         *requantize->multiplier, *requantize->addend);
}

/* The short code of a common scale is apart from the rest, since most calls find the instruction cache cold. */
#define REQUANTIZE(NAME, IN, OUT)                                                                                      \
    static __attribute__((noinline)) void NAME##_lines(const struct partita_requantize *requantize,                    \
                                                       struct partita_range share)                                     \
    {                                                                                                                  \
        const struct partita_requantized to =                                                                          \
            partita_requantized(requantize->shift, requantize->low, requantize->high);                                 \
        const int32_t multiplier_step = requantize->multiplier_strides[PARTITA_AXES - 1];                              \
        const int32_t addend_step = requantize->addend_strides[PARTITA_AXES - 1];                                      \
        struct partita_lines lines = partita_lines(requantize->extents, share, 2, requantize->multiplier_strides,      \
                                                   requantize->addend_strides, 0);                                     \
        while (partita_next_line(&lines)) {                                                                            \
            const int32_t *multiplier = requantize->multiplier + lines.offset[0] + lines.first * multiplier_step;      \
            const int32_t *addend = requantize->addend + lines.offset[1] + lines.first * addend_step;                  \
            const IN *x = (const IN *)requantize->x + lines.position;                                                  \
            OUT *out = (OUT *)requantize->out + lines.position;                                                        \
            for (int32_t i = 0; i < lines.length; i++) {                                                               \
                out[i] = (OUT)partita_requantize(to, x[i], *multiplier, *addend);                                      \
                multiplier += multiplier_step;                                                                         \
                addend += addend_step;                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_requantize *requantize = arguments;                                                       \
        const struct partita_range share = partita_share_of(requantize->extents, 8, core, cores);                      \
        if (share.from == share.to) {                                                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        const struct partita_scale scale = common_scale(requantize);                                                   \
        if (!scale.exists) {                                                                                           \
            NAME##_lines(requantize, share);                                                                           \
            return;                                                                                                    \
        }                                                                                                              \
        const int32_t low = (int32_t)requantize->low;                                                                  \
        const int32_t high = (int32_t)requantize->high;                                                                \
        const int32_t shift = requantize->shift;                                                                       \
        const IN *x = (const IN *)requantize->x + share.from;                                                          \
        OUT *out = (OUT *)requantize->out + share.from;                                                                \
        for (int32_t left = share.to - share.from; left > 0; left--) {                                                 \
            *out++ = (OUT)partita_rescale(scale, shift, low, high, *x++);                                              \
        }                                                                                                              \
    }

REQUANTIZE(partita_requantize_i8_i8, int8_t, int8_t)
REQUANTIZE(partita_requantize_i8_u8, int8_t, uint8_t)
REQUANTIZE(partita_requantize_i8_i32, int8_t, int32_t)
REQUANTIZE(partita_requantize_u8_i8, uint8_t, int8_t)
REQUANTIZE(partita_requantize_u8_u8, uint8_t, uint8_t)
REQUANTIZE(partita_requantize_u8_i32, uint8_t, int32_t)
REQUANTIZE(partita_requantize_i32_i8, int32_t, int8_t)
REQUANTIZE(partita_requantize_i32_u8, int32_t, uint8_t)
REQUANTIZE(partita_requantize_i32_i32, int32_t, int32_t)

/* (a (p + b)^2 + c) >> z, for t = x - max. */
static inline int64_t parabola(const struct partita_integer_softmax *softmax, int64_t t)
{
    const int64_t z = divide(-t, softmax->log2);
    const int64_t shifted = partita_add_wrapping_64(t + z * softmax->log2, softmax->b);
    const int64_t square = partita_multiply_wrapping_64(partita_multiply_wrapping_64(softmax->a, shifted), shifted);
    return shift_right(partita_add_wrapping_64(square, softmax->c), z);
}

/* The same for bytes, in 32 bits: t is from -255 to 0, and all parabolas are from 0 to 2^31 / levels. */
struct small_softmax {
    uint32_t a;
    int32_t b;
    uint32_t c;
    int32_t log2;
    uint32_t inverse; /* 2^16 / log2, rounded up; its error is too small for quotients of 8 bits */
    uint32_t top;
    int32_t exists;
};

static struct small_softmax small_softmax(const struct partita_integer_softmax *softmax)
{
    struct small_softmax small = {.exists = 0};
    const int64_t limit = 1 << 14;
    if (softmax->a < 0 || softmax->a > limit || softmax->c < 0 || softmax->c > INT32_MAX || softmax->b > limit ||
        softmax->b < -limit || softmax->log2 > limit) {
        return small;
    }
    const int64_t distance = softmax->log2 + (softmax->b < 0 ? -softmax->b : softmax->b);
    const int64_t most = softmax->a * distance * distance + softmax->c;
    small.a = (uint32_t)softmax->a;
    small.b = (int32_t)softmax->b;
    small.c = (uint32_t)softmax->c;
    small.log2 = (int32_t)softmax->log2;
    small.inverse = small.log2 > 255 ? 0 : ((1u << 16) + (uint32_t)small.log2 - 1) / (uint32_t)small.log2;
    small.top = (uint32_t)softmax->levels - 1;
    /* most < INT32_MAX / levels, without a division of 64 bits; so for the size. */
    const int64_t factor = softmax->levels > softmax->size + 1 ? softmax->levels : softmax->size + 1;
    small.exists = most < INT32_MAX && (most + 1) * factor <= INT32_MAX;
    return small;
}

static inline uint32_t small_parabola(struct small_softmax small, int32_t t)
{
    const uint32_t z = (uint32_t)-t * small.inverse >> 16;
    const int32_t shifted = t + (int32_t)z * small.log2 + small.b;
    return (small.a * (uint32_t)(shifted * shifted) + small.c) >> partita_min((int32_t)z, 31);
}

/* x / y for x and y < 2^31, where inverse = (2^32 - 1) / y: the estimate is at most 2 too small. */
static inline uint32_t quotient(uint32_t x, uint32_t y, uint32_t inverse)
{
    const uint32_t estimate = (uint32_t)((uint64_t)x * inverse >> 32);
    const uint32_t rest = x - estimate * y;
    return estimate + 2 - (rest < y) - (rest < 2 * y);
}

/* PARTITA_GROUP elements at a time, so that few branches are taken. */
#define SMALL_SOFTMAX(NAME, T)                                                                                         \
    /* Adds the parabolas of `count` elements, a constant. */                                                          \
    static inline __attribute__((always_inline)) uint32_t NAME##_sum(struct small_softmax small, const T *x,           \
                                                                     int32_t largest, int32_t count)                   \
    {                                                                                                                  \
        uint32_t sum = 0;                                                                                              \
        PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {                                                             \
            sum += small_parabola(small, x[i] - largest);                                                              \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    static inline __attribute__((always_inline)) void NAME##_share(struct small_softmax small, const T *x, T *out,     \
                                                                   int32_t largest, uint32_t sum, uint32_t inverse,    \
                                                                   int32_t count)                                      \
    {                                                                                                                  \
        uint32_t shares[PARTITA_GROUP];                                                                                \
        PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {                                                             \
            shares[i] = quotient(small_parabola(small, x[i] - largest) * small.top, sum, inverse);                     \
        }                                                                                                              \
        PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {                                                             \
            out[i] = (T)shares[i];                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static int32_t NAME(const struct partita_integer_softmax *softmax, struct partita_range share)                     \
    {                                                                                                                  \
        const struct small_softmax small = small_softmax(softmax);                                                     \
        const int32_t size = softmax->size;                                                                            \
        const int32_t whole = size - size % PARTITA_GROUP;                                                             \
        for (int32_t row = share.from; row < share.to && small.exists; row++) {                                        \
            const T *x = (const T *)softmax->x + row * size;                                                           \
            T *out = (T *)softmax->out + row * size;                                                                   \
            int32_t largest = x[0];                                                                                    \
            uint32_t sum = 0;                                                                                          \
            int32_t i = 0;                                                                                             \
            for (; i < whole; i += PARTITA_GROUP) {                                                                    \
                PARTITA_UNROLLED (int32_t e = 0; e < PARTITA_GROUP; e++) {                                             \
                    largest = partita_max(largest, x[i + e]);                                                          \
                }                                                                                                      \
            }                                                                                                          \
            for (; i < size; i++) {                                                                                    \
                largest = partita_max(largest, x[i]);                                                                  \
            }                                                                                                          \
            for (i = 0; i < whole; i += PARTITA_GROUP) {                                                               \
                sum += NAME##_sum(small, x + i, largest, PARTITA_GROUP);                                               \
            }                                                                                                          \
            for (; i < size; i++) {                                                                                    \
                sum += NAME##_sum(small, x + i, largest, 1);                                                           \
            }                                                                                                          \
            if (sum == 0) {                                                                                            \
                for (i = 0; i < size; i++) {                                                                           \
                    out[i] = 0;                                                                                        \
                }                                                                                                      \
                continue;                                                                                              \
            }                                                                                                          \
            const uint32_t inverse = UINT32_MAX / sum;                                                                 \
            for (i = 0; i < whole; i += PARTITA_GROUP) {                                                               \
                NAME##_share(small, x + i, out + i, largest, sum, inverse, PARTITA_GROUP);                             \
            }                                                                                                          \
            for (; i < size; i++) {                                                                                    \
                NAME##_share(small, x + i, out + i, largest, sum, inverse, 1);                                         \
            }                                                                                                          \
        }                                                                                                              \
        return small.exists;                                                                                           \
    }

SMALL_SOFTMAX(small_i8, int8_t)
SMALL_SOFTMAX(small_u8, uint8_t)

/* Words may differ by more than 255. */
static int32_t small_i32(const struct partita_integer_softmax *softmax, struct partita_range share)
{
    (void)softmax;
    (void)share;
    return 0;
}

#define INTEGER_SOFTMAX(NAME, T, SMALL)                                                                                \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_integer_softmax *softmax = arguments;                                                     \
        const struct partita_range share = partita_share(softmax->rows, 1, core, cores);                               \
        const int64_t top = softmax->levels - 1;                                                                       \
        if (softmax->size == 0 || SMALL(softmax, share)) {                                                             \
            return;                                                                                                    \
        }                                                                                                              \
        for (int32_t row = share.from; row < share.to; row++) {                                                        \
            const T *x = (const T *)softmax->x + row * softmax->size;                                                  \
            T *out = (T *)softmax->out + row * softmax->size;                                                          \
            int64_t largest = x[0];                                                                                    \
            int64_t sum = 0;                                                                                           \
            for (int32_t i = 1; i < softmax->size; i++) {                                                              \
                largest = x[i] > largest ? x[i] : largest;                                                             \
            }                                                                                                          \
            for (int32_t i = 0; i < softmax->size; i++) {                                                              \
                sum = partita_add_wrapping_64(sum, parabola(softmax, x[i] - largest));                                 \
            }                                                                                                          \
            for (int32_t i = 0; i < softmax->size; i++) {                                                              \
                const int64_t scaled = partita_multiply_wrapping_64(parabola(softmax, x[i] - largest), top);           \
                /* A negative quotient becomes 0, whatever its rounding. */                                            \
                out[i] = (T)partita_clamp(sum == 0 ? 0 : divide(scaled, sum), 0, top);                                 \
            }                                                                                                          \
        }                                                                                                              \
    }

INTEGER_SOFTMAX(partita_integer_softmax_i8, int8_t, small_i8)
INTEGER_SOFTMAX(partita_integer_softmax_u8, uint8_t, small_u8)
INTEGER_SOFTMAX(partita_integer_softmax_i32, int32_t, small_i32)

/* The number of halvings for a distance to the maximum, rounded half up. */
static inline int64_t halvings(const struct partita_power_softmax *softmax, int64_t distance)
{
    return (distance + ((int64_t)1 << softmax->unit) / 2) >> softmax->unit;
}

#define POWER_SOFTMAX(NAME, T)                                                                                         \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_power_softmax *softmax = arguments;                                                       \
        const struct partita_range share = partita_share(softmax->rows, 1, core, cores);                               \
        const int32_t size = softmax->size;                                                                            \
        const int32_t group = softmax->group > 0 && softmax->group < size ? softmax->group : size;                     \
        const int64_t top = softmax->group > 0 ? softmax->levels / 2 - 1 : softmax->levels - 1;                        \
        for (int32_t row = share.from; row < share.to; row++) {                                                        \
            const T *x = (const T *)softmax->x + row * size;                                                           \
            T *out = (T *)softmax->out + row * size;                                                                   \
            int64_t largest = size > 0 ? x[0] : 0;                                                                     \
            int64_t sum = 0;                                                                                           \
            for (int32_t from = 0; from < size; from += group) {                                                       \
                const int32_t to = size - from < group ? size : from + group;                                          \
                const int64_t before = largest;                                                                        \
                for (int32_t i = from; i < to; i++) {                                                                  \
                    largest = x[i] > largest ? x[i] : largest;                                                         \
                }                                                                                                      \
                sum = shift_right(sum, halvings(softmax, largest - before));                                           \
                for (int32_t i = from; i < to; i++) {                                                                  \
                    sum += shift_right(softmax->levels, halvings(softmax, largest - x[i]));                            \
                }                                                                                                      \
            }                                                                                                          \
            const int64_t inverse = sum == 0 ? 0 : divide(top * softmax->levels, sum);                                 \
            for (int32_t i = 0; i < size; i++) {                                                                       \
                out[i] = (T)shift_right(inverse, halvings(softmax, largest - x[i]));                                   \
            }                                                                                                          \
        }                                                                                                              \
    }

POWER_SOFTMAX(partita_power_softmax_i8, int8_t)
POWER_SOFTMAX(partita_power_softmax_u8, uint8_t)
POWER_SOFTMAX(partita_power_softmax_i32, int32_t)

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
    const int64_t shifted = partita_add_wrapping_64(divide(weighted, root), bias) >> norm->shift;
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
        mean = divide(mean, norm->size);                                                                               \
        for (int32_t i = 0; i < norm->size; i++) {                                                                     \
            const int64_t value = x[i] - mean;                                                                         \
            squares = partita_add_wrapping_64(squares, partita_multiply_wrapping_64(value, value));                    \
        }                                                                                                              \
        const int64_t found = square_root(partita_add_wrapping_64(divide(squares, norm->size), 1));                    \
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

static inline int64_t gelu(const struct partita_integer_gelu *gelu, int64_t x)
{
    const int64_t magnitude = x < 0 ? -x : x;
    const int64_t most = partita_multiply_wrapping_64(gelu->b, -1);
    const int64_t inside = partita_add_wrapping_64(magnitude < most ? magnitude : most, gelu->b);
    const int64_t square = partita_multiply_wrapping_64(inside, inside);
    const int64_t complement = partita_add_wrapping_64(gelu->one, partita_multiply_wrapping_64(square, -1));
    const int64_t error = partita_multiply_wrapping_64((x > 0) - (x < 0), complement);
    return partita_multiply_wrapping_64(x, partita_add_wrapping_64(gelu->one, error) >> 1);
}

#define INTEGER_GELU(NAME, T)                                                                                          \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_integer_gelu *operation = arguments;                                                      \
        const struct partita_range share = partita_share(operation->count, 8, core, cores);                            \
        const T *x = operation->x;                                                                                     \
        T *out = operation->out;                                                                                       \
        for (int32_t i = share.from; i < share.to; i++) {                                                              \
            out[i] = (T)gelu(operation, x[i]);                                                                         \
        }                                                                                                              \
    }

INTEGER_GELU(partita_integer_gelu_i8, int8_t)
INTEGER_GELU(partita_integer_gelu_u8, uint8_t)
INTEGER_GELU(partita_integer_gelu_i32, int32_t)

static inline float float_at(const float *floats, int32_t index)
{
    return floats[index];
}

/* Eight elements at a time: no load waits for the one before. */
#define LOOKUP(NAME, IN, LEAST, OUT, AT)                                                                               \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_lookup *lookup = arguments;                                                               \
        const struct partita_range share = partita_share(lookup->count, 8, core, cores);                               \
        const OUT *table = (const OUT *)lookup->table - (LEAST);                                                       \
        const IN *x = (const IN *)lookup->x + share.from;                                                              \
        OUT *out = (OUT *)lookup->out + share.from;                                                                    \
        int32_t left = share.to - share.from;                                                                          \
        for (; left >= 8; left -= 8) {                                                                                 \
            int32_t values[8];                                                                                         \
            OUT entries[8];                                                                                            \
            PARTITA_UNROLLED (int32_t i = 0; i < 8; i++) {                                                             \
                values[i] = x[i];                                                                                      \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t i = 0; i < 8; i++) {                                                             \
                entries[i] = AT(table, values[i]);                                                                     \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t i = 0; i < 8; i++) {                                                             \
                out[i] = entries[i];                                                                                   \
            }                                                                                                          \
            x += 8;                                                                                                    \
            out += 8;                                                                                                  \
        }                                                                                                              \
        for (int32_t i = 0; i < left; i++) {                                                                           \
            out[i] = AT(table, x[i]);                                                                                  \
        }                                                                                                              \
    }

LOOKUP(partita_lookup_i8_i8, int8_t, INT8_MIN, uint8_t, partita_byte_at)
LOOKUP(partita_lookup_i8_u8, int8_t, INT8_MIN, uint8_t, partita_byte_at)
LOOKUP(partita_lookup_i8_f32, int8_t, INT8_MIN, float, float_at)
LOOKUP(partita_lookup_u8_i8, uint8_t, 0, uint8_t, partita_byte_at)
LOOKUP(partita_lookup_u8_u8, uint8_t, 0, uint8_t, partita_byte_at)
LOOKUP(partita_lookup_u8_f32, uint8_t, 0, float, float_at)
