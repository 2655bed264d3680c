/* The rectifier of floats: the greater of x and 0, or NaN. */
#include "float_functions.h"
#include "simd.h"
#include "unary.h"

#ifdef PARTITA_XPULP

/* x + 0 has the value of x, and of NaN no bits but PARTITA_NAN, which as an integer is greater than 0, as positive floats are. */
static PARTITA_COMPACT void rectify(const float *x, float *out, int32_t count)
{
    if (count >= 4) {
        uint32_t a, b, c, d;
        __asm__ volatile("fmv.w.x ft4, zero\n"
                ".p2align 2\n"
                ".option push\n"
                ".option norvc\n"
                "lp.setup 0, %[fours], 21\n"
                "flw ft0, 0(%[x])\n"
                "flw ft1, 4(%[x])\n"
                "fadd.s ft0, ft0, ft4\n"
                "flw ft2, 8(%[x])\n"
                "fadd.s ft1, ft1, ft4\n"
                "flw ft3, 12(%[x])\n"
                "fadd.s ft2, ft2, ft4\n"
                "addi %[x], %[x], 16\n"
                "fadd.s ft3, ft3, ft4\n"
                "fmv.x.w %[a], ft0\n"
                "fmv.x.w %[b], ft1\n"
                "p.max %[a], %[a], zero\n"
                "fmv.x.w %[c], ft2\n"
                "p.max %[b], %[b], zero\n"
                "fmv.x.w %[d], ft3\n"
                "p.max %[c], %[c], zero\n"
                "p.sw %[a], %[out], %[word]\n"
                "p.max %[d], %[d], zero\n"
                "p.sw %[b], %[out], %[word]\n"
                "p.sw %[c], %[out], %[word]\n"
                "p.sw %[d], %[out], %[word]\n"
                "lp.end 0\n"
                ".option pop\n"
                : [x] "+r"(x), [out] "+r"(out), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d)
                : [fours] "r"(count / 4), [word] "r"(4)
                : "ft0", "ft1", "ft2", "ft3", "ft4", "memory");
        count &= 3;
    }
    for (; count > 0; count--) {
        *out++ = partita_maximum(*x++, 0.0f);
    }
}

#else

static void rectify(const float *x, float *out, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        out[i] = partita_maximum(x[i], 0.0f);
    }
}

#endif

void partita_relu_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_unary *unary = arguments;
    const struct partita_range share = partita_share(unary->count, 8, core, cores);
    rectify((const float *)unary->x + share.from, (float *)unary->out + share.from, share.to - share.from);
}
