#include "integer_attention.h"

#include "gemm_blocks.h"
#include "integer_attention_weights.h"
#include "simd.h"

/* With this unit or a larger one, differences from hidden keys are at least PARTITA_WEIGHTLESS, since scores are below 2^30. */
#define LEAST_UNIT 0x1p-14f

/*
 * Weights of `count` scores, a constant of at most a block: each step for all of them before the next, since the result of
 * a float operation takes some cycles. `hides`, a constant too: whether the scores of hidden keys have to be looked for.
 */
PARTITA_INLINE void weigh_scores(const int32_t *scores, int32_t count, int32_t largest, float unit, int32_t hides,
                                 uint8_t *out)
{
    int32_t own[PARTITA_BLOCK];
    float exponents[PARTITA_BLOCK];
    int32_t steps[PARTITA_BLOCK];
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        own[i] = scores[i];
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        exponents[i] = (float)((uint32_t)largest - (uint32_t)own[i]) * unit;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        const int32_t near = partita_min(partita_truncated(exponents[i]), PARTITA_WEIGHTLESS);
        own[i] = hides && own[i] == PARTITA_HIDDEN_SCORE ? PARTITA_WEIGHTLESS : near;
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        steps[i] = partita_half_at(partita_attention_steps, own[i] >> 4);
    }
    PARTITA_UNROLLED (int32_t i = 0; i < count; i++) {
        out[i] = (uint8_t)partita_less_by_16(steps[i], own[i] & 15);
    }
}

/* With fewer scores, fetching the code for blocks takes longer than the blocks save. */
enum { MANY_SCORES = 32 };

/* Weights of a part of a line. */
PARTITA_INLINE void weigh_line(const int32_t *scores, struct partita_range part, int32_t largest, float unit,
                               int32_t hides, uint8_t *out)
{
    int32_t i = part.from;
    if (part.to - i >= MANY_SCORES) {
        for (; i + PARTITA_BLOCK <= part.to; i += PARTITA_BLOCK) {
            weigh_scores(scores + i, PARTITA_BLOCK, largest, unit, hides, out + i);
        }
    }
    for (; i < part.to; i++) {
        weigh_scores(scores + i, 1, largest, unit, hides, out + i);
    }
}

static PARTITA_STAGED void weigh_seen(const int32_t *scores, struct partita_range part, int32_t largest, float unit,
                                      uint8_t *out)
{
    weigh_line(scores, part, largest, unit, 0, out);
}

static PARTITA_COMPACT void weigh_any(const int32_t *scores, struct partita_range part, int32_t largest, float unit,
                                      uint8_t *out)
{
    weigh_line(scores, part, largest, unit, 1, out);
}

/* The largest of a line's scores. */
static __attribute__((noinline)) int32_t largest_of(const int32_t *scores, int32_t count)
{
    int32_t largest = PARTITA_HIDDEN_SCORE;
    int32_t pairs = count >> 1;
#ifdef PARTITA_XPULP
    int32_t x, y;
    if (pairs > 0) {
        __asm__(".p2align 2\n"
                ".option push\n"
                ".option norvc\n"
                "lp.setup 0, %[pairs], 4\n"
                "p.lw %[x], %[scores], %[word]\n"
                "p.lw %[y], %[scores], %[word]\n"
                "p.max %[largest], %[largest], %[x]\n"
                "p.max %[largest], %[largest], %[y]\n"
                "lp.end 0\n"
                ".option pop\n"
                : [x] "=&r"(x), [y] "=&r"(y), [scores] "+r"(scores), [largest] "+r"(largest)
                : [word] "r"(4), [pairs] "r"(pairs)
                : "memory");
    }
#else
    for (; pairs > 0; pairs--) {
        largest = partita_max(largest, *scores++);
        largest = partita_max(largest, *scores++);
    }
#endif
    return count & 1 ? partita_max(largest, *scores) : largest;
}

PARTITA_COMPACT void partita_attention_weights_u8(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_attention_weights *weights = arguments;
    const int32_t lines = weights->heads * weights->seq;
    const int32_t keys = weights->keys;
    const float unit = weights->unit;
    struct partita_range share = {0, lines};
    struct partita_range part = {0, weights->row};
    if (lines < cores) {
        part = partita_share(weights->row, 4, core, cores);
    } else {
        share = partita_share(lines, 1, core, cores);
    }
    for (int32_t line = share.from; line < share.to; line++) {
        const int32_t *scores = weights->scores + line * keys;
        uint8_t *out = weights->weights + line * weights->row;
        const int32_t largest = largest_of(scores, keys);
        const struct partita_range seen = {part.from, part.to < keys ? part.to : keys};
        if (largest == PARTITA_HIDDEN_SCORE || unit < LEAST_UNIT) {
            weigh_any(scores, seen, largest, unit, out);
        } else {
            weigh_seen(scores, seen, largest, unit, out);
        }
        for (int32_t i = partita_max(seen.from, seen.to); i < part.to; i++) {
            out[i] = 0;
        }
    }
}
