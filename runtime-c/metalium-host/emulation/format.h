/*
 * Element formats, and tiles of 32 x 32 elements: four faces of 16 x 16, each row-major, as in L1.
 */
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

/* The data formats of circular buffers that the emulation supports. */
enum class DataFormat : uint8_t { Float32, Float16_b, UInt32 };

namespace partita::metalium {

constexpr uint32_t TILE = 32;
constexpr uint32_t FACE = 16;
constexpr uint32_t TILE_ELEMENTS = TILE * TILE;

constexpr uint32_t element_bytes(DataFormat format)
{
    return format == DataFormat::Float16_b ? 2 : 4;
}

constexpr uint32_t tile_bytes(DataFormat format)
{
    return TILE_ELEMENTS * element_bytes(format);
}

/* The place of an element in a tile. */
constexpr uint32_t in_tile(uint32_t row, uint32_t column)
{
    return ((row / FACE) * (TILE / FACE) + column / FACE) * FACE * FACE + row % FACE * FACE + column % FACE;
}

inline uint32_t bits_of(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float float_of(uint32_t bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/* The nearest bf16, ties to even; NaN remains NaN. */
inline uint16_t to_bf16(float value)
{
    if (std::isnan(value)) {
        return 0x7fc0;
    }
    const uint32_t bits = bits_of(value);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float from_bf16(uint16_t bits)
{
    return float_of((uint32_t)bits << 16);
}

inline float rounded_to_bf16(float value)
{
    return from_bf16(to_bf16(value));
}

/* A source register of the matrix engine has 19 bits: sign, exponent and 10 bits of the mantissa. */
inline float in_source_register(float value)
{
    return std::isnan(value) ? value : float_of(bits_of(value) & 0xffffe000);
}

/* Reads element i of a tile in L1 as it is stored. */
inline float stored(const uint8_t *tile, DataFormat format, uint32_t i)
{
    if (format == DataFormat::Float16_b) {
        uint16_t bits;
        std::memcpy(&bits, tile + 2 * i, sizeof bits);
        return from_bf16(bits);
    }
    float value;
    std::memcpy(&value, tile + 4 * i, sizeof value);
    return value;
}

/* Writes element i of a tile in L1, rounded to its format. */
inline void store(uint8_t *tile, DataFormat format, uint32_t i, float value)
{
    if (format == DataFormat::Float16_b) {
        const uint16_t bits = to_bf16(value);
        std::memcpy(tile + 2 * i, &bits, sizeof bits);
    } else {
        std::memcpy(tile + 4 * i, &value, sizeof value);
    }
}

} // namespace partita::metalium
