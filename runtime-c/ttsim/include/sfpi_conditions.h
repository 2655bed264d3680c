/* Comparisons, and the lanes that take part. */
#pragma once

#include <type_traits>

#include "sfpi_arithmetic.h"

namespace sfpi {

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

}  // namespace sfpi

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
