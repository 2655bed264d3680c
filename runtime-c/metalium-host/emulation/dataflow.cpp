/* The network on chip: transfers, which a barrier completes, and semaphores. */
#include "core.h"

#include "api/dataflow/dataflow_api.h"
#include "api/tensor/tensor_accessor.h"

namespace {

using namespace partita::metalium;

/*
 * An address has 36 bits within its place. Above are the coordinates of a core, or the end and the start of a range of cores.
 * Banks of DRAM are in a row of their own.
 */
constexpr uint32_t COORDINATE_BITS = 6;
constexpr uint32_t PLACE = 36;
constexpr uint32_t DRAM_ROW = 63;
constexpr uint64_t RANGE = 1ULL << 63;
/* Each core's L1 begins at a multiple. */
constexpr uint32_t L1_OFFSET = (2 << 20) - 1;

uint64_t coordinates(uint32_t x, uint32_t y)
{
    return (uint64_t)x | (uint64_t)y << COORDINATE_BITS;
}

uint32_t coordinate(uint64_t address, uint32_t index)
{
    return address >> (PLACE + index * COORDINATE_BITS) & ((1 << COORDINATE_BITS) - 1);
}

uint64_t within(uint64_t address)
{
    return address & ((1ULL << PLACE) - 1);
}

bool is_dram(uint64_t address)
{
    return (address & RANGE) == 0 && coordinate(address, 1) == DRAM_ROW;
}

uint8_t *in_l1(const Thread &thread, Core &core, uint32_t address, uint32_t bytes, const char *call)
{
    const uint32_t offset = address & L1_OFFSET;
    if (address < 0x40000000 || offset + bytes > L1_BYTES) {
        thread.fault("%s: bytes 0x%x to 0x%x are outside L1", call, address, address + bytes);
    }
    return core.l1 + offset;
}

uint8_t *at(const Thread &thread, uint64_t address, uint32_t bytes, const char *call)
{
    return place(thread, thread.device, address, bytes, call);
}

void align(const Thread &thread, uint64_t from, uint64_t to, uint32_t alignment, const char *call)
{
    if (((from ^ to) & (alignment - 1)) != 0) {
        thread.fault("%s: from 0x%llx to 0x%llx, which differ modulo %u", call, (unsigned long long)within(from),
                     (unsigned long long)within(to), alignment);
    }
}

void copy(std::vector<Transfer> &transfers)
{
    for (const Transfer &transfer : transfers) {
        std::memmove(transfer.to, transfer.from, transfer.bytes);
    }
    transfers.clear();
}

/* A transfer that has copied at once remains in flight, without bytes, until its barrier. */
void start(std::vector<Transfer> &transfers, Transfer transfer)
{
    if (Thread::current().device.transfers() == Transfers::AT_ONCE) {
        std::memmove(transfer.to, transfer.from, transfer.bytes);
        transfer.bytes = 0;
    }
    transfers.push_back(transfer);
}

template <typename Each> void each_core(const Thread &thread, uint64_t range, uint32_t cores, const char *call, Each each)
{
    if ((range & RANGE) == 0) {
        thread.fault("%s: not a multicast address", call);
    }
    uint32_t count = 0;
    for (uint32_t y = coordinate(range, 1); y <= coordinate(range, 3); y++) {
        for (uint32_t x = coordinate(range, 0); x <= coordinate(range, 2); x++) {
            Core &core = thread.device.core(x, y);
            if (&core != &thread.core) {
                each(core);
                count++;
            }
        }
    }
    if (count != cores) {
        thread.fault("%s: %u cores, but the range has %u others", call, cores, count);
    }
}

/* The semaphore at an address has changed. */
void notify(const Thread &thread, uint64_t semaphore)
{
    if (Core *core = core_of(thread.device, semaphore)) {
        thread.monitor.notify(*core);
    }
}

void await_semaphore(volatile uint32_t *semaphore, uint32_t value, bool at_least)
{
    Thread &thread = Thread::current();
    const uint32_t offset = (uint32_t)(uintptr_t)semaphore & L1_OFFSET;
    const bool is_global = offset >= GLOBAL_SEMAPHORES_START;
    const uint32_t id = (is_global ? offset - GLOBAL_SEMAPHORES_START : offset) / 16;
    std::unique_lock<std::mutex> lock(thread.monitor.mutex);
    thread.monitor.await(
        lock, thread, [&] { return at_least ? *semaphore >= value : *semaphore == value; },
        [&] {
            return (is_global ? "global semaphore " : "semaphore ") + std::to_string(id) + " to become " + (at_least ? "at least " : "") +
                   std::to_string(value) + ", which is " + std::to_string(*semaphore);
        });
}

} // namespace

uint8_t *partita::metalium::place(const Thread &thread, Device &device, uint64_t address, uint32_t bytes, const char *call)
{
    Core *core = core_of(device, address);
    return core == nullptr ? device.dram(coordinate(address, 0), within(address), bytes)
                           : in_l1(thread, *core, (uint32_t)within(address), bytes, call);
}

Core *partita::metalium::core_of(Device &device, uint64_t address)
{
    return is_dram(address) ? nullptr : &device.core(coordinate(address, 0), coordinate(address, 1));
}

uint64_t partita::metalium::dram_page(uint32_t base, uint32_t page_bytes, uint32_t page)
{
    return coordinates(page % DRAM_BANKS, DRAM_ROW) << PLACE | (base + (uint64_t)(page / DRAM_BANKS) * page_bytes);
}

uint32_t get_write_ptr(uint32_t cb)
{
    return Thread::current().buffer(cb, "get_write_ptr").write_address();
}

uint32_t get_read_ptr(uint32_t cb)
{
    return Thread::current().buffer(cb, "get_read_ptr").read_address();
}

uint32_t get_tile_size(uint32_t cb)
{
    return tile_bytes(Thread::current().buffer(cb, "get_tile_size").format);
}

uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t l1, uint8_t)
{
    return coordinates(x, y) << PLACE | l1;
}

uint64_t get_noc_addr(uint32_t l1)
{
    const CoreCoord core = Thread::current().core.at;
    return get_noc_addr(core.x, core.y, l1);
}

uint64_t get_noc_multicast_addr(uint32_t x_start, uint32_t y_start, uint32_t x_end, uint32_t y_end, uint32_t l1)
{
    return RANGE | (coordinates(x_start, y_start) | coordinates(x_end, y_end) << 2 * COORDINATE_BITS) << PLACE | l1;
}

void noc_async_read(uint64_t from, uint32_t l1, uint32_t bytes)
{
    Thread &thread = Thread::current();
    align(thread, from, l1, is_dram(from) ? DRAM_ALIGNMENT : L1_ALIGNMENT, "noc_async_read");
    start(thread.reads,
          {in_l1(thread, thread.core, l1, bytes, "noc_async_read"), at(thread, from, bytes, "noc_async_read"), bytes});
}

void noc_async_write(uint32_t l1, uint64_t to, uint32_t bytes)
{
    Thread &thread = Thread::current();
    align(thread, l1, to, L1_ALIGNMENT, "noc_async_write");
    start(thread.writes,
          {at(thread, to, bytes, "noc_async_write"), in_l1(thread, thread.core, l1, bytes, "noc_async_write"), bytes});
}

void noc_async_write_multicast(uint32_t l1, uint64_t to, uint32_t bytes, uint32_t cores, bool)
{
    static const char *const call = "noc_async_write_multicast";
    Thread &thread = Thread::current();
    align(thread, l1, to, L1_ALIGNMENT, call);
    const uint8_t *from = in_l1(thread, thread.core, l1, bytes, call);
    each_core(thread, to, cores, call, [&](Core &core) {
        start(thread.writes, {in_l1(thread, core, (uint32_t)within(to), bytes, call), from, bytes});
    });
}

void noc_async_read_barrier()
{
    copy(Thread::current().reads);
}

void noc_async_write_barrier()
{
    noc_async_writes_flushed();
}

void noc_async_writes_flushed()
{
    Thread &thread = Thread::current();
    copy(thread.writes);
    flush_packets(thread);
}

void noc_async_atomic_barrier() {}

uint32_t get_semaphore(uint32_t id)
{
    const Thread &thread = Thread::current();
    if (id >= SEMAPHORES) {
        thread.fault("get_semaphore: a core has no semaphore %u", id);
    }
    return thread.core.base() + 16 * id;
}

void noc_semaphore_set(volatile uint32_t *semaphore, uint32_t value)
{
    const Thread &thread = Thread::current();
    const std::lock_guard<std::mutex> guard(thread.monitor.mutex);
    *semaphore = value;
    thread.monitor.notify(thread.core);
}

void noc_semaphore_wait(volatile uint32_t *semaphore, uint32_t value)
{
    await_semaphore(semaphore, value, false);
}

void noc_semaphore_wait_min(volatile uint32_t *semaphore, uint32_t value)
{
    await_semaphore(semaphore, value, true);
}

void noc_semaphore_inc(uint64_t semaphore, uint32_t count)
{
    const Thread &thread = Thread::current();
    uint32_t *word = (uint32_t *)at(thread, semaphore, sizeof(uint32_t), "noc_semaphore_inc");
    const std::lock_guard<std::mutex> guard(thread.monitor.mutex);
    *word += count;
    notify(thread, semaphore);
}

void noc_semaphore_set_remote(uint32_t l1, uint64_t semaphore)
{
    static const char *const call = "noc_semaphore_set_remote";
    Thread &thread = Thread::current();
    copy(thread.writes);
    uint8_t *to = at(thread, semaphore, sizeof(uint32_t), call);
    const uint8_t *from = in_l1(thread, thread.core, l1, sizeof(uint32_t), call);
    const std::lock_guard<std::mutex> guard(thread.monitor.mutex);
    std::memcpy(to, from, sizeof(uint32_t));
    notify(thread, semaphore);
}

void noc_semaphore_set_multicast(uint32_t l1, uint64_t semaphores, uint32_t cores, bool)
{
    static const char *const call = "noc_semaphore_set_multicast";
    Thread &thread = Thread::current();
    copy(thread.writes);
    const uint8_t *from = in_l1(thread, thread.core, l1, sizeof(uint32_t), call);
    const std::lock_guard<std::mutex> guard(thread.monitor.mutex);
    each_core(thread, semaphores, cores, call, [&](Core &core) {
        std::memcpy(in_l1(thread, core, (uint32_t)within(semaphores), sizeof(uint32_t), call), from, sizeof(uint32_t));
        thread.monitor.notify(core);
    });
}
