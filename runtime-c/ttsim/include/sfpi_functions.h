/* Functions of single elements, and changes of format. */
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "sfpi_conditions.h"

namespace sfpi {

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

}  // namespace sfpi

#define __builtin_rvtt_sfpmad(a, b, c, mod) sfpi::vFloat(sfpi::impl_::of(sfpi::impl_::mad(a, b, c)))
