/*
 * Vectors of the vector engine (SFPU) of Wormhole for a stock RISC-V GCC, in place of the header that comes with
 * Tenstorrent's compiler. It has what the functions of ttnn's headers that Partita emits use.
 *
 * A vector is a float in one of the registers ft0 to ft7, which stand for LREG0 to LREG7 (instructions.s). Each
 * operation is one statement of assembly, volatile so that none moves into or out of a part that conditions mask.
 */
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

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

/*
 * A vector. Assignment changes the lanes that take part; the first one makes all, so that a vector needs no register
 * before it.
 */
class vVal {
    sfpu_t v;
    bool has_value;

public:
    sfpi_inline vVal() : has_value(false) {}
    sfpi_inline vVal(sfpu_t value, std::nullptr_t) : v(value), has_value(true) {}
    sfpi_inline vVal(const vVal& other) = default;
    sfpi_inline vVal& operator=(const vVal& other) {
        if (__builtin_constant_p(has_value) && !has_value) {
            v = other.v;
        } else {
            asm volatile(".ttinsn 0x7c000000 + (lreg_%1 << 8) + (lreg_%0 << 4)" : "+f"(v) : "f"(other.v));
        }
        has_value = true;
        return *this;
    }
    sfpi_inline sfpu_t get() const { return v; }
    /* Multiplies by a constant of 16 bits, which the instruction holds. */
    sfpi_inline void multiply(std::uint32_t bf16) {
        asm volatile(".ttinsn %1 + (lreg_%0 << 4)\n\t.ttinsn 0x8f000000" : "+f"(v) : "i"(operation(0x74, bf16 << 8)));
    }
};

template <typename T>
constexpr bool is_vector = std::is_base_of_v<vVal, T>;

template <typename T>
sfpi_inline T wrap(sfpu_t value) {
    T result;
    static_cast<vVal&>(result) = vVal(value, nullptr);
    return result;
}

}  // namespace impl_

/* A scalar of 16 bits that a vector begins with. */
class sFloat16a {
    std::uint32_t bits;

public:
    sfpi_inline explicit sFloat16a(std::uint32_t value) : bits(value & 0xffff) {}
    sfpi_inline std::uint32_t get() const { return bits; }
};

class sFloat16b {
    std::uint32_t bits;

public:
    sfpi_inline explicit sFloat16b(float value) : bits(impl_::float_as_uint(value) >> 16) {}
    template <typename T, std::enable_if_t<std::is_integral_v<T>>* = nullptr>
    sfpi_inline explicit sFloat16b(T value) : bits(static_cast<std::uint32_t>(value) & 0xffff) {}
    sfpi_inline std::uint32_t get() const { return bits; }
};

class vFloat;
class vInt;
class vUInt;
class vSMag;

class vFloat : public impl_::vVal {
public:
    sfpi_inline vFloat() {}
    sfpi_inline explicit vFloat(impl_::vVal value) : vVal(value) {}
    sfpi_inline vFloat(float value) : vVal(impl_::constant(impl_::float_as_uint(value)), nullptr) {}
    sfpi_inline vFloat(sFloat16b value) : vVal(impl_::constant(value.get() << 16), nullptr) {}
    sfpi_inline vFloat(sFloat16a value) : vVal(impl_::load_half(SFPLOADI_MOD0_FLOATA, value.get()), nullptr) {}
};

class vInt : public impl_::vVal {
public:
    sfpi_inline vInt() {}
    sfpi_inline explicit vInt(impl_::vVal value) : vVal(value) {}
    template <typename T, std::enable_if_t<std::is_integral_v<T>>* = nullptr>
    sfpi_inline vInt(T value) : vVal(impl_::constant(static_cast<std::uint32_t>(value)), nullptr) {}
};

class vUInt : public impl_::vVal {
public:
    sfpi_inline vUInt() {}
    sfpi_inline explicit vUInt(impl_::vVal value) : vVal(value) {}
    template <typename T, std::enable_if_t<std::is_integral_v<T>>* = nullptr>
    sfpi_inline vUInt(T value) : vVal(impl_::constant(static_cast<std::uint32_t>(value)), nullptr) {}
};

class vSMag : public impl_::vVal {
public:
    sfpi_inline vSMag() {}
    sfpi_inline explicit vSMag(impl_::vVal value) : vVal(value) {}
    sfpi_inline explicit vSMag(std::uint32_t value) : vVal(impl_::constant(value), nullptr) {}
};

/* The same with fewer bits. */
#define SFPI_NARROW(name, wide)                                     \
    class name : public wide {                                      \
    public:                                                         \
        sfpi_inline name() {}                                       \
        sfpi_inline explicit name(impl_::vVal value) : wide(value) {} \
    };
SFPI_NARROW(vFloat16a, vFloat)
SFPI_NARROW(vFloat16b, vFloat)
SFPI_NARROW(vSMag16, vSMag)
SFPI_NARROW(vSMag8, vSMag16)
#undef SFPI_NARROW

/* A number without a sign whose highest bit is 0, so that it is a vInt too. */
class vMag : public vUInt {
public:
    sfpi_inline vMag() {}
    sfpi_inline explicit vMag(impl_::vVal value) : vUInt(value) {}
    template <typename T, std::enable_if_t<std::is_integral_v<T>>* = nullptr>
    sfpi_inline vMag(T value) : vUInt(value) {}
    sfpi_inline operator vInt() const { return vInt(static_cast<const impl_::vVal&>(*this)); }
};

class vUInt16 : public vMag {
public:
    using vMag::vMag;
};

class vUInt8 : public vUInt16 {
public:
    using vUInt16::vUInt16;
};

/* Entries of tables. */
class vLut : public vUInt {
public:
    template <typename... T>
    SFPI_MISSING vLut(T...);
};
using vLut16ss = vLut;
using vLut16ii = vLut;
using vLut8si = vLut;

template <typename To, std::enable_if_t<impl_::is_vector<To>>* = nullptr>
sfpi_inline To as(impl_::vVal value) {
    return To(value);
}

template <typename To, std::enable_if_t<impl_::is_vector<To>>* = nullptr>
sfpi_inline To reinterpret(impl_::vVal value) {
    return To(value);
}

namespace impl_ {
sfpi_inline vVal of(sfpu_t value) { return vVal(value, nullptr); }
}  // namespace impl_

/* Arithmetic of f32. A product that a sum takes is one instruction with it, rounded once. */
struct Product {
    vFloat a;
    vFloat b;
    sfpi_inline operator vFloat() const { return vFloat(impl_::of(impl_::mad_cc(a.get(), b.get(), CREG_IDX_0))); }
};

sfpi_inline Product operator*(vFloat a, vFloat b) { return {a, b}; }
sfpi_inline vFloat operator+(Product p, vFloat c) { return vFloat(impl_::of(impl_::mad(p.a.get(), p.b.get(), c.get()))); }
sfpi_inline vFloat operator+(vFloat c, Product p) { return p + c; }
sfpi_inline vFloat operator+(Product p, float c) {
    if (__builtin_constant_p(c) && c == 1.0f) {
        return vFloat(impl_::of(impl_::mad_cc(p.a.get(), p.b.get(), CREG_IDX_1)));
    }
    return p + vFloat(c);
}
sfpi_inline vFloat operator+(float c, Product p) { return p + c; }
sfpi_inline vFloat operator-(Product p, float c) { return p + -c; }
sfpi_inline vFloat operator+(vFloat a, vFloat b) { return vFloat(impl_::of(impl_::mad_bc(a.get(), CREG_IDX_1, b.get()))); }
sfpi_inline vFloat operator-(vFloat a, vFloat b) { return vFloat(impl_::of(impl_::mad_bc(b.get(), CREG_IDX_NEG_1, a.get()))); }
sfpi_inline vFloat operator-(vFloat a) { return vFloat(impl_::of(impl_::unary<0x7c>(a.get(), 1))); }
sfpi_inline vFloat operator+(Product p, Product q) { return p + static_cast<vFloat>(q); }
sfpi_inline vFloat& operator+=(vFloat& a, vFloat b) { return a = a + b; }
sfpi_inline vFloat& operator-=(vFloat& a, vFloat b) { return a = a - b; }
sfpi_inline vFloat& operator*=(vFloat& a, vFloat b) { return a = a * b; }
sfpi_inline vFloat& operator*=(vFloat& a, float b) {
    const std::uint32_t bits = impl_::float_as_uint(b);
    if (__builtin_constant_p(bits) && (bits & 0xffff) == 0) {
        a.multiply(bits >> 16);
        return a;
    }
    return a = a * vFloat(b);
}

/* Arithmetic of integers, of vectors of one type and numbers. */
namespace impl_ {

template <typename T>
constexpr bool is_integer = std::is_base_of_v<vInt, T> || std::is_base_of_v<vUInt, T> || std::is_base_of_v<vSMag, T>;

/* The type that an operation of two operands has: that of a vector, without what makes it narrow. */
template <typename A, typename B>
struct Result {
    using First = std::conditional_t<is_integer<A>, A, B>;
    using type = std::conditional_t<
        std::is_base_of_v<vInt, A> || (std::is_base_of_v<vInt, B> && (!is_integer<A> || std::is_base_of_v<vMag, A>)),
        vInt,
        vUInt>;
};

template <typename A, typename B>
using Integers = std::enable_if_t<
    (is_integer<A> && (is_integer<B> || std::is_integral_v<B>)) || (std::is_integral_v<A> && is_integer<B>),
    typename Result<A, B>::type>;

/* a + number, which the instruction holds if it is small. */
template <typename T, typename B>
sfpi_inline sfpu_t add_number(T a, B number) {
    const std::int32_t n = static_cast<std::int32_t>(number);
    if (__builtin_constant_p(n) && -2048 <= n && n < 2048) {
        return unary<0x79>(a.get(), SFPIADD_MOD1_ARG_IMM | SFPIADD_MOD1_CC_NONE, static_cast<std::uint32_t>(n));
    }
    return joined<0x79>(T(n).get(), a.get(), SFPIADD_MOD1_CC_NONE);
}

template <typename To, typename T>
sfpi_inline To operand(T value) {
    if constexpr (is_vector<T>) {
        return To(static_cast<const vVal&>(value));
    } else {
        return To(value);
    }
}

}  // namespace impl_

#define SFPI_BINARY(sign, ...)                                                   \
    template <typename A, typename B>                                            \
    sfpi_inline impl_::Integers<A, B> operator sign(A left, B right) {           \
        using T = impl_::Integers<A, B>;                                         \
        const T a = impl_::operand<T>(left);                                     \
        const T b = impl_::operand<T>(right);                                    \
        return T(impl_::of(__VA_ARGS__));                                        \
    }
SFPI_BINARY(&, impl_::joined<0x7e>(b.get(), a.get(), 0))
SFPI_BINARY(|, impl_::joined<0x7f>(b.get(), a.get(), 0))
SFPI_BINARY(^, impl_::joined<0x8d>(b.get(), a.get(), 0))
#undef SFPI_BINARY

template <typename A, typename B>
sfpi_inline impl_::Integers<A, B> operator+(A left, B right) {
    using T = impl_::Integers<A, B>;
    if constexpr (std::is_integral_v<B>) {
        return T(impl_::of(impl_::add_number(impl_::operand<T>(left), right)));
    } else if constexpr (std::is_integral_v<A>) {
        return T(impl_::of(impl_::add_number(impl_::operand<T>(right), left)));
    } else {
        return T(impl_::of(impl_::joined<0x79>(right.get(), left.get(), SFPIADD_MOD1_CC_NONE)));
    }
}
template <typename A, typename B>
sfpi_inline impl_::Integers<A, B> operator-(A left, B right) {
    using T = impl_::Integers<A, B>;
    if constexpr (std::is_integral_v<B>) {
        return T(impl_::of(impl_::add_number(impl_::operand<T>(left), -static_cast<std::int32_t>(right))));
    } else {
        constexpr unsigned mod = SFPIADD_MOD1_ARG_2SCOMP_LREG_DST | SFPIADD_MOD1_CC_NONE;
        return T(impl_::of(impl_::joined<0x79>(impl_::operand<T>(left).get(), right.get(), mod)));
    }
}

sfpi_inline vInt operator-(vInt a) { return vInt(0) - a; }
sfpi_inline vInt operator~(vInt a) { return vInt(impl_::of(impl_::unary<0x80>(a.get(), 0))); }
sfpi_inline vUInt operator~(vUInt a) { return vUInt(impl_::of(impl_::unary<0x80>(a.get(), 0))); }

/* Shifts to the right are to the left by a negative number. */
template <typename T, std::enable_if_t<impl_::is_integer<T>>* = nullptr>
sfpi_inline T operator<<(T a, int count) {
    return T(impl_::of(impl_::joined<0x7a>(a.get(), a.get(), 1, count)));
}
template <typename T, std::enable_if_t<std::is_base_of_v<vUInt, T>>* = nullptr>
sfpi_inline T operator>>(T a, int count) {
    return T(impl_::of(impl_::joined<0x7a>(a.get(), a.get(), 1, -count)));
}
template <typename T, std::enable_if_t<impl_::is_integer<T>>* = nullptr>
sfpi_inline T operator<<(T a, vUInt count) {
    return T(impl_::of(impl_::joined<0x7a>(count.get(), a.get(), 0)));
}
template <typename T, std::enable_if_t<std::is_base_of_v<vUInt, T>>* = nullptr>
sfpi_inline T operator>>(T a, vUInt count) {
    return T(impl_::of(impl_::joined<0x7a>((-vInt(static_cast<impl_::vVal&>(count))).get(), a.get(), 0)));
}

#define SFPI_ASSIGNMENT(sign)                                                                   \
    template <typename A, typename B, std::enable_if_t<impl_::is_integer<A>>* = nullptr>        \
    sfpi_inline A& operator sign##=(A& a, B b) {                                                \
        return a = A(static_cast<const impl_::vVal&>(a sign b));                                \
    }
SFPI_ASSIGNMENT(&)
SFPI_ASSIGNMENT(|)
SFPI_ASSIGNMENT(^)
SFPI_ASSIGNMENT(+)
SFPI_ASSIGNMENT(-)
SFPI_ASSIGNMENT(<<)
SFPI_ASSIGNMENT(>>)
#undef SFPI_ASSIGNMENT

/*
 * Conditions. A comparison is a test of a difference with 0, which the lanes that take part keep or lose. The lanes that
 * a pair of tests loses are those of the opposite one, so `or` is an `and` of opposites, complemented.
 */
namespace impl_ {

enum Test : unsigned { LESS = 0, OTHER = 2, NOT_LESS = 4, EQUAL = 6 };

template <bool opposite>
sfpi_inline void test(sfpu_t value, Test kind) {
    asm volatile(".ttinsn %1 + (lreg_%0 << 8)" : : "f"(value), "i"(operation(0x7b, opposite ? kind ^ 4 : kind)));
}

sfpi_inline void push() { asm volatile(".ttinsn 0x87000000"); }
sfpi_inline void pop() { asm volatile(".ttinsn 0x88000000"); }
sfpi_inline void complement() { asm volatile(".ttinsn 0x8b000000"); }

/* How many masks lie on the stack, and whether the lanes are all those of the upper one. */
struct Masks {
    int depth = 0;
    bool is_whole = false;
    sfpi_inline void save() {
        push();
        ++depth;
        is_whole = true;
    }
};

struct Condition {};

template <typename T>
constexpr bool is_condition = std::is_base_of_v<Condition, T>;

struct Comparison : Condition {
    vVal value;
    Test kind;
    sfpi_inline Comparison(vVal difference, Test kind) : value(difference), kind(kind) {}
    template <bool opposite>
    sfpi_inline void apply(Masks& masks) const {
        switch (kind) {
            case LESS: test<opposite>(value.get(), LESS); break;
            case OTHER: test<opposite>(value.get(), OTHER); break;
            case NOT_LESS: test<opposite>(value.get(), NOT_LESS); break;
            case EQUAL: test<opposite>(value.get(), EQUAL); break;
        }
        masks.is_whole = false;
    }
};

template <typename A, typename B, bool both>
struct Pair : Condition {
    A a;
    B b;
    sfpi_inline Pair(A a, B b) : a(a), b(b) {}
    template <bool opposite>
    sfpi_inline void apply(Masks& masks) const {
        if constexpr (both != opposite) {
            a.template apply<opposite>(masks);
            b.template apply<opposite>(masks);
        } else {
            if (!masks.is_whole) {
                masks.save();
            }
            a.template apply<!opposite>(masks);
            b.template apply<!opposite>(masks);
            complement();
        }
        masks.is_whole = false;
    }
};

template <typename A>
struct Opposite : Condition {
    A a;
    sfpi_inline explicit Opposite(A a) : a(a) {}
    template <bool opposite>
    sfpi_inline void apply(Masks& masks) const {
        a.template apply<!opposite>(masks);
    }
};

template <typename T>
using IfCondition = std::enable_if_t<is_condition<T>>;

template <typename A, typename B>
constexpr bool are_floats = (std::is_base_of_v<vFloat, A> && (std::is_base_of_v<vFloat, B> || std::is_arithmetic_v<B>)) ||
                            (std::is_arithmetic_v<A> && std::is_base_of_v<vFloat, B>);

template <typename A, typename B>
constexpr bool are_integers = (is_integer<A> && (is_integer<B> || std::is_integral_v<B>)) ||
                              (std::is_integral_v<A> && is_integer<B>);

template <typename A, typename B>
using IfCompared = std::enable_if_t<are_floats<A, B> || are_integers<A, B>>;

template <typename T>
sfpi_inline bool is_zero_here(T value) {
    if constexpr (is_vector<T>) {
        return false;
    } else {
        return __builtin_constant_p(value) && value == 0;
    }
}

/* left - right */
template <typename A, typename B>
sfpi_inline vVal difference(A left, B right) {
    if constexpr (is_vector<A>) {
        if (is_zero_here(right)) {
            return left;
        }
    }
    if constexpr (are_floats<A, B>) {
        if constexpr (std::is_arithmetic_v<B>) {
            return left + vFloat(-static_cast<float>(right));
        } else if constexpr (std::is_arithmetic_v<A>) {
            return vFloat(static_cast<float>(left)) - right;
        } else {
            return left - right;
        }
    } else {
        if constexpr (std::is_integral_v<B>) {
            return operand<vInt>(left) - right;
        } else {
            return operand<vInt>(left) - operand<vInt>(right);
        }
    }
}

}  // namespace impl_

#define SFPI_COMPARISON(sign, test, ...)                                              \
    template <typename A, typename B, typename = impl_::IfCompared<A, B>>             \
    sfpi_inline impl_::Comparison operator sign(A a, B b) {                           \
        return impl_::Comparison(impl_::difference(__VA_ARGS__), impl_::test);        \
    }
SFPI_COMPARISON(==, EQUAL, a, b)
SFPI_COMPARISON(!=, OTHER, a, b)
SFPI_COMPARISON(<, LESS, a, b)
SFPI_COMPARISON(>=, NOT_LESS, a, b)
SFPI_COMPARISON(>, LESS, b, a)
SFPI_COMPARISON(<=, NOT_LESS, b, a)
#undef SFPI_COMPARISON

template <typename A, typename B, typename = impl_::IfCondition<A>, typename = impl_::IfCondition<B>>
sfpi_inline impl_::Pair<A, B, true> operator&&(A a, B b) {
    return {a, b};
}
template <typename A, typename B, typename = impl_::IfCondition<A>, typename = impl_::IfCondition<B>>
sfpi_inline impl_::Pair<A, B, false> operator||(A a, B b) {
    return {a, b};
}
template <typename A, typename = impl_::IfCondition<A>>
sfpi_inline impl_::Opposite<A> operator!(A a) {
    return impl_::Opposite<A>(a);
}

using vBool = impl_::Comparison;

namespace impl_ {

/* The lanes that take part in a v_if and its alternatives. */
class CC {
    Masks masks;
    int before = 0;

public:
    sfpi_inline ~CC() {
        for (int i = 0; i < masks.depth; ++i) {
            pop();
        }
    }
    sfpi_inline void begin() {
        masks.save();
        before = masks.depth;
    }
    template <typename T>
    sfpi_inline void cond(T condition) {
        condition.template apply<false>(masks);
    }
    /* The lanes of the mask that the last condition lost. */
    sfpi_inline void otherwise() {
        for (; masks.depth > before; --masks.depth) {
            pop();
        }
        complement();
        masks.is_whole = false;
    }
};

}  // namespace impl_

#define v_if(x)             \
    {                       \
        sfpi::impl_::CC __cc; \
        __cc.begin();       \
        __cc.cond(x);       \
        {
#define v_elseif(x)     \
    }                   \
    __cc.otherwise();   \
    __cc.begin();       \
    __cc.cond(x);       \
    {
#define v_else        \
    }                 \
    __cc.otherwise(); \
    {
#define v_endif \
    }           \
    }
#define v_block             \
    {                       \
        sfpi::impl_::CC __cc; \
        __cc.begin();
#define v_and(x) __cc.cond(x)
#define v_endblock }

/* Parts of a float. */
enum class ExponentMode { Unbiased, Biased };
enum class MantissaMode { FractionOnly, WithUnitBit, ImplicitOne = WithUnitBit };
enum class ShiftMode { Logical };
enum class RoundMode { NearestAway, Nearest = NearestAway, NearestEven = NearestAway, NearestStochastic };
enum class LutSign { Retain, Update };
enum class LZMode { All, IgnoreSign };

sfpi_inline vInt exexp(vFloat v, ExponentMode mode = ExponentMode::Unbiased) {
    return vInt(impl_::of(impl_::unary<0x77>(v.get(), mode == ExponentMode::Biased ? 1 : 0)));
}
sfpi_inline vMag exman(vFloat v, MantissaMode mode = MantissaMode::FractionOnly) {
    return vMag(impl_::of(impl_::unary<0x78>(v.get(), mode == MantissaMode::FractionOnly ? SFPEXMAN_MOD1_PAD9 : 0)));
}
sfpi_inline vInt exman9(vFloat v) { return exman(v); }
sfpi_inline vUInt exsgn(impl_::vVal v) { return vUInt(v) >> 31; }

sfpi_inline vFloat setexp(vFloat v, vInt exponent) {
    return vFloat(impl_::of(impl_::joined<0x82>(v.get(), exponent.get(), 0)));
}
sfpi_inline vFloat setexp(vFloat v, int exponent) {
    return vFloat(impl_::of(impl_::unary<0x82>(v.get(), 1, exponent)));
}
sfpi_inline vFloat copyexp(vFloat v, vFloat from) {
    return vFloat(impl_::of(impl_::joined<0x82>(v.get(), from.get(), 2)));
}
sfpi_inline vFloat addexp(vFloat v, int exponent) {
    return vFloat(impl_::of(impl_::unary<0x76>(v.get(), 1, exponent)));
}
sfpi_inline vFloat copyman(vFloat v, vFloat from) {
    return vFloat(impl_::of(impl_::joined<0x83>(v.get(), from.get(), 0)));
}
template <typename T, std::enable_if_t<std::is_integral_v<T>>* = nullptr>
sfpi_inline vFloat setman(vFloat v, T mantissa) {
    if (__builtin_constant_p(mantissa) && mantissa == 0) {
        return vFloat(impl_::of(impl_::unary<0x83>(v.get(), 1, 0)));
    }
    return vFloat(impl_::of(impl_::joined<0x83>(v.get(), vUInt(mantissa).get(), 0)));
}
sfpi_inline vFloat setman(vFloat v, impl_::vVal mantissa) {
    return vFloat(impl_::of(impl_::joined<0x83>(v.get(), mantissa.get(), 0)));
}
template <typename T, std::enable_if_t<impl_::is_vector<T>>* = nullptr>
sfpi_inline T setsgn(T v, int sign) {
    return T(impl_::of(sign ? impl_::unary<0x89>(v.get(), 1, 1) : impl_::unary<0x89>(v.get(), 1, 0)));
}
template <typename T, std::enable_if_t<impl_::is_vector<T>>* = nullptr>
sfpi_inline T copysgn(T v, impl_::vVal sign) {
    return T(impl_::of(impl_::joined<0x89>(v.get(), sign.get(), 0)));
}
sfpi_inline vFloat copysgn(Product v, impl_::vVal sign) { return copysgn(static_cast<vFloat>(v), sign); }
template <typename T, std::enable_if_t<impl_::is_vector<T>>* = nullptr>
sfpi_inline T setsgn2(T v, impl_::vVal sign) {
    return copysgn(v, vUInt(sign) << 31);
}
sfpi_inline vFloat abs(vFloat v) { return vFloat(impl_::of(impl_::unary<0x7d>(v.get(), 1))); }
sfpi_inline vMag abs(vInt v) { return vMag(impl_::of(impl_::unary<0x7d>(v.get(), 0))); }
sfpi_inline vMag abs(vSMag v) { return vMag(setsgn(v, 0)); }

template <typename T, typename Count>
sfpi_inline T shft(T v, Count count, ShiftMode = ShiftMode::Logical) {
    if constexpr (impl_::is_vector<Count>) {
        return T(impl_::of(impl_::joined<0x7a>(count.get(), v.get(), 0)));
    } else {
        return T(impl_::of(impl_::joined<0x7a>(v.get(), v.get(), 1, count)));
    }
}

sfpi_inline auto is_nan(vFloat v) { return exexp(v, ExponentMode::Biased) >= 255 && exman(v) != 0; }
sfpi_inline auto is_inf(vFloat v) { return exexp(v, ExponentMode::Biased) >= 255 && exman(v) == 0; }
sfpi_inline auto is_finite(vFloat v) { return exexp(v, ExponentMode::Biased) < 255; }
sfpi_inline auto is_zero(vFloat v) { return (vUInt(static_cast<impl_::vVal&>(v)) << 1) == 0; }
sfpi_inline auto is_neg(vFloat v) { return vInt(static_cast<impl_::vVal&>(v)) < 0; }
sfpi_inline auto is_pos(vFloat v) { return vInt(static_cast<impl_::vVal&>(v)) >= 0; }

/* Swaps lanes such that the first result has the lower ones; takes two cycles. */
template <typename T, std::enable_if_t<std::is_base_of_v<vFloat, T> || std::is_base_of_v<vSMag, T>>* = nullptr>
sfpi_inline std::pair<T, T> min_max(T a, T b) {
    float low = a.get();
    float high = b.get();
    asm volatile(".ttinsn 0x92000001 + (lreg_%1 << 8) + (lreg_%0 << 4)\n\t.ttinsn 0x8f000000" : "+f"(low), "+f"(high));
    return {T(impl_::of(low)), T(impl_::of(high))};
}
sfpi_inline vFloat min(vFloat a, vFloat b) { return min_max(a, b).first; }
sfpi_inline vFloat max(vFloat a, vFloat b) { return min_max(a, b).second; }
sfpi_inline vSMag min(vSMag a, vSMag b) { return min_max(a, b).first; }
sfpi_inline vSMag max(vSMag a, vSMag b) { return min_max(a, b).second; }
sfpi_inline vFloat clamp(vFloat v, vFloat low, vFloat high) { return min(max(v, low), high); }
sfpi_inline vFloat clamp(vFloat v, float low, float high) {
    const vFloat raised = max(v, vFloat(low));
    return min(raised, vFloat(high));
}
sfpi_inline vFloat symmetric_clamp(vFloat v, float bound) { return copysgn(min(abs(v), vFloat(bound)), v); }
sfpi_inline void vec_min_max(vFloat& a, vFloat& b) {
    auto both = min_max(a, b);
    a = both.first;
    b = both.second;
}

/* Changes of format. */
namespace impl_ {

sfpi_inline vSMag int_to_smag(vInt v) {
    vSMag result = vSMag(static_cast<vVal&>(v));
    v_if(v < 0) { result = as<vSMag>(vInt(0) - as<vInt>(setsgn(result, 0))); }
    v_endif;
    return result;
}

template <typename To>
constexpr std::uint32_t rounding() {
    if constexpr (std::is_same_v<To, vFloat16a>) {
        return SFPSTOCHRND_MOD1_FP32_TO_FP16A;
    } else if constexpr (std::is_same_v<To, vFloat16b>) {
        return SFPSTOCHRND_MOD1_FP32_TO_FP16B;
    } else if constexpr (std::is_same_v<To, vSMag16>) {
        return SFPSTOCHRND_MOD1_FP32_TO_INT16;
    } else if constexpr (std::is_same_v<To, vUInt16>) {
        return SFPSTOCHRND_MOD1_FP32_TO_UINT16;
    } else if constexpr (std::is_same_v<To, vSMag8>) {
        return SFPSTOCHRND_MOD1_FP32_TO_INT8;
    } else {
        return SFPSTOCHRND_MOD1_FP32_TO_UINT8;
    }
}

}  // namespace impl_

template <typename To, typename From>
sfpi_inline To convert(From v, RoundMode mode = RoundMode::NearestStochastic) {
    const bool stochastic = mode == RoundMode::NearestStochastic;
    if constexpr (std::is_same_v<To, From>) {
        return v;
    } else if constexpr (std::is_base_of_v<vFloat, From>) {
        float d;
        if (stochastic) {
            asm volatile(".ttinsn %2 + (lreg_%1 << 8) + (lreg_%0 << 4)"
                         : "=f"(d)
                         : "f"(v.get()), "i"(impl_::operation(0x8e, 1u << 21 | impl_::rounding<To>())));
        } else {
            asm volatile(".ttinsn %2 + (lreg_%1 << 8) + (lreg_%0 << 4)"
                         : "=f"(d)
                         : "f"(v.get()), "i"(impl_::operation(0x8e, impl_::rounding<To>())));
        }
        return To(impl_::of(d));
    } else if constexpr (std::is_same_v<To, vInt>) {
        if constexpr (std::is_base_of_v<vUInt, From>) {
            return vInt(static_cast<const impl_::vVal&>(v));
        } else {
            return vInt(static_cast<const impl_::vVal&>(impl_::int_to_smag(vInt(static_cast<const impl_::vVal&>(v)))));
        }
    } else if constexpr (std::is_base_of_v<vSMag, To>) {
        if constexpr (std::is_base_of_v<vInt, From>) {
            return To(static_cast<const impl_::vVal&>(impl_::int_to_smag(v)));
        } else {
            return To(static_cast<const impl_::vVal&>(v));
        }
    } else if constexpr (std::is_base_of_v<vInt, From>) {
        return convert<To>(impl_::int_to_smag(v), mode);
    } else {
        const vFloat number(impl_::of(
            stochastic ? impl_::unary<0x90>(v.get(), 1) : impl_::unary<0x90>(v.get(), 0)));
        return convert<To>(number, mode);
    }
}

sfpi_inline vFloat int32_to_float(impl_::vVal v, RoundMode mode = RoundMode::NearestStochastic) {
    return convert<vFloat>(vSMag(v), mode);
}
sfpi_inline vFloat float_to_fp16b(vFloat v, RoundMode mode = RoundMode::NearestStochastic) {
    return convert<vFloat16b>(v, mode);
}
sfpi_inline vFloat float_to_fp16a(vFloat v, RoundMode mode = RoundMode::NearestStochastic) {
    return convert<vFloat16a>(v, mode);
}

/* Tables have no place here: they need fixed registers. */
template <typename... T>
SFPI_MISSING vFloat lut(T...);
template <typename... T>
SFPI_MISSING vFloat lut2(T...);
template <typename... T>
SFPI_MISSING vFloat lut_sign(T...);
template <typename... T>
SFPI_MISSING vFloat lut2_sign(T...);
template <typename... T>
SFPI_MISSING void subvec_transp(T&...);
template <typename... T>
SFPI_MISSING vMag lz(T...);

/* A condition whose difference may be small. */
template <typename T>
sfpi_inline T nearby(T condition) {
    return condition;
}

/* Tells Tenstorrent's compiler that registers are scarce. */
struct lreg_pressure {
    sfpi_inline lreg_pressure() {}
    sfpi_inline ~lreg_pressure() {}
};

#define __builtin_rvtt_sfpmad(a, b, c, mod) sfpi::vFloat(sfpi::impl_::of(sfpi::impl_::mad(a, b, c)))

/* The destination registers. */
enum class DataLayout { Default, FSrcB, F32, F16a, F16b, I32, U32, U16, SM32, SM16, M32, LO16, HI16 };

namespace impl_ {

constexpr std::uint32_t format(DataLayout layout) {
    switch (layout) {
        case DataLayout::F32: return SFPLOAD_MOD0_FMT_FP32;
        case DataLayout::F16a: return SFPLOAD_MOD0_FMT_FP16A;
        case DataLayout::F16b: return SFPLOAD_MOD0_FMT_FP16B;
        case DataLayout::I32:
        case DataLayout::U32:
        case DataLayout::M32: return SFPLOAD_MOD0_FMT_INT32;
        case DataLayout::U16: return SFPLOAD_MOD0_FMT_UINT16;
        case DataLayout::SM32: return SFPLOAD_MOD0_FMT_SM32;
        case DataLayout::SM16: return SFPLOAD_MOD0_FMT_INT16;
        case DataLayout::LO16: return SFPLOAD_MOD0_FMT_LO16;
        case DataLayout::HI16: return SFPLOAD_MOD0_FMT_HI16;
        case DataLayout::Default:
        case DataLayout::FSrcB: return SFPLOAD_MOD0_FMT_SRCB;
    }
    return 0;
}

template <typename T>
constexpr DataLayout usual() {
    if constexpr (std::is_base_of_v<vFloat16a, T>) {
        return DataLayout::F16a;
    } else if constexpr (std::is_base_of_v<vFloat16b, T>) {
        return DataLayout::F16b;
    } else if constexpr (std::is_base_of_v<vFloat, T>) {
        return DataLayout::FSrcB;
    } else if constexpr (std::is_base_of_v<vUInt16, T>) {
        return DataLayout::U16;
    } else if constexpr (std::is_base_of_v<vSMag16, T>) {
        return DataLayout::SM16;
    } else if constexpr (std::is_base_of_v<vSMag, T>) {
        return DataLayout::SM32;
    } else {
        return DataLayout::I32;
    }
}

/* Rows of the destination; `Layout` says how their elements are read. */
template <DataLayout Layout>
class DestRows {
    unsigned row;
    unsigned address_mode;

public:
    sfpi_inline constexpr explicit DestRows(unsigned row, unsigned address_mode = SFPLOAD_ADDR_MODE_NOINC)
        : row(row), address_mode(address_mode) {}

    template <DataLayout Other = DataLayout::Default>
    sfpi_inline constexpr auto mode(int address_mode = -1) const {
        return DestRows<Other == DataLayout::Default ? Layout : Other>(
            row, address_mode < 0 ? this->address_mode : address_mode);
    }

    template <typename T, std::enable_if_t<is_vector<T>>* = nullptr>
    sfpi_inline operator T() const {
        constexpr std::uint32_t kind = format(Layout == DataLayout::Default ? usual<T>() : Layout);
        const std::uint32_t place = address_mode << 14 | row;
        sfpu_t d;
        if (__builtin_constant_p(place)) {
            asm volatile(".ttinsn %1 + (lreg_%0 << 20)" : "=f"(d) : "i"(operation(0x70, kind << 16 | place)));
        } else {
            std::uint32_t word;
            asm volatile("li %1, %2 + (lreg_%0 << 20)\n\tor %1, %1, %3\n\tsw %1, 0(%4)"
                         : "=f"(d), "=&r"(word)
                         : "i"(operation(0x70, kind << 16)), "r"(place), "r"(0xffe40000u)
                         : "memory");
        }
        return T(of(d));
    }

    template <typename T, std::enable_if_t<is_vector<T>>* = nullptr>
    sfpi_inline void operator=(T value) const {
        constexpr std::uint32_t kind = format(Layout == DataLayout::Default ? usual<T>() : Layout);
        const std::uint32_t place = address_mode << 14 | row;
        if (__builtin_constant_p(place)) {
            asm volatile(".ttinsn %1 + (lreg_%0 << 20)" : : "f"(value.get()), "i"(operation(0x72, kind << 16 | place)));
        } else {
            std::uint32_t word;
            asm volatile("li %0, %2 + (lreg_%1 << 20)\n\tor %0, %0, %3\n\tsw %0, 0(%4)"
                         : "=&r"(word)
                         : "f"(value.get()), "i"(operation(0x72, kind << 16)), "r"(place), "r"(0xffe40000u)
                         : "memory");
        }
    }
    sfpi_inline void operator=(float value) const { *this = vFloat(value); }
};

struct Dest {
    sfpi_inline constexpr DestRows<DataLayout::Default> operator[](int index) const {
        return DestRows<DataLayout::Default>(index * SFP_DESTREG_STRIDE);
    }
    sfpi_inline void operator++(int) const { asm volatile(".ttinsn %0" : : "i"(operation(0x38, SFP_DESTREG_STRIDE << 14))); }
    sfpi_inline void operator++() const { (*this)++; }
    sfpi_inline void operator+=(int count) const {
        for (int i = 0; i < count; ++i) {
            (*this)++;
        }
    }
};

/* One of the registers that a program sets for all lanes; its value goes there through LREG0. */
template <typename T, unsigned index>
struct ConstantRegister {
    sfpi_inline operator T() const {
        sfpu_t d;
        asm volatile(".ttinsn %1 + (lreg_%0 << 4)" : "=f"(d) : "i"(operation(0x7c, index << 8 | 2)));
        return T(of(d));
    }
    sfpi_inline void operator=(T value) const {
        register sfpu_t source asm("ft0") = value.get();
        asm volatile(".ttinsn %1\n\t.ttinsn 0x8f000000" : : "f"(source), "i"(operation(0x91, index << 4)));
    }
};

#define SFPI_OF_CONSTANTS(sign)                                                                           \
    template <typename T, unsigned index, typename Other>                                                 \
    sfpi_inline auto operator sign(ConstantRegister<T, index> a, Other b) {                               \
        return static_cast<T>(a) sign b;                                                                  \
    }                                                                                                     \
    template <typename T, unsigned index, typename Other, std::enable_if_t<is_vector<Other>>* = nullptr>  \
    sfpi_inline auto operator sign(Other a, ConstantRegister<T, index> b) {                               \
        return a sign static_cast<T>(b);                                                                  \
    }
/* The instruction of a product and a sum takes one as it is. */
template <unsigned index>
struct Multiple {
    vFloat a;
    sfpi_inline operator vFloat() const { return vFloat(of(mad_bb(a.get(), index, CREG_IDX_0))); }
};

template <unsigned index>
sfpi_inline Multiple<index> operator*(vFloat a, ConstantRegister<vFloat, index>) {
    return {a};
}
template <unsigned index>
sfpi_inline Multiple<index> operator*(ConstantRegister<vFloat, index>, vFloat a) {
    return {a};
}
template <unsigned index>
sfpi_inline vFloat operator+(Multiple<index> m, vFloat c) {
    return vFloat(of(mad_bc(m.a.get(), index, c.get())));
}
template <unsigned index>
sfpi_inline vFloat operator+(vFloat c, Multiple<index> m) {
    return m + c;
}
template <unsigned index, unsigned other>
sfpi_inline vFloat operator+(Multiple<index> m, ConstantRegister<vFloat, other>) {
    return vFloat(of(mad_bb(m.a.get(), index, other)));
}
template <unsigned index, unsigned other>
sfpi_inline vFloat operator+(ConstantRegister<vFloat, other> c, Multiple<index> m) {
    return m + c;
}
template <unsigned index>
sfpi_inline vFloat operator+(Product p, ConstantRegister<vFloat, index>) {
    return vFloat(of(mad_cc(p.a.get(), p.b.get(), index)));
}
template <unsigned index>
sfpi_inline vFloat operator+(ConstantRegister<vFloat, index> c, Product p) {
    return p + c;
}

SFPI_OF_CONSTANTS(+)
SFPI_OF_CONSTANTS(-)
SFPI_OF_CONSTANTS(&)
SFPI_OF_CONSTANTS(|)
SFPI_OF_CONSTANTS(<)
SFPI_OF_CONSTANTS(>)
SFPI_OF_CONSTANTS(<=)
SFPI_OF_CONSTANTS(>=)
SFPI_OF_CONSTANTS(==)
SFPI_OF_CONSTANTS(!=)
#undef SFPI_OF_CONSTANTS

/* A register by its name, as far as kernels of the wheel are read here. */
struct NamedRegister {
    template <typename T, std::enable_if_t<is_vector<T>>* = nullptr>
    SFPI_MISSING operator T() const;
    template <typename T>
    SFPI_MISSING void operator=(T) const;
    /* Vectors live only within functions that name no register. */
    sfpi_inline void in_use() const {}
};

struct NamedRegisters {
    template <typename T>
    sfpi_inline NamedRegister operator[](T) const {
        return {};
    }
};

}  // namespace impl_

enum class LRegs : std::uint8_t { LReg0, LReg1, LReg2, LReg3, LReg4, LReg5, LReg6, LReg7, LRegCount };

constexpr impl_::Dest dst_reg{};
constexpr impl_::NamedRegisters l_reg{};
constexpr impl_::ConstantRegister<vFloat, CREG_IDX_0> vConst0{};
constexpr impl_::ConstantRegister<vFloat, CREG_IDX_1> vConst1{};
constexpr impl_::ConstantRegister<vFloat, CREG_IDX_NEG_1> vConstNeg1{};
constexpr impl_::ConstantRegister<vFloat, CREG_IDX_0P837300003> vConst0p8373{};
constexpr impl_::ConstantRegister<vFloat, CREG_IDX_PRGM1> vConstFloatPrgm0{};
constexpr impl_::ConstantRegister<vFloat, CREG_IDX_PRGM2> vConstFloatPrgm1{};
constexpr impl_::ConstantRegister<vFloat, CREG_IDX_PRGM3> vConstFloatPrgm2{};
constexpr impl_::ConstantRegister<vInt, CREG_IDX_PRGM1> vConstIntPrgm0{};
constexpr impl_::ConstantRegister<vInt, CREG_IDX_PRGM2> vConstIntPrgm1{};
constexpr impl_::ConstantRegister<vInt, CREG_IDX_PRGM3> vConstIntPrgm2{};
constexpr impl_::ConstantRegister<vInt, CREG_IDX_TILEID> vConstTileId{};

}  // namespace sfpi
