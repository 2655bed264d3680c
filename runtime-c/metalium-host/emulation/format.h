/*
 * Element formats, and tiles of 32 x 32 elements: four faces of 16 x 16, each row-major, as in L1.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

/* The data formats of circular buffers that the emulation supports. */
enum class DataFormat : uint8_t { Float32, Float16_b, Bfp8_b, UInt32 };

namespace partita::metalium {

constexpr uint32_t TILE = 32;
constexpr uint32_t FACE = 16;
constexpr uint32_t TILE_ELEMENTS = TILE * TILE;

/* Elements of a row of a face; in Bfp8_b they share an exponent. */
constexpr uint32_t BLOCK = FACE;
/* The exponents of a tile's blocks, which precede its elements in Bfp8_b. */
constexpr uint32_t EXPONENTS = TILE_ELEMENTS / BLOCK;

constexpr uint32_t tile_bytes(DataFormat format)
{
    return format == DataFormat::Bfp8_b ? EXPONENTS + TILE_ELEMENTS : TILE_ELEMENTS * (format == DataFormat::Float16_b ? 2 : 4);
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
    if (format == DataFormat::Bfp8_b) {
        const uint8_t bits = tile[EXPONENTS + i];
        const float magnitude = std::ldexp((float)(bits & 0x7f), tile[i / BLOCK] - 133);
        return bits & 0x80 ? -magnitude : magnitude;
    }
    float value;
    std::memcpy(&value, tile + 4 * i, sizeof value);
    return value;
}

/*
 * A block in Bfp8_b: the exponent of its largest element, and for each a sign and 7 bits of magnitude, of which the largest
 * element uses the highest. To nearest, ties to even; what rounds up beyond 7 bits is the largest number, and there is one zero.
 */
inline void store_block_float(uint8_t *tile, uint32_t block, const float *values)
{
    uint32_t exponent = 0;
    for (uint32_t i = 0; i < BLOCK; i++) {
        exponent = std::max(exponent, bits_of(values[i]) >> 23 & 0xff);
    }
    tile[block] = (uint8_t)exponent;
    for (uint32_t i = 0; i < BLOCK; i++) {
        const float steps = exponent == 0 ? 0 : std::nearbyint(std::ldexp(std::fabs(values[i]), 133 - (int)exponent));
        const auto bits = (uint8_t)std::min(steps, 127.0f);
        tile[EXPONENTS + block * BLOCK + i] = (uint8_t)(bits | (bits != 0 && values[i] < 0 ? 0x80 : 0));
    }
}

/* Writes a block of a tile in L1, whose elements follow each other, rounded to its format. */
inline void store_block(uint8_t *tile, DataFormat format, uint32_t block, const float *values)
{
    if (format == DataFormat::Bfp8_b) {
        store_block_float(tile, block, values);
        return;
    }
    for (uint32_t i = 0; i < BLOCK; i++) {
        const uint32_t at = block * BLOCK + i;
        if (format == DataFormat::Float16_b) {
            const uint16_t bits = to_bf16(values[i]);
            std::memcpy(tile + 2 * at, &bits, sizeof bits);
        } else {
            std::memcpy(tile + 4 * at, &values[i], sizeof values[i]);
        }
    }
}

} // namespace partita::metalium
