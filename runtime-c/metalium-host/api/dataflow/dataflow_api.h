/* The API of reader and writer kernels: addresses, transfers on the network on chip, semaphores. */
#pragma once

#include "api/kernel.h"

/* In L1 of this core, which a kernel may use as a pointer. */
uint32_t get_write_ptr(uint32_t cb);
uint32_t get_read_ptr(uint32_t cb);
uint32_t get_tile_size(uint32_t cb);

/* The two networks on chip, which kernels of a reader and a writer use, have the same coordinates here. */
constexpr uint8_t noc_index = 0;
uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t l1, uint8_t noc = noc_index);
/* Of this core. */
uint64_t get_noc_addr(uint32_t l1);
uint64_t get_noc_multicast_addr(uint32_t x_start, uint32_t y_start, uint32_t x_end, uint32_t y_end, uint32_t l1);

/*
 * The low 5 bits of addresses must be equal when DRAM is read, the low 4 bits otherwise. Transfers are complete after the
 * corresponding barrier.
 */
void noc_async_read(uint64_t from, uint32_t l1, uint32_t bytes);
void noc_async_write(uint32_t l1, uint64_t to, uint32_t bytes);
/* The cores of a multicast address, without this one. */
void noc_async_write_multicast(uint32_t l1, uint64_t to, uint32_t bytes, uint32_t cores, bool linked = false);
void noc_async_read_barrier();
void noc_async_write_barrier();
void noc_async_writes_flushed();
void noc_async_atomic_barrier();

template <typename Accessor>
void noc_async_read_page(uint32_t page, const Accessor &accessor, uint32_t l1, uint32_t offset = 0)
{
    noc_async_read(accessor.get_noc_addr(page, offset), l1, accessor.page_size - offset);
}

template <typename Accessor>
void noc_async_write_page(uint32_t page, const Accessor &accessor, uint32_t l1, uint32_t bytes = 0, uint32_t offset = 0)
{
    noc_async_write(l1, accessor.get_noc_addr(page, offset), bytes ? bytes : accessor.page_size - offset);
}

/* The address of a semaphore in L1, the same in all cores. */
uint32_t get_semaphore(uint32_t id);
void noc_semaphore_set(volatile uint32_t *semaphore, uint32_t value);
void noc_semaphore_wait(volatile uint32_t *semaphore, uint32_t value);
void noc_semaphore_wait_min(volatile uint32_t *semaphore, uint32_t value);
void noc_semaphore_inc(uint64_t semaphore, uint32_t count);
/* Earlier writes of the kernel arrive first. */
void noc_semaphore_set_remote(uint32_t l1, uint64_t semaphore);
void noc_semaphore_set_multicast(uint32_t l1, uint64_t semaphores, uint32_t cores, bool linked = false);
