/* Vectors, scalars that they begin with, and their types. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sfpi_instructions.h"

namespace sfpi {

namespace impl_ {

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

}  // namespace sfpi
