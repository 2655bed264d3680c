/* Sums, products, bitwise operations and shifts. */
#pragma once

#include <cstdint>
#include <type_traits>

#include "sfpi_vectors.h"

namespace sfpi {

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

}  // namespace sfpi
