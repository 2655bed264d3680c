/* A core and the kernels that run on it; for the implementation of the kernel API. */
#pragma once

#include "device.h"
#include "fiber.h"
#include "scheduler.h"

#include <array>

namespace partita::metalium {

class Thread;

/*
 * A queue of pages in L1. One kernel produces and one consumes. Pages that are reserved or awaited together are contiguous, so
 * none of these calls may cross the end of the buffer.
 */
struct CircularBuffer {
    bool exists = false;
    DataFormat format = DataFormat::Float16_b;
    uint32_t page_bytes = 0;
    uint32_t pages = 0;
    uint32_t l1 = 0;
    /* Numbers of pages since the start of the program. */
    uint64_t pushed = 0;
    uint64_t popped = 0;
    /* Pages that the producer has reserved and the consumer has awaited. */
    uint32_t reserved = 0;
    uint32_t awaited = 0;
    /* Reserved pages that compute kernels have packed. */
    uint32_t packed = 0;
    const Thread *producer = nullptr;
    const Thread *consumer = nullptr;

    uint32_t write_address(uint32_t page = 0) const
    {
        return l1 + (uint32_t)((pushed + page) % pages) * page_bytes;
    }
    uint32_t read_address(uint32_t page = 0) const
    {
        return l1 + (uint32_t)((popped + page) % pages) * page_bytes;
    }
};

class Core {
  public:
    Core(CoreCoord at, uint8_t *l1) : at(at), l1(l1) {}

    const CoreCoord at;
    uint8_t *const l1;
    std::array<CircularBuffer, CIRCULAR_BUFFERS> buffers;
    /* Its kernels that wait. */
    std::vector<Thread *> waiting;

    /* The address of the first byte of L1. Addresses of L1 have 32 bits and are valid pointers of the host. */
    uint32_t base() const { return (uint32_t)(uintptr_t)l1; }
};

/* A transfer on the network on chip that a barrier completes. */
struct Transfer {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes;
};

struct ComputeState;
struct Connections;

/* A kernel that runs on a core. */
class Thread {
  public:
    Thread(Device &device, Core &core, Monitor &monitor, const KernelDescriptor &kernel);
    ~Thread();

    /* Runs the kernel, on its fiber. */
    void run();
    /* Lets it run until it waits or ends. Returns whether it has ended. */
    bool resume();
    /* Called by the kernel: lets others run. */
    void suspend();

    static Thread &current();

    /* Ends the process with a message about this kernel. */
    [[noreturn]] void fault(const char *format, ...) const __attribute__((format(printf, 2, 3)));
    std::string name() const;
    CircularBuffer &buffer(uint32_t id, const char *call) const;

    Device &device;
    Core &core;
    Monitor &monitor;
    const KernelDescriptor &kernel;
    const std::vector<uint32_t> *arguments = nullptr;
    /* From its first instruction to its last one. */
    std::unique_ptr<Fiber> fiber;
    /* Null unless it waits. */
    const Wait *wait = nullptr;
    std::vector<Transfer> reads;
    std::vector<Transfer> writes;
    std::unique_ptr<ComputeState> compute;
    /* To the links of its chip; null unless it has built them. */
    std::shared_ptr<Connections> connections;
};

/* The place of an address on a chip, such as one on the network on chip. Ends the process if there is none. */
uint8_t *place(const Thread &thread, Device &device, uint64_t address, uint32_t bytes, const char *call);
/* Puts the packets that a kernel has sent on their links: neither payloads nor headers are needed any more. */
void flush_packets(Thread &thread);
/* The core whose L1 an address is in; null if it is in DRAM. */
Core *core_of(Device &device, uint64_t address);

/* Ends the process with a message. */
[[noreturn]] void fault(const std::string &message);

} // namespace partita::metalium
