#include "fiber.h"

#include "core.h"

#include <sys/mman.h>
#include <unistd.h>

namespace partita::metalium {

/* Kernels keep tiles on their stack. What they don't touch needs no memory. */
constexpr size_t STACK_BYTES = 512 * 1024;

Fiber::Fiber()
{
    /* The page at the end stops a kernel that needs more. */
    const size_t guard = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, guard, PROT_NONE) != 0) {
        fault("no memory for the stack of a kernel");
    }
    stack_ = (uint8_t *)memory;
}

Fiber::~Fiber()
{
    munmap(stack_, STACK_BYTES);
}

void Fiber::start(std::function<void()> function)
{
    function_ = std::move(function);
    ended_ = false;
    getcontext(&own_);
    own_.uc_stack.ss_sp = stack_;
    own_.uc_stack.ss_size = STACK_BYTES;
    own_.uc_link = &caller_;
    /* Arguments have the size of int. */
    const auto self = (uint64_t)(uintptr_t)this;
    makecontext(&own_, (void (*)())enter, 2, (unsigned)self, (unsigned)(self >> 32));
}

void Fiber::enter(unsigned low, unsigned high)
{
    Fiber &fiber = *(Fiber *)(uintptr_t)((uint64_t)high << 32 | low);
    fiber.function_();
    fiber.ended_ = true;
}

bool Fiber::resume()
{
    swapcontext(&caller_, &own_);
    return ended_;
}

void Fiber::suspend()
{
    swapcontext(&own_, &caller_);
}

} // namespace partita::metalium
