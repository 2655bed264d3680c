/* Programs that break a rule, and two that don't: misuse NAME. */
#include "emulation/device.h"

#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_unary/exp.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"
#include "api/compute/reg_api.h"
#include "api/compute/tile_move_copy.h"
#include "api/dataflow/dataflow_api.h"
#include "api/tensor/tensor_accessor.h"

#include <cstdio>
#include <cstdlib>

using namespace partita::metalium;

namespace {

constexpr uint32_t BYTES = 2048;

void nothing() {}

void push(uint32_t cb, uint32_t pages)
{
    for (uint32_t page = 0; page < pages; page++) {
        cb_reserve_back(cb, 1);
        cb_push_back(cb, 1);
    }
}

void fill()
{
    push(0, 1);
    push(1, 1);
}

void acquire()
{
    compute_kernel_hw_startup(0, 1, 16);
    cb_wait_front(0, 1);
    cb_wait_front(1, 1);
    tile_regs_acquire();
}

/* Sends a word to the other cores of the row and tells them; they await it and check it. */
void send()
{
    volatile uint32_t *semaphore = reinterpret_cast<volatile uint32_t *>(get_semaphore(0));
    cb_reserve_back(0, 1);
    volatile uint32_t *data = reinterpret_cast<volatile uint32_t *>(get_write_ptr(0));
    if (get_arg_val<uint32_t>(0) == 0) {
        *data = 4711;
        noc_async_write_multicast(get_write_ptr(0), get_noc_multicast_addr(0, 0, 3, 0, get_write_ptr(0)), 32, 3);
        *semaphore = 1;
        noc_semaphore_set_multicast(get_semaphore(0), get_noc_multicast_addr(0, 0, 3, 0, get_semaphore(0)), 3);
        noc_async_write_barrier();
        noc_semaphore_wait(reinterpret_cast<volatile uint32_t *>(get_semaphore(1)), 3);
    } else {
        noc_semaphore_wait(semaphore, 1);
        if (*data != 4711) {
            std::abort();
        }
        noc_semaphore_inc(get_noc_addr(0, 0, get_semaphore(1)), 1);
        noc_async_atomic_barrier();
    }
    cb_push_back(0, 1);
}

struct Case {
    const char *name;
    void (*reader)();
    void (*compute)();
    uint32_t cores = 1;
};

const Case CASES[] = {
    {"none", fill, [] { acquire(); add_init(0, 1); add_tiles(0, 1, 0, 0, 0); tile_regs_commit(); }},
    {"multicast", send, nothing, 4},
    {"deadlock", [] { push(0, 3); }, [] { cb_wait_front(1, 1); }},
    {"semaphore", [] { noc_semaphore_wait(reinterpret_cast<volatile uint32_t *>(get_semaphore(1)), 2); }, nothing, 2},
    {"overrun", [] { cb_reserve_back(0, 1); cb_push_back(0, 2); }, nothing},
    {"capacity", [] { cb_reserve_back(0, 3); }, nothing},
    {"wrap", [] { push(0, 1); cb_reserve_back(0, 2); }, nothing},
    {"unawaited", nothing, [] { cb_pop_front(0, 1); }},
    {"unknown", [] { cb_reserve_back(7, 1); }, nothing},
    {"producers", fill, [] { cb_wait_front(0, 1); cb_reserve_back(0, 1); }},
    {"misaligned",
     [] { noc_async_read(dram_page(32, BYTES, 0) + 16, get_write_ptr(0), 64); }, nothing},
    {"outside", [] { noc_async_read(dram_page(32, BYTES, 0), get_write_ptr(0) + L1_BYTES, 64); }, nothing},
    {"unallocated", [] { noc_async_read(dram_page(1 << 20, BYTES, 0), get_write_ptr(0), 64); }, nothing},
    {"barrier", [] { noc_async_read(dram_page(32, BYTES, 0), get_write_ptr(0), 64); }, nothing},
    {"recipients", [] { noc_async_write_multicast(get_write_ptr(0), get_noc_multicast_addr(0, 0, 3, 0, get_write_ptr(0)), 32, 4); },
     nothing},
    {"argument", [] { get_arg_val<uint32_t>(5); }, nothing},
    {"registers", fill, [] { acquire(); matmul_init(0, 1); matmul_tiles(0, 1, 0, 0, 8); }},
    {"unacquired", fill, [] { compute_kernel_hw_startup(0, 1, 16); copy_init(0); copy_tile(0, 0, 0); }},
    {"init", fill, [] { acquire(); add_init(0, 1); mul_tiles(0, 1, 0, 0, 0); }},
    {"function", fill, [] { acquire(); copy_init(0); copy_tile(0, 0, 0); exp_tile(0); }},
    {"empty", fill, [] { acquire(); exp_tile_init(); exp_tile(0); }},
    {"tile", fill, [] { acquire(); copy_init(0); copy_tile(0, 1, 0); }},
    {"format", fill, [] { acquire(); cb_wait_front(0, 1); copy_init(2); copy_tile(2, 0, 0); }},
    {"unreserved", fill, [] { acquire(); tile_regs_commit(); tile_regs_wait(); pack_tile(0, 16); }},
    {"startup", fill, [] { add_init(0, 1); }},
    {"processor", [] { tile_regs_acquire(); }, nothing},
};

} // namespace

int main(int, char **arguments)
{
    Device device(4, 2);
    device.allocate(1, BYTES);
    for (const Case &each : CASES) {
        if (std::strcmp(each.name, arguments[1]) != 0) {
            continue;
        }
        ProgramDescriptor program;
        program.core_ranges = {{{0, 0}, {each.cores - 1, 0}}};
        for (uint32_t cb : {0, 1, 16}) {
            program.cbs.push_back({cb, DataFormat::Float16_b, BYTES, 2 * BYTES});
        }
        program.cbs.push_back({2, DataFormat::Float32, 2 * BYTES, 2 * BYTES});
        program.semaphores = {{0, 0}, {1, 0}};
        program.kernels = {{"data", each.reader, Processor::READER, {}}, {"math", each.compute, Processor::COMPUTE, {}}};
        for (uint32_t x = 0; x < each.cores; x++) {
            program.kernels[0].runtime_args.push_back({{x, 0}, {x}});
        }
        device.run(program);
        std::puts("done");
        return 0;
    }
    return 1;
}
