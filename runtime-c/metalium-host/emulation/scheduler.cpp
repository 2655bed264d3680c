#include "scheduler.h"

#include "core.h"
#include "fiber.h"

#include <algorithm>

namespace partita::metalium {

void Monitor::await(std::unique_lock<std::mutex> &lock, Thread &thread, const Wait &wait)
{
    thread.wait = &wait;
    while (!wait.condition()) {
        waiting_.push_back(&thread);
        thread.core.waiting.push_back(&thread);
        report_deadlock();
        lock.unlock();
        thread.suspend();
        lock.lock();
    }
    thread.wait = nullptr;
}

void Monitor::notify(Core &core)
{
    /* One that goes on leaves the list. */
    const std::vector<Thread *> waiting = core.waiting;
    for (Thread *thread : waiting) {
        wake(*thread);
    }
}

bool Monitor::wake(Thread &thread)
{
    if (!thread.wait->condition()) {
        return false;
    }
    waiting_.remove(&thread);
    std::vector<Thread *> &of_core = thread.core.waiting;
    of_core.erase(std::find(of_core.begin(), of_core.end(), &thread));
    thread.device.scheduler().ready(thread);
    return true;
}

void Monitor::end(uint32_t count)
{
    running_ -= count;
    report_deadlock();
}

/* All kernels that run wait, and none of their conditions holds, not even by a transfer that notifies nobody. */
void Monitor::report_deadlock()
{
    if (waiting_.empty() || waiting_.size() < running_) {
        return;
    }
    for (Thread *each : waiting_) {
        if (wake(*each)) {
            return;
        }
    }
    std::string message = "deadlock";
    for (const Thread *each : waiting_) {
        message += "\n  " + each->name() + " waits for " + each->wait->what();
    }
    fault(message);
}

Scheduler::Scheduler() = default;
Scheduler::~Scheduler() = default;

void Scheduler::ready(Thread &thread)
{
    ready_.push_back(&thread);
    changed_.notify_one();
}

Thread &Scheduler::next()
{
    random_ = random_ * 48271 % 0x7fffffff;
    std::swap(ready_[random_ % ready_.size()], ready_.back());
    Thread &thread = *ready_.back();
    ready_.pop_back();
    return thread;
}

void Scheduler::run(const std::vector<std::unique_ptr<Thread>> &kernels, Monitor &monitor)
{
    std::unique_lock<std::mutex> lock(monitor.mutex);
    for (const std::unique_ptr<Thread> &kernel : kernels) {
        ready_.push_back(kernel.get());
    }
    for (size_t left = kernels.size(); left > 0;) {
        changed_.wait(lock, [this] { return !ready_.empty(); });
        Thread &thread = next();
        lock.unlock();
        if (thread.fiber == nullptr) {
            if (fibers_.empty()) {
                fibers_.push_back(std::make_unique<Fiber>());
            }
            thread.fiber = std::move(fibers_.back());
            fibers_.pop_back();
            thread.fiber->start([&thread] { thread.run(); });
        }
        const bool has_ended = thread.resume();
        lock.lock();
        if (has_ended) {
            fibers_.push_back(std::move(thread.fiber));
            if (--left > 0) {
                monitor.end();
            }
        }
    }
}

} // namespace partita::metalium
