/*
 * Who runs and who waits. The kernels of a chip run one at a time, each until it waits, so that no time is lost on switches of
 * the operating system; chips and the links between them are its threads.
 */
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace partita::metalium {

class Core;
class Fiber;
class Thread;

/* What a kernel waits for. */
struct Wait {
    std::function<bool()> condition;
    std::function<std::string()> what;
};

/* What all kernels on chips that are joined share: the lock of their state, and the list of those that wait. */
class Monitor {
  public:
    std::mutex mutex;

    /* Waits, with the mutex held, until the condition holds. Reports a deadlock if nothing can make it true. */
    template <typename Condition, typename What>
    void await(std::unique_lock<std::mutex> &lock, Thread &thread, Condition condition, What what)
    {
        if (!condition()) {
            await(lock, thread, Wait{condition, what});
        }
    }
    /* Something has changed that a kernel of a core may wait for. The mutex is held. */
    void notify(Core &core);
    /*
     * Counts what runs: kernels, chips between two programs, packets on links, and the host unless it waits for chips. The mutex
     * is held. When something ends, what still runs may be in a deadlock.
     */
    void begin(uint32_t count) { running_ += count; }
    void end(uint32_t count = 1);

  private:
    void await(std::unique_lock<std::mutex> &lock, Thread &thread, const Wait &wait);
    /* Lets a kernel that waits go on if its condition holds. */
    bool wake(Thread &thread);
    void report_deadlock();

    uint32_t running_ = 0;
    std::list<Thread *> waiting_;
};

/*
 * The kernels of a chip that can go on. Which is next is drawn at random, so that a kernel that doesn't wait for what it needs
 * is seen, but the same in each run of a program.
 */
class Scheduler {
  public:
    Scheduler();
    ~Scheduler();

    /* Runs kernels until all have ended. What is counted as running for one of them remains so. */
    void run(const std::vector<std::unique_ptr<Thread>> &kernels, Monitor &monitor);
    /* A kernel goes on. The monitor's mutex is held. */
    void ready(Thread &thread);

  private:
    Thread &next();

    std::vector<Thread *> ready_;
    std::condition_variable changed_;
    uint64_t random_ = 1;
    /* Stacks that no kernel uses. */
    std::vector<std::unique_ptr<Fiber>> fibers_;
};

} // namespace partita::metalium
