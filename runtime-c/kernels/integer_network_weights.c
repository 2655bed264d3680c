/* Softmaxes of bytes whose weights are in a table, and those by powers of two. */
#include "integer_network.h"

#include "reciprocal.h"

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
                sum = partita_shift_right_64(sum, halvings(softmax, largest - before));                                \
                for (int32_t i = from; i < to; i++) {                                                                  \
                    sum += partita_shift_right_64(softmax->levels, halvings(softmax, largest - x[i]));                 \
                }                                                                                                      \
            }                                                                                                          \
            const int64_t inverse = sum == 0 ? 0 : partita_divide_wrapping_64(top * softmax->levels, sum);             \
            for (int32_t i = 0; i < size; i++) {                                                                       \
                out[i] = (T)partita_shift_right_64(inverse, halvings(softmax, largest - x[i]));                        \
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
