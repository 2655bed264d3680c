#include "integer_network.h"

#include "simd.h"

/* (a (p + b)^2 + c) >> z, for t = x - max. */
static inline int64_t parabola(const struct partita_integer_softmax *softmax, int64_t t)
{
    const int64_t z = partita_divide_wrapping_64(-t, softmax->log2);
    const int64_t shifted = partita_add_wrapping_64(t + z * softmax->log2, softmax->b);
    const int64_t square = partita_multiply_wrapping_64(partita_multiply_wrapping_64(softmax->a, shifted), shifted);
    return partita_shift_right_64(partita_add_wrapping_64(square, softmax->c), z);
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
