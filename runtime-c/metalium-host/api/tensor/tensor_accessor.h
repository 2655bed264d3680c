/* Tensors in DRAM, whose pages are dealt to the banks in turn. */
#pragma once

#include "api/kernel.h"

namespace partita::metalium {
/* The address of a page on the network on chip. */
uint64_t dram_page(uint32_t base, uint32_t page_bytes, uint32_t page);
} // namespace partita::metalium

namespace {

/* Two compile-time arguments: the configuration, of which bit 1 says that the tensor is in DRAM, and the bytes of a page. */
template <uint32_t OFFSET> struct TensorAccessorArgs {
    static_assert(kernel_compile_time_args[OFFSET] == 2, "an interleaved tensor in DRAM");
    static constexpr uint32_t page_size = kernel_compile_time_args[OFFSET + 1];

    static constexpr uint32_t next_compile_time_args_offset()
    {
        return OFFSET + 2;
    }
};

class TensorAccessor {
  public:
    template <uint32_t OFFSET>
    TensorAccessor(const TensorAccessorArgs<OFFSET> &args, uint32_t address)
        : TensorAccessor(args, address, TensorAccessorArgs<OFFSET>::page_size)
    {
    }

    template <uint32_t OFFSET>
    TensorAccessor(const TensorAccessorArgs<OFFSET> &, uint32_t address, uint32_t page_size)
        : page_size(page_size), address(address)
    {
    }

    /* Both networks on chip have the same coordinates here. */
    uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t = 0) const
    {
        return partita::metalium::dram_page(address, page_size, page) + offset;
    }

    const uint32_t page_size;

  private:
    const uint32_t address;
};

} // namespace
