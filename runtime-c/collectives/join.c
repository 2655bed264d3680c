#include "join.h"

#include "../kernels/double_functions.h"
#include "../kernels/float_functions.h"
#include "../kernels/half.h"

/* The elements that are joined at a time. */
enum { NEAR = 8 };

#define JOIN(NAME, T, VALUE)                                                                                           \
    static inline T NAME##_of(T x, T y)                                                                                \
    {                                                                                                                  \
        return (T)(VALUE);                                                                                             \
    }                                                                                                                  \
                                                                                                                       \
    PARTITA_COMPACT void NAME(const void *arguments, int32_t core, int32_t cores)                                      \
    {                                                                                                                  \
        const struct partita_join *join = arguments;                                                                   \
        const struct partita_range share = partita_share(join->elements, 8, core, cores);                              \
        T *own = (T *)join->own;                                                                                       \
        int32_t i = share.from;                                                                                        \
        for (; i + NEAR <= share.to; i += NEAR) {                                                                      \
            T sums[NEAR];                                                                                              \
            PARTITA_UNROLLED (int32_t k = 0; k < NEAR; k++) {                                                          \
                sums[k] = own[i + k];                                                                                  \
            }                                                                                                          \
            const T *received = (const T *)join->received + i;                                                         \
            for (int32_t each = join->count; each > 0; each--) {                                                       \
                T terms[NEAR];                                                                                         \
                PARTITA_UNROLLED (int32_t k = 0; k < NEAR; k++) {                                                      \
                    terms[k] = received[k];                                                                            \
                }                                                                                                      \
                received += join->elements;                                                                            \
                PARTITA_UNROLLED (int32_t k = 0; k < NEAR; k++) {                                                      \
                    sums[k] = NAME##_of(sums[k], terms[k]);                                                            \
                }                                                                                                      \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t k = 0; k < NEAR; k++) {                                                          \
                own[i + k] = sums[k];                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        for (; i < share.to; i++) {                                                                                    \
            const T *received = (const T *)join->received + i;                                                         \
            for (int32_t each = join->count; each > 0; each--) {                                                       \
                own[i] = NAME##_of(own[i], *received);                                                                 \
                received += join->elements;                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }

#define JOINS(TYPE, T, SUM, LARGER, SMALLER)                                                                           \
    JOIN(partita_join_add_##TYPE, T, SUM)                                                                              \
    JOIN(partita_join_max_##TYPE, T, LARGER)                                                                           \
    JOIN(partita_join_min_##TYPE, T, SMALLER)

#define INTEGERS(TYPE, T, NATURAL) JOINS(TYPE, T, (NATURAL)x + (NATURAL)y, x > y ? x : y, x < y ? x : y)

/* Computed in f32 and rounded once: f32 has more than twice as many bits of precision. */
#define HALVES(TYPE)                                                                                                   \
    JOINS(TYPE, uint16_t, partita_to_##TYPE(partita_from_##TYPE(x) + partita_from_##TYPE(y)),                          \
          partita_to_##TYPE(partita_maximum(partita_from_##TYPE(x), partita_from_##TYPE(y))),                          \
          partita_to_##TYPE(partita_minimum(partita_from_##TYPE(x), partita_from_##TYPE(y))))

JOINS(f64, double, x + y, partita_double_maximum(x, y), partita_double_minimum(x, y))
JOINS(f32, float, x + y, partita_maximum(x, y), partita_minimum(x, y))
HALVES(f16)
HALVES(bf16)
INTEGERS(i64, int64_t, uint64_t)
INTEGERS(u64, uint64_t, uint64_t)
INTEGERS(i32, int32_t, uint32_t)
INTEGERS(i8, int8_t, uint32_t)
INTEGERS(u8, uint8_t, uint32_t)
