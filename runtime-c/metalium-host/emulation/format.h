/*
 * Element formats, and tiles of 32 x 32 elements: four faces of 16 x 16, each row-major, as in L1.
 */
#pragma once

#include "buffer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

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

/* Reads a block of a tile in L1, whose elements follow each other, as it is stored. */
inline void load_block(const uint8_t *tile, DataFormat format, uint32_t block, float *values)
{
    if (format == DataFormat::Bfp8_b) {
        const float step = std::ldexp(1.0f, tile[block] - 133);
        for (uint32_t i = 0; i < BLOCK; i++) {
            const uint8_t bits = tile[EXPONENTS + block * BLOCK + i];
            const float magnitude = (float)(bits & 0x7f) * step;
            values[i] = bits & 0x80 ? -magnitude : magnitude;
        }
    } else if (format == DataFormat::Float16_b) {
        uint16_t bits[BLOCK];
        std::memcpy(bits, tile + 2 * block * BLOCK, sizeof bits);
        for (uint32_t i = 0; i < BLOCK; i++) {
            values[i] = from_bf16(bits[i]);
        }
    } else {
        std::memcpy(values, tile + 4 * block * BLOCK, BLOCK * sizeof(float));
    }
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

/* Writes a block of a tile in L1, rounded to its format. */
inline void store_block(uint8_t *tile, DataFormat format, uint32_t block, const float *values)
{
    if (format == DataFormat::Bfp8_b) {
        store_block_float(tile, block, values);
    } else if (format == DataFormat::Float16_b) {
        uint16_t bits[BLOCK];
        for (uint32_t i = 0; i < BLOCK; i++) {
            bits[i] = to_bf16(values[i]);
        }
        std::memcpy(tile + 2 * block * BLOCK, bits, sizeof bits);
    } else {
        std::memcpy(tile + 4 * block * BLOCK, values, BLOCK * sizeof(float));
    }
}

} // namespace partita::metalium
