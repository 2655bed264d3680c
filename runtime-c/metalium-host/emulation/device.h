/*
 * An emulated chip for programs of a host: DRAM in banks, a grid of cores with private L1, and programs of a reader, a compute
 * and a writer kernel on each core.
 *
 * A program that breaks a rule of the hardware ends the process with code 70 and a message: a circular buffer that overruns, a
 * transfer that is not aligned, a destination register that isn't acquired, kernels that wait for each other.
 */
#pragma once

#include "buffer.h"
#include "format.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace partita::metalium {

/* The exit code of a program that broke a rule. */
constexpr int FAULT = 70;

constexpr uint32_t CIRCULAR_BUFFERS = 32;
/* On each core. */
constexpr uint32_t SEMAPHORES = 16;
constexpr uint32_t DRAM_BANKS = 12;
constexpr uint32_t DRAM_ALIGNMENT = 32;
constexpr uint32_t L1_ALIGNMENT = 16;
constexpr uint32_t L1_BYTES = 1536 * 1024;
/* The most chips of a mesh. */
constexpr uint32_t MESH_CHIPS = 32;
/* Words of each core that say what its chip computes. */
constexpr uint32_t CORE_WORDS = 8;
/* Semaphores that outlive programs are at the end of L1: one for each chip that may send packets, and the words. */
constexpr uint32_t GLOBAL_SEMAPHORES = MESH_CHIPS + CORE_WORDS;
constexpr uint32_t GLOBAL_SEMAPHORES_START = L1_BYTES - 16 * GLOBAL_SEMAPHORES;

struct CoreCoord {
    uint32_t x;
    uint32_t y;
};

/* All cores from start to end, which belongs to the range. */
struct CoreRange {
    CoreCoord start;
    CoreCoord end;
};

struct CBDescriptor {
    uint32_t buffer_index;
    DataFormat data_format;
    uint32_t page_size;
    uint32_t total_size;
};

struct SemaphoreDescriptor {
    uint32_t id;
    uint32_t initial_value;
};

struct RuntimeArgs {
    CoreCoord core;
    std::vector<uint32_t> values;
};

enum class Processor { READER, WRITER, COMPUTE };

struct KernelDescriptor {
    std::string name;
    void (*entry)();
    Processor processor;
    std::vector<RuntimeArgs> runtime_args;
    std::vector<uint32_t> common_runtime_args = {};
    /* Compute kernels: destination registers have 32 bits. */
    bool fp32_dest_acc_en = false;
    /* Compute kernels: buffers of 32 bits that copy_tile moves to destination registers without a source register. */
    std::vector<uint32_t> unpack_to_dest_fp32 = {};
};

struct ProgramDescriptor {
    std::vector<CoreRange> core_ranges;
    std::vector<CBDescriptor> cbs;
    std::vector<SemaphoreDescriptor> semaphores;
    std::vector<KernelDescriptor> kernels;
};

class Core;
class Monitor;
class Mesh;
class Scheduler;

/* When asynchronous transfers copy: at their barrier, or at once. A missing barrier gives wrong results with one of them. */
enum class Transfers { AT_BARRIER, AT_ONCE };

class Device {
  public:
    explicit Device(uint32_t columns = 8, uint32_t rows = 8, Transfers transfers = Transfers::AT_BARRIER);
    /* A chip of a mesh. */
    Device(Mesh *mesh, uint32_t chip, uint32_t columns, uint32_t rows, Transfers transfers);
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    Buffer allocate(uint32_t pages, uint32_t page_bytes);
    /* Bytes of pages in order, from the host and to it. */
    void write(const Buffer &to, const void *bytes);
    void read(const Buffer &from, void *bytes) const;

    /* Runs a program on its cores until all kernels have ended. */
    void run(const ProgramDescriptor &program);
    /* Likewise; its caller is among what the monitor counts as running. */
    void run(const ProgramDescriptor &program, Monitor &monitor);

    uint32_t columns() const { return columns_; }
    uint32_t rows() const { return rows_; }
    Transfers transfers() const { return transfers_; }
    /* Null for a chip alone. */
    Mesh *mesh() const { return mesh_; }
    /* The number in the mesh. */
    uint32_t chip() const { return chip_; }
    Core &core(uint32_t x, uint32_t y);
    Scheduler &scheduler() { return *scheduler_; }
    /* The host's address of bytes in a bank. */
    uint8_t *dram(uint32_t bank, uint64_t offset, uint64_t bytes) const;

  private:
    Mesh *mesh_;
    uint32_t chip_;
    uint32_t columns_;
    uint32_t rows_;
    Transfers transfers_;
    uint8_t *dram_;
    uint8_t *l1_;
    uint64_t allocated_;
    std::vector<std::unique_ptr<Core>> cores_;
    std::unique_ptr<Scheduler> scheduler_;
};

/* Reorders a row-major matrix of full tiles to tiles, row by row of tiles, and back. */
void tilize(const float *matrix, uint32_t rows, uint32_t columns, DataFormat format, uint8_t *tiles);
void untilize(const uint8_t *tiles, uint32_t rows, uint32_t columns, DataFormat format, float *matrix);

} // namespace partita::metalium
