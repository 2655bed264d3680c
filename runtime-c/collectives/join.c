#include "join.h"

#include "../kernels/double_functions.h"
#include "../kernels/float_functions.h"
#include "../kernels/half.h"
#include "../kernels/simd.h"

enum { NEAR = 8 };

/* Joins elements one by one. */
#define JOIN_ELEMENTS(NAME, T, VALUE)                                                                                  \
    static inline T NAME##_of(T x, T y)                                                                                \
    {                                                                                                                  \
        return (T)(VALUE);                                                                                             \
    }                                                                                                                  \
                                                                                                                       \
    static inline void NAME##_elements(const struct partita_join *join, int32_t from, int32_t to)                      \
    {                                                                                                                  \
        T *own = (T *)join->own;                                                                                       \
        for (int32_t i = from; i < to; i++) {                                                                          \
            const T *received = (const T *)join->received + i;                                                         \
            for (int32_t each = join->count; each > 0; each--) {                                                       \
                own[i] = NAME##_of(own[i], *received);                                                                 \
                received += join->elements;                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }

/* Joins whole groups of NEAR elements. */
#define JOIN_GROUPS(NAME, T)                                                                                           \
    PARTITA_INLINE void NAME##_groups(T *own, const T *received, int32_t count, int32_t elements, int32_t groups)      \
    {                                                                                                                  \
        for (; groups > 0; groups--) {                                                                                 \
            const T *at = received;                                                                                    \
            T sums[NEAR];                                                                                              \
            PARTITA_UNROLLED (int32_t k = 0; k < NEAR; k++) {                                                          \
                sums[k] = own[k];                                                                                      \
            }                                                                                                          \
            for (int32_t each = count; each > 0; each--) {                                                             \
                T terms[NEAR];                                                                                         \
                PARTITA_UNROLLED (int32_t k = 0; k < NEAR; k++) {                                                      \
                    terms[k] = at[k];                                                                                  \
                }                                                                                                      \
                at += elements;                                                                                        \
                PARTITA_UNROLLED (int32_t k = 0; k < NEAR; k++) {                                                      \
                    sums[k] = NAME##_of(sums[k], terms[k]);                                                            \
                }                                                                                                      \
            }                                                                                                          \
            PARTITA_UNROLLED (int32_t k = 0; k < NEAR; k++) {                                                          \
                own[k] = sums[k];                                                                                      \
            }                                                                                                          \
            own += NEAR;                                                                                               \
            received += NEAR;                                                                                          \
        }                                                                                                              \
    }

#define JOIN_KERNEL(NAME, T, GROUP)                                                                                    \
    PARTITA_COMPACT void NAME(const void *arguments, int32_t core, int32_t cores)                                      \
    {                                                                                                                  \
        const struct partita_join *join = arguments;                                                                   \
        const struct partita_range share = partita_share(join->elements, NEAR, core, cores);                           \
        const int32_t groups = (share.to - share.from) / (GROUP);                                                      \
        if (groups > 0 && join->count > 0) {                                                                           \
            NAME##_groups((T *)join->own + share.from, (const T *)join->received + share.from, join->count,            \
                          join->elements, groups);                                                                     \
        }                                                                                                              \
        NAME##_elements(join, share.from + groups * (GROUP), share.to);                                                \
    }

#define JOIN(NAME, T, VALUE)                                                                                           \
    JOIN_ELEMENTS(NAME, T, VALUE)                                                                                      \
    JOIN_GROUPS(NAME, T)                                                                                               \
    JOIN_KERNEL(NAME, T, NEAR)

#ifdef PARTITA_XPULP

/* Groups of four words: a loop of groups around one of messages. */
#define JOIN_WORDS(NAME, INSTRUCTION, VALUE)                                                                           \
    JOIN_ELEMENTS(NAME, int32_t, VALUE)                                                                                \
                                                                                                                       \
    PARTITA_INLINE void NAME##_groups(int32_t *own, const int32_t *received, int32_t count, int32_t elements,          \
                                      int32_t groups)                                                                  \
    {                                                                                                                  \
        const int32_t *at;                                                                                             \
        uint32_t sum0, sum1, sum2, sum3, term0, term1;                                                                 \
        __asm__ volatile(".p2align 2\n"                                                                                         \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "lp.setup 1, %[groups], 19\n"                                                                          \
                "lw %[sum0], 0(%[own])\n"                                                                              \
                "lw %[sum1], 4(%[own])\n"                                                                              \
                "lw %[sum2], 8(%[own])\n"                                                                              \
                "lw %[sum3], 12(%[own])\n"                                                                             \
                "mv %[at], %[received]\n"                                                                              \
                "lp.setup 0, %[count], 8\n"                                                                            \
                "p.lw %[term0], %[at], %[word]\n"                                                                      \
                "p.lw %[term1], %[at], %[word]\n"                                                                      \
                INSTRUCTION " %[sum0], %[sum0], %[term0]\n"                                                            \
                "p.lw %[term0], %[at], %[word]\n"                                                                      \
                INSTRUCTION " %[sum1], %[sum1], %[term1]\n"                                                            \
                "p.lw %[term1], %[at], %[stride]\n"                                                                    \
                INSTRUCTION " %[sum2], %[sum2], %[term0]\n"                                                            \
                INSTRUCTION " %[sum3], %[sum3], %[term1]\n"                                                            \
                "lp.end 0\n"                                                                                           \
                "addi %[received], %[received], 16\n"                                                                  \
                "p.sw %[sum0], %[own], %[word]\n"                                                                      \
                "p.sw %[sum1], %[own], %[word]\n"                                                                      \
                "p.sw %[sum2], %[own], %[word]\n"                                                                      \
                "p.sw %[sum3], %[own], %[word]\n"                                                                      \
                "lp.end 1\n"                                                                                           \
                ".option pop\n"                                                                                        \
                : [own] "+r"(own), [received] "+r"(received), [at] "=&r"(at), [sum0] "=&r"(sum0), [sum1] "=&r"(sum1),  \
                  [sum2] "=&r"(sum2), [sum3] "=&r"(sum3), [term0] "=&r"(term0), [term1] "=&r"(term1)                   \
                : [groups] "r"(groups), [count] "r"(count), [stride] "r"(4 * elements - 12),                            \
                  [word] "r"(4)                                                                                        \
                : "memory");                                                                                           \
    }                                                                                                                  \
                                                                                                                       \
    JOIN_KERNEL(NAME, int32_t, 4)

/* Groups of two words of bytes in the same way. */
#define JOIN_BYTES(NAME, T, INSTRUCTION, VALUE)                                                                        \
    JOIN_ELEMENTS(NAME, T, VALUE)                                                                                      \
                                                                                                                       \
    PARTITA_INLINE void NAME##_groups(T *own, const T *received, int32_t count, int32_t elements, int32_t groups)      \
    {                                                                                                                  \
        const T *at;                                                                                                   \
        uint32_t sum0, sum1, term0, term1;                                                                             \
        __asm__ volatile(".p2align 2\n"                                                                                \
                         ".option push\n"                                                                              \
                         ".option norvc\n"                                                                             \
                         "lp.setup 1, %[groups], 11\n"                                                                 \
                         "lw %[sum0], 0(%[own])\n"                                                                     \
                         "lw %[sum1], 4(%[own])\n"                                                                     \
                         "mv %[at], %[received]\n"                                                                     \
                         "lp.setup 0, %[count], 4\n"                                                                   \
                         "p.lw %[term0], %[at], %[word]\n"                                                             \
                         "p.lw %[term1], %[at], %[stride]\n"                                                           \
                         INSTRUCTION " %[sum0], %[sum0], %[term0]\n"                                                   \
                         INSTRUCTION " %[sum1], %[sum1], %[term1]\n"                                                   \
                         "lp.end 0\n"                                                                                  \
                         "addi %[received], %[received], 8\n"                                                          \
                         "p.sw %[sum0], %[own], %[word]\n"                                                             \
                         "p.sw %[sum1], %[own], %[word]\n"                                                             \
                         "lp.end 1\n"                                                                                  \
                         ".option pop\n"                                                                               \
                         : [own] "+r"(own), [received] "+r"(received), [at] "=&r"(at), [sum0] "=&r"(sum0),             \
                           [sum1] "=&r"(sum1), [term0] "=&r"(term0), [term1] "=&r"(term1)                              \
                         : [groups] "r"(groups), [count] "r"(count), [stride] "r"(elements - 4), [word] "r"(4)         \
                         : "memory");                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    JOIN_KERNEL(NAME, T, NEAR)

/* Groups of eight floats in the same way; an operation begins in between loads, as two cores share a unit of floats. */
#define JOIN_FLOATS(NAME, INSTRUCTION, VALUE)                                                                          \
    JOIN_ELEMENTS(NAME, float, VALUE)                                                                                  \
                                                                                                                       \
    PARTITA_INLINE void NAME##_groups(float *own, const float *received, int32_t count, int32_t elements,              \
                                      int32_t groups)                                                                  \
    {                                                                                                                  \
        const float *at;                                                                                               \
        __asm__ volatile(".p2align 2\n"                                                                                         \
                ".option push\n"                                                                                       \
                ".option norvc\n"                                                                                      \
                "lp.setup 1, %[groups], 37\n"                                                                          \
                "flw ft0, 0(%[own])\n"                                                                                 \
                "flw ft1, 4(%[own])\n"                                                                                 \
                "flw ft2, 8(%[own])\n"                                                                                 \
                "flw ft3, 12(%[own])\n"                                                                                \
                "flw ft4, 16(%[own])\n"                                                                                \
                "flw ft5, 20(%[own])\n"                                                                                \
                "flw ft6, 24(%[own])\n"                                                                                \
                "flw ft7, 28(%[own])\n"                                                                                \
                "mv %[at], %[received]\n"                                                                              \
                "lp.setup 0, %[count], 17\n"                                                                           \
                "flw fa0, 0(%[at])\n"                                                                                  \
                "flw fa1, 4(%[at])\n"                                                                                  \
                INSTRUCTION " ft0, ft0, fa0\n"                                                                         \
                "flw fa0, 8(%[at])\n"                                                                                  \
                INSTRUCTION " ft1, ft1, fa1\n"                                                                         \
                "flw fa1, 12(%[at])\n"                                                                                 \
                INSTRUCTION " ft2, ft2, fa0\n"                                                                         \
                "flw fa0, 16(%[at])\n"                                                                                 \
                INSTRUCTION " ft3, ft3, fa1\n"                                                                         \
                "flw fa1, 20(%[at])\n"                                                                                 \
                INSTRUCTION " ft4, ft4, fa0\n"                                                                         \
                "flw fa0, 24(%[at])\n"                                                                                 \
                INSTRUCTION " ft5, ft5, fa1\n"                                                                         \
                "flw fa1, 28(%[at])\n"                                                                                 \
                INSTRUCTION " ft6, ft6, fa0\n"                                                                         \
                "add %[at], %[at], %[stride]\n"                                                                        \
                INSTRUCTION " ft7, ft7, fa1\n"                                                                         \
                "lp.end 0\n"                                                                                           \
                "addi %[received], %[received], 32\n"                                                                  \
                "addi %[own], %[own], 32\n"                                                                            \
                "fsw ft0, -32(%[own])\n"                                                                               \
                "fsw ft1, -28(%[own])\n"                                                                               \
                "fsw ft2, -24(%[own])\n"                                                                               \
                "fsw ft3, -20(%[own])\n"                                                                               \
                "fsw ft4, -16(%[own])\n"                                                                               \
                "fsw ft5, -12(%[own])\n"                                                                               \
                "fsw ft6, -8(%[own])\n"                                                                                \
                "fsw ft7, -4(%[own])\n"                                                                                \
                "lp.end 1\n"                                                                                           \
                ".option pop\n"                                                                                        \
                : [own] "+r"(own), [received] "+r"(received), [at] "=&r"(at)                                           \
                : [groups] "r"(groups), [count] "r"(count), [stride] "r"(4 * elements)                                 \
                : "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fa0", "fa1", "memory");                     \
    }                                                                                                                  \
                                                                                                                       \
    JOIN_KERNEL(NAME, float, NEAR)

#else

#define JOIN_WORDS(NAME, INSTRUCTION, VALUE) JOIN(NAME, int32_t, VALUE)
#define JOIN_BYTES(NAME, T, INSTRUCTION, VALUE) JOIN(NAME, T, VALUE)
#define JOIN_FLOATS(NAME, INSTRUCTION, VALUE) JOIN(NAME, float, VALUE)

#endif

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
JOIN_FLOATS(partita_join_add_f32, "fadd.s", x + y)
JOIN(partita_join_max_f32, float, partita_maximum(x, y))
JOIN(partita_join_min_f32, float, partita_minimum(x, y))
HALVES(f16)
HALVES(bf16)
INTEGERS(i64, int64_t, uint64_t)
INTEGERS(u64, uint64_t, uint64_t)
JOIN_WORDS(partita_join_add_i32, "add", (uint32_t)x + (uint32_t)y)
JOIN_WORDS(partita_join_max_i32, "p.max", x > y ? x : y)
JOIN_WORDS(partita_join_min_i32, "p.min", x < y ? x : y)
JOIN_BYTES(partita_join_add_i8, int8_t, "pv.add.b", (uint32_t)x + (uint32_t)y)
JOIN_BYTES(partita_join_max_i8, int8_t, "pv.max.b", x > y ? x : y)
JOIN_BYTES(partita_join_min_i8, int8_t, "pv.min.b", x < y ? x : y)
JOIN_BYTES(partita_join_add_u8, uint8_t, "pv.add.b", (uint32_t)x + (uint32_t)y)
JOIN_BYTES(partita_join_max_u8, uint8_t, "pv.maxu.b", x > y ? x : y)
JOIN_BYTES(partita_join_min_u8, uint8_t, "pv.minu.b", x < y ? x : y)
