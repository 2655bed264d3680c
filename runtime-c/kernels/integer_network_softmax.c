#include "integer_network.h"

#include "reciprocal.h"

static inline int64_t shift_right(int64_t value, int64_t distance)
{
    return value >> (distance < 63 ? distance : 63);
}

/* (a (p + b)^2 + c) >> z, for t = x - max. */
static inline int64_t parabola(const struct partita_integer_softmax *softmax, int64_t t)
{
    const int64_t z = partita_divide_wrapping_64(-t, softmax->log2);
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
};

static inline struct small_softmax small_softmax(const struct partita_integer_softmax *softmax)
{
    const int32_t log2 = (int32_t)softmax->log2;
    const struct small_softmax small = {
        .a = (uint32_t)softmax->a,
        .b = (int32_t)softmax->b,
        .c = (uint32_t)softmax->c,
        .log2 = log2,
        .inverse = log2 > 255 ? 0 : ((1u << 16) + (uint32_t)log2 - 1) / (uint32_t)log2,
        .top = (uint32_t)softmax->levels - 1,
    };
    return small;
}

static inline uint32_t small_parabola(struct small_softmax small, int32_t t)
{
    const uint32_t z = (uint32_t)-t * small.inverse >> 16;
    const uint32_t shifted = (uint32_t)(t + (int32_t)z * small.log2 + small.b);
    return (small.a * (shifted * shifted) + small.c) >> partita_min((int32_t)z, 31);
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
    PARTITA_INLINE uint32_t NAME##_sum(struct small_softmax small, const T *x, int32_t largest, int32_t count)         \
    {                                                                                                                  \
        uint32_t sum = 0;                                                                                              \
        PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {                                                             \
            sum += small_parabola(small, x[i] - largest);                                                              \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    PARTITA_INLINE void NAME##_share(struct small_softmax small, const T *x, T *out, int32_t largest, uint32_t sum,    \
                                     uint32_t inverse, int32_t count)                                                  \
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
    static void NAME(const struct partita_integer_softmax *softmax, struct partita_range share)                        \
    {                                                                                                                  \
        const struct small_softmax small = small_softmax(softmax);                                                     \
        const int32_t size = softmax->size;                                                                            \
        const int32_t whole = size - size % PARTITA_GROUP;                                                             \
        for (int32_t row = share.from; row < share.to; row++) {                                                        \
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
    }

SMALL_SOFTMAX(small_i8, int8_t)
SMALL_SOFTMAX(small_u8, uint8_t)

/* Words may differ by more than 255. */
static void small_i32(const struct partita_integer_softmax *softmax, struct partita_range share)
{
    (void)softmax;
    (void)share;
}

#define INTEGER_SOFTMAX(NAME, T, SMALL)                                                                                \
    void NAME(const void *arguments, int32_t core, int32_t cores)                                                      \
    {                                                                                                                  \
        const struct partita_integer_softmax *softmax = arguments;                                                     \
        const struct partita_range share = partita_share(softmax->rows, 1, core, cores);                               \
        const int64_t top = softmax->levels - 1;                                                                       \
        if (softmax->size == 0) {                                                                                      \
            return;                                                                                                    \
        }                                                                                                              \
        if (softmax->is_small) {                                                                                       \
            SMALL(softmax, share);                                                                                     \
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
                out[i] = (T)partita_clamp(sum == 0 ? 0 : partita_divide_wrapping_64(scaled, sum), 0, top);             \
            }                                                                                                          \
        }                                                                                                              \
    }

INTEGER_SOFTMAX(partita_integer_softmax_i8, int8_t, small_i8)
INTEGER_SOFTMAX(partita_integer_softmax_u8, uint8_t, small_u8)
INTEGER_SOFTMAX(partita_integer_softmax_i32, int32_t, small_i32)

void partita_softmax_weights_i32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_softmax_weights *weights = arguments;
    const struct partita_range share = partita_share(256, 8, core, cores);
    int32_t z = share.from / weights->log2;
    int32_t p = z * weights->log2 - share.from;
    for (int32_t i = share.from; i < share.to; i++) {
        const uint32_t shifted = (uint32_t)(p + weights->b);
        weights->out[i] = ((uint32_t)weights->a * (shifted * shifted) + (uint32_t)weights->c) >> partita_min(z, 31);
        p--;
        if (p == -weights->log2) {
            p = 0;
            z++;
        }
    }
}

/*
 * LARGEST: the largest of `count` bytes and `largest`.
 * WEIGHTS: sums weights[-x] of pairs of bytes, or writes weights[-x] top factor / 2^(32 + shift). There is one pair at least.
 */
#ifdef PARTITA_XPULP

#define LARGEST(NAME, T, MAX)                                                                                          \
    static PARTITA_COMPACT int32_t NAME(const T *x, int32_t largest, int32_t count)                                    \
    {                                                                                                                  \
        const int32_t words = count >> 2;                                                                              \
        for (int32_t left = count & 3; left > 0; left--) {                                                             \
            largest = partita_max(largest, *x++);                                                                      \
        }                                                                                                              \
        if (words == 0) {                                                                                              \
            return largest;                                                                                            \
        }                                                                                                              \
        uint32_t most = 0x01010101u * (uint8_t)largest;                                                                \
        uint32_t four;                                                                                                 \
        __asm__ volatile(".p2align 2\n"                                                                                \
                         ".option push\n"                                                                              \
                         ".option norvc\n"                                                                             \
                         "lp.setup 0, %[words], 2\n"                                                                   \
                         "p.lw %[four], %[x], %[word]\n" MAX " %[most], %[most], %[four]\n"                            \
                         "lp.end 0\n"                                                                                  \
                         ".option pop\n"                                                                               \
                         : [four] "=&r"(four), [x] "+r"(x), [most] "+r"(most)                                          \
                         : [word] "r"(4), [words] "r"(words)                                                           \
                         : "memory");                                                                                  \
        return partita_max(partita_max((T)most, (T)(most >> 8)), partita_max((T)(most >> 16), (T)(most >> 24)));       \
    }

#define WEIGHTS_LOOP(LENGTH, LOAD, EACH, ...)                                                                          \
    __asm__ volatile(".p2align 2\n"                                                                                    \
                     ".option push\n"                                                                                  \
                     ".option norvc\n"                                                                                 \
                     "lp.setup 0, %[pairs], " LENGTH "\n" LOAD " %[one], %[x], %[byte]\n" LOAD                         \
                     " %[other], %[x], %[byte]\n"                                                                      \
                     "mul %[one], %[one], %[size]\n"                                                                   \
                     "mul %[other], %[other], %[size]\n"                                                               \
                     "p.lwx %[one], %[weights], %[one]\n"                                                              \
                     "p.lwx %[other], %[weights], %[other]\n" EACH "lp.end 0\n"                                        \
                     ".option pop\n"                                                                                   \
                     : [one] "=&r"(one), [other] "=&r"(other), [x] "+r"(x), [to] "+r"(to)                              \
                     : [pairs] "r"(pairs), [byte] "r"(1), [size] "r"(-4), __VA_ARGS__                                  \
                     : "memory")

#define WEIGHTS(TYPE, T, LOAD)                                                                                         \
    static inline uint32_t pairs_of_weights_##TYPE(const uint32_t *weights, const T *x, int32_t pairs)                 \
    {                                                                                                                  \
        uint32_t one, other, to = 0;                                                                                   \
        WEIGHTS_LOOP("8", LOAD,                                                                                        \
                     "add %[to], %[to], %[one]\n"                                                                      \
                     "add %[to], %[to], %[other]\n",                                                                   \
                     [weights] "r"(weights));                                                                          \
        return to;                                                                                                     \
    }                                                                                                                  \
                                                                                                                       \
    static inline void write_weights_##TYPE(const uint32_t *weights, uint32_t top, uint32_t factor, int32_t shift,     \
                                            const T *x, T *to, int32_t pairs)                                          \
    {                                                                                                                  \
        uint32_t one, other;                                                                                           \
        WEIGHTS_LOOP("14", LOAD,                                                                                       \
                     "mul %[one], %[one], %[top]\n"                                                                    \
                     "mul %[other], %[other], %[top]\n"                                                                \
                     "mulhu %[one], %[one], %[factor]\n"                                                               \
                     "mulhu %[other], %[other], %[factor]\n"                                                           \
                     "srl %[one], %[one], %[shift]\n"                                                                  \
                     "srl %[other], %[other], %[shift]\n"                                                              \
                     "p.sb %[one], %[to], %[byte]\n"                                                                   \
                     "p.sb %[other], %[to], %[byte]\n",                                                                \
                     [weights] "r"(weights), [top] "r"(top), [factor] "r"(factor), [shift] "r"(shift));                \
    }

LARGEST(largest_i8, int8_t, "pv.max.b")
LARGEST(largest_u8, uint8_t, "pv.maxu.b")
WEIGHTS(i8, int8_t, "p.lb")
WEIGHTS(u8, uint8_t, "p.lbu")

#else

#define LARGEST(NAME, T, MAX)                                                                                          \
    static int32_t NAME(const T *x, int32_t largest, int32_t count)                                                    \
    {                                                                                                                  \
        for (int32_t i = 0; i < count; i++) {                                                                          \
            largest = partita_max(largest, x[i]);                                                                      \
        }                                                                                                              \
        return largest;                                                                                                \
    }

#define WEIGHTS(TYPE, T, LOAD)                                                                                         \
    static inline uint32_t pairs_of_weights_##TYPE(const uint32_t *weights, const T *x, int32_t pairs)                 \
    {                                                                                                                  \
        uint32_t sum = 0;                                                                                              \
        for (int32_t i = 0; i < 2 * pairs; i++) {                                                                      \
            sum += weights[-(int32_t)x[i]];                                                                            \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    static inline void write_weights_##TYPE(const uint32_t *weights, uint32_t top, uint32_t factor, int32_t shift,     \
                                            const T *x, T *to, int32_t pairs)                                          \
    {                                                                                                                  \
        for (int32_t i = 0; i < 2 * pairs; i++) {                                                                      \
            to[i] = (T)((uint32_t)((uint64_t)(weights[-(int32_t)x[i]] * top) * factor >> 32) >> shift);                \
        }                                                                                                              \
    }

LARGEST(largest_i8, int8_t, )
LARGEST(largest_u8, uint8_t, )
WEIGHTS(i8, int8_t, )
WEIGHTS(u8, uint8_t, )

#endif

#define WEIGHTED_SOFTMAX(TYPE, T)                                                                                      \
    void partita_weighted_softmax_##TYPE(const void *arguments, int32_t core, int32_t cores)                           \
    {                                                                                                                  \
        const struct partita_weighted_softmax *softmax = arguments;                                                    \
        const struct partita_range share = partita_share(softmax->rows, 1, core, cores);                               \
        const int32_t size = softmax->size;                                                                            \
        const int32_t pairs = size >> 1;                                                                               \
        const int32_t last = size - 1;                                                                                 \
        const uint32_t top = (uint32_t)softmax->levels - 1;                                                            \
        for (int32_t row = share.from; row < share.to && size > 0; row++) {                                            \
            const T *x = (const T *)softmax->x + row * size;                                                           \
            T *out = (T *)softmax->out + row * size;                                                                   \
            const uint32_t *weights = softmax->weights + largest_##TYPE(x, x[0], size);                                \
            uint32_t sum = pairs > 0 ? pairs_of_weights_##TYPE(weights, x, pairs) : 0;                                 \
            if (size & 1) {                                                                                            \
                sum += weights[-(int32_t)x[last]];                                                                     \
            }                                                                                                          \
            if (sum < 2) {                                                                                             \
                for (int32_t i = 0; i < size; i++) {                                                                   \
                    out[i] = (T)(weights[-(int32_t)x[i]] * top);                                                       \
                }                                                                                                      \
                continue;                                                                                              \
            }                                                                                                          \
            const int32_t bits = partita_highest_bit(sum);                                                             \
            const uint32_t factor = partita_reciprocal(sum, bits);                                                     \
            const uint32_t odd = size & 1 ? weights[-(int32_t)x[last]] * top : 0;                                      \
            if (pairs > 0) {                                                                                           \
                write_weights_##TYPE(weights, top, factor, bits - 1, x, out, pairs);                                   \
            }                                                                                                          \
            if (size & 1) {                                                                                            \
                out[last] = (T)((uint32_t)((uint64_t)odd * factor >> 32) >> (bits - 1));                               \
            }                                                                                                          \
        }                                                                                                              \
    }

WEIGHTED_SOFTMAX(i8, int8_t)
WEIGHTED_SOFTMAX(u8, uint8_t)

/* The number of halvings for a distance to the maximum, rounded half up. */
static inline int64_t halvings(const struct partita_power_softmax *softmax, int64_t distance)
{
    return (distance + ((int64_t)1 << softmax->unit) / 2) >> softmax->unit;
}

/* Whether 32 bits are enough for bytes: the sum is at most 2^30, and weights are shifted by less than 32. */
static int32_t is_small_power(const struct partita_power_softmax *softmax)
{
    const int32_t limit = 1 << 15;
    return softmax->levels <= limit && softmax->size <= limit && softmax->unit <= 15 && halvings(softmax, 255) < 32;
}

/* For a byte x: the weight is `levels`, shifted right by (top - x) >> unit. */
struct powers {
    uint32_t levels;
    int32_t top; /* the largest element, and a half */
    int32_t unit;
};

static inline uint32_t power(struct powers powers, int32_t x)
{
    return powers.levels >> ((powers.top - x) >> powers.unit);
}

/* POWERS: sums weights of pairs of bytes, and writes them. There is one pair at least. */
#ifdef PARTITA_XPULP

#define POWERS_LOOP(LOAD, EACH)                                                                                        \
    __asm__ volatile(".p2align 2\n"                                                                                    \
                     ".option push\n"                                                                                  \
                     ".option norvc\n"                                                                                 \
                     "lp.setup 0, %[pairs], 10\n" LOAD " %[one], %[x], %[byte]\n" LOAD " %[other], %[x], %[byte]\n"    \
                     "sub %[one], %[top], %[one]\n"                                                                    \
                     "sub %[other], %[top], %[other]\n"                                                                \
                     "srl %[one], %[one], %[unit]\n"                                                                   \
                     "srl %[other], %[other], %[unit]\n"                                                               \
                     "srl %[one], %[levels], %[one]\n"                                                                 \
                     "srl %[other], %[levels], %[other]\n" EACH "lp.end 0\n"                                           \
                     ".option pop\n"                                                                                   \
                     : [one] "=&r"(one), [other] "=&r"(other), [x] "+r"(x), [to] "+r"(to)                              \
                     : [pairs] "r"(pairs), [byte] "r"(1), [top] "r"(powers.top), [unit] "r"(powers.unit),              \
                       [levels] "r"(powers.levels)                                                                     \
                     : "memory")

#define POWERS(TYPE, T, LOAD)                                                                                          \
    static inline uint32_t pairs_of_powers_##TYPE(struct powers powers, const T *x, int32_t pairs)                     \
    {                                                                                                                  \
        uint32_t one, other, to = 0;                                                                                   \
        POWERS_LOOP(LOAD, "add %[to], %[to], %[one]\n"                                                                 \
                          "add %[to], %[to], %[other]\n");                                                             \
        return to;                                                                                                     \
    }                                                                                                                  \
                                                                                                                       \
    static inline void write_pairs_##TYPE(struct powers powers, const T *x, T *to, int32_t pairs)                      \
    {                                                                                                                  \
        uint32_t one, other;                                                                                           \
        POWERS_LOOP(LOAD, "p.sb %[one], %[to], %[byte]\n"                                                              \
                          "p.sb %[other], %[to], %[byte]\n");                                                          \
    }

POWERS(i8, int8_t, "p.lb")
POWERS(u8, uint8_t, "p.lbu")

#else

#define POWERS(TYPE, T, LOAD)                                                                                          \
    static inline uint32_t pairs_of_powers_##TYPE(struct powers powers, const T *x, int32_t pairs)                     \
    {                                                                                                                  \
        uint32_t sum = 0;                                                                                              \
        for (int32_t i = 0; i < 2 * pairs; i++) {                                                                      \
            sum += power(powers, x[i]);                                                                                \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    static inline void write_pairs_##TYPE(struct powers powers, const T *x, T *to, int32_t pairs)                      \
    {                                                                                                                  \
        for (int32_t i = 0; i < 2 * pairs; i++) {                                                                      \
            to[i] = (T)power(powers, x[i]);                                                                            \
        }                                                                                                              \
    }

POWERS(i8, int8_t, )
POWERS(u8, uint8_t, )

#endif

#define SMALL_POWERS(TYPE, T)                                                                                          \
    static PARTITA_COMPACT uint32_t sum_of_powers_##TYPE(struct powers powers, const T *x, int32_t count)              \
    {                                                                                                                  \
        uint32_t sum = count > 1 ? pairs_of_powers_##TYPE(powers, x, count >> 1) : 0;                                  \
        return count & 1 ? sum + power(powers, x[count - 1]) : sum;                                                    \
    }                                                                                                                  \
                                                                                                                       \
    static void small_powers_##TYPE(const struct partita_power_softmax *softmax, struct partita_range share,           \
                                    int32_t group, int32_t top)                                                        \
    {                                                                                                                  \
        const int32_t size = softmax->size;                                                                            \
        const uint32_t levels = (uint32_t)softmax->levels;                                                             \
        const int32_t half = (1 << softmax->unit) >> 1;                                                                \
        for (int32_t row = share.from; row < share.to; row++) {                                                        \
            const T *x = (const T *)softmax->x + row * size;                                                           \
            T *out = (T *)softmax->out + row * size;                                                                   \
            struct powers powers = {.levels = levels, .top = x[0] + half, .unit = softmax->unit};                      \
            uint32_t sum = 0;                                                                                          \
            for (int32_t from = 0; from < size; from += group) {                                                       \
                const int32_t count = partita_min(size - from, group);                                                 \
                const int32_t before = powers.top;                                                                     \
                powers.top = largest_##TYPE(x + from, before - half, count) + half;                                    \
                sum >>= (powers.top - before + half) >> powers.unit;                                                   \
                sum += sum_of_powers_##TYPE(powers, x + from, count);                                                  \
            }                                                                                                          \
            powers.levels = (uint32_t)top * levels / sum;                                                              \
            if (size > 1) {                                                                                            \
                write_pairs_##TYPE(powers, x, out, size >> 1);                                                         \
            }                                                                                                          \
            if (size & 1) {                                                                                            \
                out[size - 1] = (T)power(powers, x[size - 1]);                                                         \
            }                                                                                                          \
        }                                                                                                              \
    }

SMALL_POWERS(i8, int8_t)
SMALL_POWERS(u8, uint8_t)

/* Words may differ by more than 255. */
static void small_powers_i32(const struct partita_power_softmax *softmax, struct partita_range share, int32_t group,
                             int32_t top)
{
    (void)softmax;
    (void)share;
    (void)group;
    (void)top;
}

#define POWER_SOFTMAX(TYPE, T, IS_SMALL)                                                                               \
    static __attribute__((noinline)) void wide_powers_##TYPE(const struct partita_power_softmax *softmax,              \
                                                             struct partita_range share, int32_t group, int64_t top)   \
    {                                                                                                                  \
        const int32_t size = softmax->size;                                                                            \
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
            const int64_t inverse = sum == 0 ? 0 : partita_divide_wrapping_64(top * softmax->levels, sum);             \
            for (int32_t i = 0; i < size; i++) {                                                                       \
                out[i] = (T)shift_right(inverse, halvings(softmax, largest - x[i]));                                   \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void partita_power_softmax_##TYPE(const void *arguments, int32_t core, int32_t cores)                              \
    {                                                                                                                  \
        const struct partita_power_softmax *softmax = arguments;                                                       \
        const struct partita_range share = partita_share(softmax->rows, 1, core, cores);                               \
        const int32_t size = softmax->size;                                                                            \
        const int32_t group = softmax->group > 0 && softmax->group < size ? softmax->group : size;                     \
        const int64_t top = softmax->group > 0 ? softmax->levels / 2 - 1 : softmax->levels - 1;                        \
        if ((IS_SMALL) && size > 0) {                                                                                  \
            small_powers_##TYPE(softmax, share, group, (int32_t)top);                                                  \
        } else {                                                                                                       \
            wide_powers_##TYPE(softmax, share, group, top);                                                            \
        }                                                                                                              \
    }

POWER_SOFTMAX(i8, int8_t, is_small_power(softmax))
POWER_SOFTMAX(u8, uint8_t, is_small_power(softmax))
POWER_SOFTMAX(i32, int32_t, 0)
