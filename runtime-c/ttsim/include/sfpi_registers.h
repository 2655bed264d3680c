/* The destination registers, and those with constants. */
#pragma once

#include <cstdint>
#include <type_traits>

#include "sfpi_conditions.h"

namespace sfpi {

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
