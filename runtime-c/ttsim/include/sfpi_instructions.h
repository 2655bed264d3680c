/* Instructions of the vector engine on registers. */
#pragma once

#include <cstdint>
#include <cstring>

#include "sfpi_constants.h"

#define sfpi_inline [[gnu::always_inline]] inline

/* Functions without an instruction here: a call in a kernel is reported by the compiler. */
#define SFPI_MISSING [[gnu::error("the stock compiler's vector layer has no such function")]]

namespace sfpi {

namespace impl_ {

using sfpu_t = float;

constexpr std::uint32_t operation(std::uint32_t code, std::uint32_t rest) { return code << 24 | rest; }

/* d = operation of c, with an immediate. */
template <std::uint32_t code>
sfpi_inline sfpu_t unary(sfpu_t c, std::uint32_t mod, std::uint32_t imm = 0) {
    sfpu_t d;
    asm volatile(".ttinsn %2 + (lreg_%1 << 8) + (lreg_%0 << 4)"
                 : "=f"(d)
                 : "f"(c), "i"(operation(code, (imm & 0xfff) << 12 | mod)));
    return d;
}

/* d = operation of c and d. */
template <std::uint32_t code>
sfpi_inline sfpu_t joined(sfpu_t c, sfpu_t d, std::uint32_t mod, std::uint32_t imm = 0) {
    asm volatile(".ttinsn %2 + (lreg_%1 << 8) + (lreg_%0 << 4)"
                 : "+f"(d)
                 : "f"(c), "i"(operation(code, (imm & 0xfff) << 12 | mod)));
    return d;
}

/* a * b + c takes two cycles. */
sfpi_inline sfpu_t mad(sfpu_t a, sfpu_t b, sfpu_t c) {
    sfpu_t d;
    asm volatile(".ttinsn 0x84000000 + (lreg_%1 << 16) + (lreg_%2 << 12) + (lreg_%3 << 8) + (lreg_%0 << 4)\n\t"
                 ".ttinsn 0x8f000000"
                 : "=f"(d)
                 : "f"(a), "f"(b), "f"(c));
    return d;
}

/* The same with the constant registers in place of b, c or both. */
sfpi_inline sfpu_t mad_bc(sfpu_t a, unsigned b, sfpu_t c) {
    sfpu_t d;
    asm volatile(".ttinsn 0x84000000 + (lreg_%1 << 16) + (%2 << 12) + (lreg_%3 << 8) + (lreg_%0 << 4)\n\t"
                 ".ttinsn 0x8f000000"
                 : "=f"(d)
                 : "f"(a), "i"(b), "f"(c));
    return d;
}

sfpi_inline sfpu_t mad_bb(sfpu_t a, unsigned b, unsigned c) {
    sfpu_t d;
    asm volatile(".ttinsn 0x84000000 + (lreg_%1 << 16) + (%2 << 12) + (%3 << 8) + (lreg_%0 << 4)\n\t"
                 ".ttinsn 0x8f000000"
                 : "=f"(d)
                 : "f"(a), "i"(b), "i"(c));
    return d;
}

sfpi_inline sfpu_t mad_cc(sfpu_t a, sfpu_t b, unsigned c) {
    sfpu_t d;
    asm volatile(".ttinsn 0x84000000 + (lreg_%1 << 16) + (lreg_%2 << 12) + (%3 << 8) + (lreg_%0 << 4)\n\t"
                 ".ttinsn 0x8f000000"
                 : "=f"(d)
                 : "f"(a), "f"(b), "i"(c));
    return d;
}

sfpi_inline void execute(std::uint32_t word) { *reinterpret_cast<volatile std::uint32_t*>(0xffe40000u) = word; }

/* One half of a constant; the processor makes the instruction if the constant isn't known here. */
sfpi_inline sfpu_t load_half(std::uint32_t mod, std::uint32_t half) {
    sfpu_t d;
    if (__builtin_constant_p(half)) {
        asm volatile(".ttinsn %1 + (lreg_%0 << 20)" : "=f"(d) : "i"(operation(0x71, mod << 16 | half)));
    } else {
        std::uint32_t word;
        asm volatile("li %1, %2 + (lreg_%0 << 20)\n\tor %1, %1, %3\n\tsw %1, 0(%4)"
                     : "=f"(d), "=&r"(word)
                     : "i"(operation(0x71, mod << 16)), "r"(half), "r"(0xffe40000u)
                     : "memory");
    }
    return d;
}

sfpi_inline sfpu_t load_other_half(sfpu_t d, std::uint32_t mod, std::uint32_t half) {
    if (__builtin_constant_p(half)) {
        asm volatile(".ttinsn %1 + (lreg_%0 << 20)" : "+f"(d) : "i"(operation(0x71, mod << 16 | half)));
    } else {
        std::uint32_t word;
        asm volatile("li %1, %2 + (lreg_%0 << 20)\n\tor %1, %1, %3\n\tsw %1, 0(%4)"
                     : "+f"(d), "=&r"(word)
                     : "i"(operation(0x71, mod << 16)), "r"(half), "r"(0xffe40000u)
                     : "memory");
    }
    return d;
}

sfpi_inline sfpu_t constant(std::uint32_t bits) {
    if (__builtin_constant_p(bits) && (bits & 0xffff) == 0) {
        return load_half(SFPLOADI_MOD0_FLOATB, bits >> 16);
    }
    return load_other_half(load_half(SFPLOADI_MOD0_LOWER, bits & 0xffff), SFPLOADI_MOD0_UPPER, bits >> 16);
}

sfpi_inline std::uint32_t float_as_uint(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

}  // namespace impl_

}  // namespace sfpi
