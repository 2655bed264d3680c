/* Tensors in the DRAM of an emulated chip, and the formats of their elements. */
#pragma once

#include <cstdint>

/* The data formats of circular buffers that the emulation supports. */
enum class DataFormat : uint8_t { Float32, Float16_b, Bfp8_b, UInt32 };

namespace partita::metalium {

/* A tensor of pages that are dealt to the banks of DRAM in turn. */
struct Buffer {
    uint32_t address;
    uint32_t pages;
    uint32_t page_bytes;
};

} // namespace partita::metalium
