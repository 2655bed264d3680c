/* Tiles in Bfp8_b: elements as ttnn 0.81.1 converts them, and where they are in a tile. */
#include "emulation/device.h"

#include <cstdio>

using namespace partita::metalium;

int main()
{
    const float given[BLOCK] = {1.9999f, 1.99f,   1,     0.5f,       -0.0078125f, 0.0078125f, 0.0234375f, 0.0390625f,
                                0,       1e-9f, -1.5f, 0.0234375f, 0.0390625f,  1.0078125f, 1.0234375f, -1.0078125f};
    const float converted[BLOCK] = {1.984375f, 1.984375f, 1,     0.5f,     0,        0, 0.03125f, 0.03125f,
                                    0,         0,         -1.5f, 0.03125f, 0.03125f, 1, 1.03125f, -1};
    /* A row of the second tile, whose left half is given and whose right half has another exponent. */
    const uint32_t columns = 2 * TILE;
    const uint32_t row = 17;
    std::vector<float> matrix(TILE * columns);
    std::copy_n(given, BLOCK, &matrix[row * columns + TILE]);
    matrix[row * columns + TILE + BLOCK] = 96;
    std::vector<uint8_t> tiles(2 * tile_bytes(DataFormat::Bfp8_b), 0xff);
    tilize(matrix.data(), TILE, columns, DataFormat::Bfp8_b, tiles.data());
    std::vector<float> back(matrix.size());
    untilize(tiles.data(), TILE, columns, DataFormat::Bfp8_b, back.data());
    std::copy_n(converted, BLOCK, &matrix[row * columns + TILE]);
    uint32_t differ = 0;
    for (size_t i = 0; i < matrix.size(); i++) {
        differ += bits_of(back[i]) != bits_of(matrix[i]);
    }
    /* The exponents of the third and the fourth face's second rows, then the first elements of these rows. */
    const uint8_t *tile = &tiles[tile_bytes(DataFormat::Bfp8_b)];
    std::printf("%u differ; exponents %u %u, elements 0x%02x 0x%02x\n", differ, tile[33], tile[49], tile[64 + 33 * 16 + 10],
                tile[64 + 49 * 16]);
    return 0;
}
