/* A stack on which a kernel runs until it waits. Switching to it and back needs no help of the operating system's scheduler. */
#pragma once

#include <cstdint>
#include <functional>
#include <ucontext.h>

namespace partita::metalium {

class Fiber {
  public:
    Fiber();
    ~Fiber();
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;

    /* What the next call of resume begins. The function before must have ended. */
    void start(std::function<void()> function);
    /* Runs the function until it suspends itself or ends. Returns whether it has ended. */
    bool resume();
    /* Called in the function: returns to the caller of resume. */
    void suspend();

  private:
    static void enter(unsigned low, unsigned high);

    uint8_t *stack_;
    std::function<void()> function_;
    ucontext_t own_;
    ucontext_t caller_;
    bool ended_ = true;
};

} // namespace partita::metalium
