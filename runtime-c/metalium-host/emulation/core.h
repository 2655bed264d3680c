/* A core and the kernels that run on it; for the implementation of the kernel API. */
#pragma once

#include "device.h"

#include <array>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

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
    /* Notified when something changes that a kernel of this core may wait for. */
    std::condition_variable changed;

    /* The address of the first byte of L1. Addresses of L1 have 32 bits and are valid pointers of the host. */
    uint32_t base() const { return (uint32_t)(uintptr_t)l1; }
};

/* What all kernels on chips that are joined share: the lock of their state, and the list of those that wait. */
class Monitor {
  public:
    std::mutex mutex;

    /* Waits, with the mutex held, until the condition holds. Reports a deadlock if nothing can make it true. */
    void await(std::unique_lock<std::mutex> &lock, const Thread &thread, std::function<bool()> condition,
               std::function<std::string()> what);
    /*
     * Counts what runs: kernels, chips between two programs, packets on links, and the host unless it waits for chips. The mutex
     * is held. When something ends, what still runs may be in a deadlock.
     */
    void begin(uint32_t count) { running_ += count; }
    void end(uint32_t count = 1);

  private:
    struct Waiting {
        const Thread *thread;
        std::function<bool()> condition;
        std::function<std::string()> what;
    };

    void report_deadlock();

    uint32_t running_ = 0;
    std::list<Waiting> waiting_;
};

/* A transfer on the network on chip that a barrier completes. */
struct Transfer {
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes;
};

struct ComputeState;
struct Connections;

/* The kernel that the current thread runs. */
class Thread {
  public:
    Thread(Device &device, Core &core, Monitor &monitor, const KernelDescriptor &kernel);
    ~Thread();

    void run();

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
