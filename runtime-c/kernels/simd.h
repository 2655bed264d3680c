/*
 * Operations on four bytes at once. With PARTITA_XPULP, each of these is one instruction of XpulpV2, with the name of
 * PULP's compiler; elsewhere it is plain C with the same result, so that kernels that use them are tested everywhere.
 * Assembly, which hardware loops need, has the same instructions by name: macros, since the assembler doesn't know them.
 */
#ifndef PARTITA_SIMD_H
#define PARTITA_SIMD_H

#include "kernel.h"

#ifdef PARTITA_XPULP

/*
 * lp.setup: repeats the next `instructions` instructions, each of four bytes, `count` times, at least once. They end with lp.end,
 * where the assembler checks their number, and that a core's own instruction cache of 512 bytes has room for them.
 * p.lw, p.lb, p.lbu, p.sw, p.sb: loads or stores the word or byte at `at`, which advances by `step` bytes. p.lwx: loads the word at
 * `at` + `index`, in bytes.
 */
__asm__(".macro lp.setup loop, count, instructions\n"
        ".insn i 0x7b, 4, x\\loop, \\count, 2 * \\instructions\n"
        ".set .Lloop\\loop, .\n"
        ".set .Lloop_bytes\\loop, 4 * \\instructions\n"
        ".endm\n"
        ".macro lp.end loop\n"
        ".if . - .Lloop\\loop != .Lloop_bytes\\loop || . - .Lloop\\loop > 512\n"
        ".error \"a loop of another number of instructions, or of more than 512 bytes\"\n"
        ".endif\n"
        ".endm\n"
        ".macro p.lw word, at, step\n"
        ".insn r 0x0b, 7, 0x10, \\word, \\at, \\step\n"
        ".endm\n"
        ".macro p.lwx word, at, index\n"
        ".insn r 0x03, 7, 0x10, \\word, \\at, \\index\n"
        ".endm\n"
        ".macro p.lb byte, at, step\n"
        ".insn r 0x0b, 7, 0, \\byte, \\at, \\step\n"
        ".endm\n"
        ".macro p.lbu byte, at, step\n"
        ".insn r 0x0b, 7, 0x20, \\byte, \\at, \\step\n"
        ".endm\n"
        ".macro p.sw word, at, step\n"
        ".insn r 0x2b, 6, 0, \\step, \\at, \\word\n"
        ".endm\n"
        ".macro p.sb byte, at, step\n"
        ".insn r 0x2b, 4, 0, \\step, \\at, \\byte\n"
        ".endm\n"
        ".macro p.mac sum, x, y\n"
        ".insn r 0x33, 0, 0x21, \\sum, \\x, \\y\n"
        ".endm\n"
        ".macro p.abs magnitude, x\n"
        ".insn r 0x33, 0, 0x02, \\magnitude, \\x, x0\n"
        ".endm\n"
        ".macro p.fl1 number, x\n"
        ".insn r 0x33, 1, 0x08, \\number, \\x, x0\n"
        ".endm\n"
        ".macro p.clipr near, x, most\n"
        ".insn r 0x33, 5, 0x0a, \\near, \\x, \\most\n"
        ".endm\n"
        ".macro p.max most, x, y\n"
        ".insn r 0x33, 6, 0x02, \\most, \\x, \\y\n"
        ".endm\n"
        ".macro p.min least, x, y\n"
        ".insn r 0x33, 4, 0x02, \\least, \\x, \\y\n"
        ".endm\n"
        ".macro pv.add.b sum, x, y\n"
        ".insn r 0x57, 1, 0x00, \\sum, \\x, \\y\n"
        ".endm\n"
        ".macro pv.min.b least, x, y\n"
        ".insn r 0x57, 1, 0x10, \\least, \\x, \\y\n"
        ".endm\n"
        ".macro pv.minu.b least, x, y\n"
        ".insn r 0x57, 1, 0x14, \\least, \\x, \\y\n"
        ".endm\n"
        ".macro pv.max.b most, x, y\n"
        ".insn r 0x57, 1, 0x18, \\most, \\x, \\y\n"
        ".endm\n"
        ".macro pv.maxu.b most, x, y\n"
        ".insn r 0x57, 1, 0x1c, \\most, \\x, \\y\n"
        ".endm\n"
        ".macro pv.pack.h both, high, low\n"
        ".insn r 0x57, 0, 0x68, \\both, \\high, \\low\n"
        ".endm\n"
        ".macro pv.shuffle2.b x, y, order\n"
        ".insn r 0x57, 1, 0x64, \\x, \\y, \\order\n"
        ".endm\n"
        ".macro pv.sdotsp.b sum, x, y\n"
        ".insn r 0x57, 1, 0x5c, \\sum, \\x, \\y\n"
        ".endm\n"
        ".macro pv.sdotusp.b sum, x, y\n"
        ".insn r 0x57, 1, 0x54, \\sum, \\x, \\y\n"
        ".endm\n"
        ".macro pv.sdotspu.b sum, x, y\n"
        ".insn r 0x57, 1, 0x54, \\sum, \\y, \\x\n"
        ".endm\n"
        ".macro pv.sdotup.b sum, x, y\n"
        ".insn r 0x57, 1, 0x50, \\sum, \\x, \\y\n"
        ".endm\n");

/* p.lw: the word at *at, which may be unaligned; *at advances by `stride` bytes. */
static inline uint32_t partita_next_word(const uint8_t **at, int32_t stride)
{
    uint32_t word;
    const uint8_t(*bytes)[4] = (const uint8_t(*)[4]) * at;
    __asm__(".insn r 0x0b, 7, 0x10, %0, %1, %2" : "=r"(word), "+r"(*at) : "r"(stride), "m"(*bytes));
    return word;
}

/* p.sw: stores a word at *at, which may be unaligned and advances by `stride` bytes. */
static inline void partita_store_word(uint8_t **at, int32_t stride, uint32_t word)
{
    __asm__ volatile(".insn r 0x2b, 6, 0, %2, %0, %1" : "+r"(*at) : "r"(word), "r"(stride) : "memory");
}

/* p.lbu: the unsigned byte at an index, which may be negative. Any byte of the memory may be meant. */
static inline uint8_t partita_byte_at(const uint8_t *bytes, int32_t index)
{
    uint32_t byte;
    __asm__(".insn r 0x03, 7, 0x20, %0, %1, %2" : "=r"(byte) : "r"(bytes), "r"(index) : "memory");
    return (uint8_t)byte;
}

/* p.lhu: a number of an array of constants. */
static inline int32_t partita_half_at(const uint16_t *halves, int32_t index)
{
    int32_t half;
    __asm__(".insn r 0x03, 7, 0x28, %0, %1, %2" : "=r"(half) : "r"(halves), "r"(2 * index));
    return half;
}

/* pv.sdotsp.b: the sum of four products of signed bytes, added to `sum`. */
static inline uint32_t partita_sdotsp_b(uint32_t sum, uint32_t x, uint32_t y)
{
    __asm__(".insn r 0x57, 1, 0x5c, %0, %1, %2" : "+r"(sum) : "r"(x), "r"(y));
    return sum;
}

/* pv.sdotusp.b: of unsigned bytes x and signed bytes y. */
static inline uint32_t partita_sdotusp_b(uint32_t sum, uint32_t x, uint32_t y)
{
    __asm__(".insn r 0x57, 1, 0x54, %0, %1, %2" : "+r"(sum) : "r"(x), "r"(y));
    return sum;
}

/* pv.sdotup.b: of unsigned bytes. */
static inline uint32_t partita_sdotup_b(uint32_t sum, uint32_t x, uint32_t y)
{
    __asm__(".insn r 0x57, 1, 0x50, %0, %1, %2" : "+r"(sum) : "r"(x), "r"(y));
    return sum;
}

/* pv.shuffle2.b: byte i of `order` selects byte i of the result from bytes 0..3 of x and 4..7 of y. */
static inline uint32_t partita_shuffle2_b(uint32_t x, uint32_t y, uint32_t order)
{
    __asm__(".insn r 0x57, 1, 0x64, %0, %1, %2" : "+r"(x) : "r"(y), "r"(order));
    return x;
}

/* p.mac: the product of x and y, added to `sum`. */
static inline uint32_t partita_mac(uint32_t sum, uint32_t x, uint32_t y)
{
    __asm__(".insn r 0x33, 0, 0x21, %0, %1, %2" : "+r"(sum) : "r"(x), "r"(y));
    return sum;
}

/* p.min: the lesser of two signed integers. */
static inline int32_t partita_min(int32_t x, int32_t y)
{
    int32_t least;
    __asm__(".insn r 0x33, 4, 0x02, %0, %1, %2" : "=r"(least) : "r"(x), "r"(y));
    return least;
}

/* p.max: the greater of two signed integers. */
static inline int32_t partita_max(int32_t x, int32_t y)
{
    int32_t most;
    __asm__(".insn r 0x33, 6, 0x02, %0, %1, %2" : "=r"(most) : "r"(x), "r"(y));
    return most;
}

/* p.maxu: the greater of two unsigned integers. */
static inline uint32_t partita_max_unsigned(uint32_t x, uint32_t y)
{
    uint32_t most;
    __asm__(".insn r 0x33, 7, 0x02, %0, %1, %2" : "=r"(most) : "r"(x), "r"(y));
    return most;
}

/* p.minu: the lesser of two unsigned integers. */
static inline uint32_t partita_min_unsigned(uint32_t x, uint32_t y)
{
    uint32_t least;
    __asm__(".insn r 0x33, 5, 0x02, %0, %1, %2" : "=r"(least) : "r"(x), "r"(y));
    return least;
}

/* p.clipr: the nearest of the numbers from -most - 1 to `most`. */
static inline int32_t partita_clip(int32_t x, int32_t most)
{
    int32_t near;
    __asm__(".insn r 0x33, 5, 0x0a, %0, %1, %2" : "=r"(near) : "r"(x), "r"(most));
    return near;
}

/* fcvt.w.s: the integer part; that of the nearest i32, and the largest for NaN. */
static inline int32_t partita_truncated(float x)
{
    int32_t integer;
    __asm__("fcvt.w.s %0, %1, rtz" : "=r"(integer) : "f"(x));
    return integer;
}

/* p.fl1: the number of the highest bit that is set, of an x other than 0. */
static inline int32_t partita_highest_bit(uint32_t x)
{
    int32_t number;
    __asm__(".insn r 0x33, 1, 0x08, %0, %1, x0" : "=r"(number) : "r"(x));
    return number;
}

/* p.subN: (x - y) / 16, rounded down. */
static inline int32_t partita_less_by_16(int32_t x, int32_t y)
{
    int32_t shifted;
    __asm__(".insn r 0x5b, 3, 4, %0, %1, %2" : "=r"(shifted) : "r"(x), "r"(y));
    return shifted;
}

/* pv.pack.h: the lower half of `low` below the lower half of `high`. */
static inline uint32_t partita_pack_h(uint32_t high, uint32_t low)
{
    uint32_t both;
    __asm__(".insn r 0x57, 0, 0x68, %0, %1, %2" : "=r"(both) : "r"(high), "r"(low));
    return both;
}

/* pv.min.h: the lesser of both signed halves. */
static inline uint32_t partita_min_h(uint32_t x, uint32_t y)
{
    uint32_t result;
    __asm__(".insn r 0x57, 0, 0x10, %0, %1, %2" : "=r"(result) : "r"(x), "r"(y));
    return result;
}

/* pv.max.h: the greater of both signed halves. */
static inline uint32_t partita_max_h(uint32_t x, uint32_t y)
{
    uint32_t result;
    __asm__(".insn r 0x57, 0, 0x18, %0, %1, %2" : "=r"(result) : "r"(x), "r"(y));
    return result;
}

/* pv.maxu.h: the greater of both unsigned halves. */
static inline uint32_t partita_max_unsigned_h(uint32_t x, uint32_t y)
{
    uint32_t result;
    __asm__(".insn r 0x57, 0, 0x1c, %0, %1, %2" : "=r"(result) : "r"(x), "r"(y));
    return result;
}

#else

static inline uint32_t partita_next_word(const uint8_t **at, int32_t stride)
{
    const uint8_t *byte = *at;
    *at += stride;
    return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}

static inline void partita_store_word(uint8_t **at, int32_t stride, uint32_t word)
{
    for (int32_t i = 0; i < 4; i++) {
        (*at)[i] = (uint8_t)(word >> 8 * i);
    }
    *at += stride;
}

static inline uint8_t partita_byte_at(const uint8_t *bytes, int32_t index)
{
    return bytes[index];
}

static inline int32_t partita_half_at(const uint16_t *halves, int32_t index)
{
    return halves[index];
}

static inline uint32_t partita_byte(uint32_t word, int32_t number)
{
    return word >> 8 * number & 255;
}

static inline uint32_t partita_signed_byte(uint32_t word, int32_t number)
{
    return (partita_byte(word, number) ^ 128) - 128;
}

static inline uint32_t partita_sdotsp_b(uint32_t sum, uint32_t x, uint32_t y)
{
    for (int32_t i = 0; i < 4; i++) {
        sum += partita_signed_byte(x, i) * partita_signed_byte(y, i);
    }
    return sum;
}

static inline uint32_t partita_sdotusp_b(uint32_t sum, uint32_t x, uint32_t y)
{
    for (int32_t i = 0; i < 4; i++) {
        sum += partita_byte(x, i) * partita_signed_byte(y, i);
    }
    return sum;
}

static inline uint32_t partita_sdotup_b(uint32_t sum, uint32_t x, uint32_t y)
{
    for (int32_t i = 0; i < 4; i++) {
        sum += partita_byte(x, i) * partita_byte(y, i);
    }
    return sum;
}

static inline uint32_t partita_mac(uint32_t sum, uint32_t x, uint32_t y)
{
    return sum + x * y;
}

static inline uint32_t partita_shuffle2_b(uint32_t x, uint32_t y, uint32_t order)
{
    uint32_t result = 0;
    for (int32_t i = 0; i < 4; i++) {
        const int32_t from = (int32_t)(partita_byte(order, i) & 7);
        result |= partita_byte(from < 4 ? x : y, from & 3) << 8 * i;
    }
    return result;
}

static inline int32_t partita_min(int32_t x, int32_t y)
{
    return x < y ? x : y;
}

static inline int32_t partita_max(int32_t x, int32_t y)
{
    return x > y ? x : y;
}

static inline uint32_t partita_max_unsigned(uint32_t x, uint32_t y)
{
    return x > y ? x : y;
}

static inline uint32_t partita_min_unsigned(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

static inline int32_t partita_clip(int32_t x, int32_t most)
{
    return x < -most - 1 ? -most - 1 : x > most ? most : x;
}

static inline int32_t partita_truncated(float x)
{
    return x < -0x1p31f ? INT32_MIN : x < 0x1p31f ? (int32_t)x : INT32_MAX;
}

static inline int32_t partita_highest_bit(uint32_t x)
{
    int32_t number = 0;
    while (x >>= 1) {
        number++;
    }
    return number;
}

static inline int32_t partita_less_by_16(int32_t x, int32_t y)
{
    return (x - y) >> 4;
}

static inline uint32_t partita_pack_h(uint32_t high, uint32_t low)
{
    return high << 16 | (low & 0xffff);
}

static inline uint32_t partita_min_h(uint32_t x, uint32_t y)
{
    return partita_pack_h((uint32_t)partita_min((int32_t)x >> 16, (int32_t)y >> 16),
                          (uint32_t)partita_min((int16_t)x, (int16_t)y));
}

static inline uint32_t partita_max_h(uint32_t x, uint32_t y)
{
    return partita_pack_h((uint32_t)partita_max((int32_t)x >> 16, (int32_t)y >> 16),
                          (uint32_t)partita_max((int16_t)x, (int16_t)y));
}

static inline uint32_t partita_max_unsigned_h(uint32_t x, uint32_t y)
{
    return partita_pack_h(partita_max_unsigned(x >> 16, y >> 16), partita_max_unsigned(x & 0xffff, y & 0xffff));
}

#endif

/*
 * place modulo size, for places from 0 to 2 size - 1, without a division or a branch: a place less than size becomes a large
 * unsigned number when size is subtracted.
 */
static inline int32_t partita_wrapped(int32_t place, int32_t size)
{
    return (int32_t)partita_min_unsigned((uint32_t)place, (uint32_t)(place - size));
}

/* pv.sdotusp.b for signed bytes x and unsigned bytes y. */
static inline uint32_t partita_sdotspu_b(uint32_t sum, uint32_t x, uint32_t y)
{
    return partita_sdotusp_b(sum, y, x);
}

/* All bits of the magnitudes of `count` numbers, at least one, that are a stride apart. */
static inline uint32_t partita_magnitudes(const int32_t *numbers, int32_t stride, int32_t count)
{
    uint32_t bits = 0;
#ifdef PARTITA_XPULP
    int32_t number;
    __asm__ volatile(".p2align 2\n"
                     ".option push\n"
                     ".option norvc\n"
                     "lp.setup 0, %[count], 3\n"
                     "p.lw %[number], %[numbers], %[step]\n"
                     "p.abs %[number], %[number]\n"
                     "or %[bits], %[bits], %[number]\n"
                     "lp.end 0\n"
                     ".option pop\n"
                     : [number] "=&r"(number), [bits] "+r"(bits), [numbers] "+r"(numbers)
                     : [step] "r"(4 * stride), [count] "r"(count)
                     : "memory");
#else
    for (int32_t i = 0; i < count; i++) {
        const uint32_t number = (uint32_t)numbers[i * stride];
        bits |= numbers[i * stride] < 0 ? -number : number;
    }
#endif
    return bits;
}

#endif
