#include "core.h"

#include "compute.h"
#include "mesh.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace partita::metalium {

namespace {

/* Each core's L1 begins at a multiple, so that an address in one core says which bytes it means in another. */
constexpr uint64_t L1_STRIDE = 2 << 20;
/* In the lower 4 GiB: kernels keep addresses of L1 in 32 bits. Chips follow each other. */
constexpr uintptr_t L1_START = 0x40000000;
constexpr uintptr_t L1_END = 0x100000000;
constexpr uint64_t BANK_BYTES = 1ULL << 30;
/* Semaphores are at the start of L1, 16 bytes each. */
constexpr uint32_t SEMAPHORE_BYTES = 16 * SEMAPHORES;
/* bf16 and f32 of these bytes are NaN: what nobody wrote is seen in results. */
constexpr int UNWRITTEN = 0xff;

thread_local Thread *running = nullptr;

uint8_t *reserve(uintptr_t at, uint64_t bytes, const char *what)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0);
    void *memory = mmap((void *)at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) {
        fault(std::string("no memory for the ") + what + " of an emulated chip");
    }
    return (uint8_t *)memory;
}

uintptr_t l1_start(uint32_t chip, uint32_t columns, uint32_t rows)
{
    const uint64_t bytes = (uint64_t)columns * rows * L1_STRIDE;
    if (L1_START + (chip + 1) * bytes > L1_END) {
        fault("L1 of " + std::to_string(chip + 1) + " chips doesn't fit 32 bits of addresses");
    }
    return L1_START + chip * bytes;
}

bool is_in(const ProgramDescriptor &program, CoreCoord at)
{
    for (const CoreRange &range : program.core_ranges) {
        if (at.x >= range.start.x && at.x <= range.end.x && at.y >= range.start.y && at.y <= range.end.y) {
            return true;
        }
    }
    return false;
}

void prepare(Core &core, const ProgramDescriptor &program)
{
    core.buffers = {};
    uint32_t used = SEMAPHORE_BYTES;
    for (const SemaphoreDescriptor &semaphore : program.semaphores) {
        if (semaphore.id >= SEMAPHORES) {
            fault("semaphore " + std::to_string(semaphore.id) + ": a core has 16");
        }
        std::memcpy(core.l1 + 16 * semaphore.id, &semaphore.initial_value, sizeof(uint32_t));
    }
    for (const CBDescriptor &descriptor : program.cbs) {
        const std::string name = "circular buffer " + std::to_string(descriptor.buffer_index);
        if (descriptor.buffer_index >= CIRCULAR_BUFFERS) {
            fault(name + ": a core has 32");
        }
        if (descriptor.page_size == 0 || descriptor.page_size % L1_ALIGNMENT != 0 ||
            descriptor.total_size == 0 || descriptor.total_size % descriptor.page_size != 0) {
            fault(name + ": " + std::to_string(descriptor.total_size) + " bytes aren't pages of " +
                  std::to_string(descriptor.page_size));
        }
        if (descriptor.total_size > GLOBAL_SEMAPHORES_START - used) {
            fault(name + ": " + std::to_string(descriptor.total_size) + " bytes don't fit L1, which has " +
                  std::to_string(GLOBAL_SEMAPHORES_START - used) + " left");
        }
        CircularBuffer &buffer = core.buffers[descriptor.buffer_index];
        buffer.exists = true;
        buffer.format = descriptor.data_format;
        buffer.page_bytes = descriptor.page_size;
        buffer.pages = descriptor.total_size / descriptor.page_size;
        buffer.l1 = core.base() + used;
        std::memset(core.l1 + used, UNWRITTEN, descriptor.total_size);
        used += descriptor.total_size;
    }
}

} // namespace

void fault(const std::string &message)
{
    std::fprintf(stderr, "metalium-host: %s\n", message.c_str());
    std::fflush(stderr);
    _exit(FAULT);
}

Device::Device(uint32_t columns, uint32_t rows, Transfers transfers) : Device(nullptr, 0, columns, rows, transfers) {}

Device::Device(Mesh *mesh, uint32_t chip, uint32_t columns, uint32_t rows, Transfers transfers)
    : mesh_(mesh), chip_(chip), columns_(columns), rows_(rows), transfers_(transfers),
      dram_(reserve(0, DRAM_BANKS * BANK_BYTES, "DRAM")),
      l1_(reserve(l1_start(chip, columns, rows), (uint64_t)columns * rows * L1_STRIDE, "L1")), allocated_(DRAM_ALIGNMENT),
      scheduler_(std::make_unique<Scheduler>())
{
    for (uint32_t y = 0; y < rows; y++) {
        for (uint32_t x = 0; x < columns; x++) {
            cores_.push_back(std::make_unique<Core>(CoreCoord{x, y}, l1_ + (y * columns + x) * L1_STRIDE));
        }
    }
}

Device::~Device()
{
    munmap(dram_, DRAM_BANKS * BANK_BYTES);
    munmap(l1_, (uint64_t)columns_ * rows_ * L1_STRIDE);
}

Core &Device::core(uint32_t x, uint32_t y)
{
    if (x >= columns_ || y >= rows_) {
        fault("no core (" + std::to_string(x) + ", " + std::to_string(y) + ")");
    }
    return *cores_[y * columns_ + x];
}

uint8_t *Device::dram(uint32_t bank, uint64_t offset, uint64_t bytes) const
{
    if (bank >= DRAM_BANKS || offset + bytes > allocated_) {
        fault("DRAM bank " + std::to_string(bank) + ": bytes " + std::to_string(offset) + " to " +
              std::to_string(offset + bytes) + " aren't allocated");
    }
    return dram_ + bank * BANK_BYTES + offset;
}

Buffer Device::allocate(uint32_t pages, uint32_t page_bytes)
{
    if (page_bytes % DRAM_ALIGNMENT != 0) {
        fault("pages of " + std::to_string(page_bytes) + " bytes in DRAM: must be multiples of 32");
    }
    const uint64_t rounds = (pages + DRAM_BANKS - 1) / DRAM_BANKS;
    const uint64_t start = allocated_;
    if (start + rounds * page_bytes > BANK_BYTES) {
        fault("DRAM is full");
    }
    allocated_ += rounds * page_bytes;
    return {(uint32_t)start, pages, page_bytes};
}

void Device::write(const Buffer &to, const void *bytes)
{
    for (uint32_t page = 0; page < to.pages; page++) {
        const uint64_t offset = to.address + (uint64_t)(page / DRAM_BANKS) * to.page_bytes;
        std::memcpy(dram(page % DRAM_BANKS, offset, to.page_bytes), (const uint8_t *)bytes + (size_t)page * to.page_bytes,
                    to.page_bytes);
    }
}

void Device::read(const Buffer &from, void *bytes) const
{
    for (uint32_t page = 0; page < from.pages; page++) {
        const uint64_t offset = from.address + (uint64_t)(page / DRAM_BANKS) * from.page_bytes;
        std::memcpy((uint8_t *)bytes + (size_t)page * from.page_bytes, dram(page % DRAM_BANKS, offset, from.page_bytes),
                    from.page_bytes);
    }
}

void Device::run(const ProgramDescriptor &program)
{
    Monitor monitor;
    monitor.begin(1);
    run(program, monitor);
}

void Device::run(const ProgramDescriptor &program, Monitor &monitor)
{
    std::vector<std::unique_ptr<Thread>> kernels;
    for (const std::unique_ptr<Core> &core : cores_) {
        if (!is_in(program, core->at)) {
            continue;
        }
        prepare(*core, program);
        for (const KernelDescriptor &kernel : program.kernels) {
            kernels.push_back(std::make_unique<Thread>(*this, *core, monitor, kernel));
        }
    }
    if (kernels.empty()) {
        return;
    }
    {
        const std::lock_guard<std::mutex> guard(monitor.mutex);
        monitor.begin((uint32_t)kernels.size() - 1);
    }
    scheduler_->run(kernels, monitor);
}

Thread::Thread(Device &device, Core &core, Monitor &monitor, const KernelDescriptor &kernel)
    : device(device), core(core), monitor(monitor), kernel(kernel)
{
    for (const RuntimeArgs &each : kernel.runtime_args) {
        if (each.core.x == core.at.x && each.core.y == core.at.y) {
            arguments = &each.values;
        }
    }
    if (kernel.processor == Processor::COMPUTE) {
        /* Registers are cleared when they are acquired. */
        compute.reset(new ComputeState);
    }
}

Thread::~Thread() = default;

void Thread::run()
{
    kernel.entry();
    if (!reads.empty() || !writes.empty()) {
        fault("ends with %zu reads and %zu writes in flight: a barrier is missing", reads.size(), writes.size());
    }
    verify_closed(*this);
}

bool Thread::resume()
{
    running = this;
    const bool has_ended = fiber->resume();
    running = nullptr;
    return has_ended;
}

void Thread::suspend()
{
    fiber->suspend();
}

Thread &Thread::current()
{
    if (running == nullptr) {
        metalium::fault("the kernel API was called outside a kernel");
    }
    return *running;
}

std::string Thread::name() const
{
    static const char *const processors[] = {"reader", "writer", "compute"};
    return std::string(processors[(int)kernel.processor]) + " kernel '" + kernel.name + "' of core (" +
           std::to_string(core.at.x) + ", " + std::to_string(core.at.y) + ")" +
           (device.mesh() != nullptr && device.mesh()->size() > 1 ? " of chip " + std::to_string(device.chip()) : "");
}

void Thread::fault(const char *format, ...) const
{
    char message[512];
    va_list values;
    va_start(values, format);
    std::vsnprintf(message, sizeof message, format, values);
    va_end(values);
    metalium::fault(name() + ": " + message);
}

CircularBuffer &Thread::buffer(uint32_t id, const char *call) const
{
    if (id >= CIRCULAR_BUFFERS || !core.buffers[id].exists) {
        fault("%s: the program has no circular buffer %u", call, id);
    }
    return core.buffers[id];
}

void tilize(const float *matrix, uint32_t rows, uint32_t columns, DataFormat format, uint8_t *tiles)
{
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column += BLOCK) {
            const size_t tile = (size_t)(row / TILE) * (columns / TILE) + column / TILE;
            store_block(tiles + tile * tile_bytes(format), format, in_tile(row % TILE, column % TILE) / BLOCK,
                        &matrix[(size_t)row * columns + column]);
        }
    }
}

void untilize(const uint8_t *tiles, uint32_t rows, uint32_t columns, DataFormat format, float *matrix)
{
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column += BLOCK) {
            const size_t tile = (size_t)(row / TILE) * (columns / TILE) + column / TILE;
            load_block(tiles + tile * tile_bytes(format), format, in_tile(row % TILE, column % TILE) / BLOCK,
                       &matrix[(size_t)row * columns + column]);
        }
    }
}

} // namespace partita::metalium
