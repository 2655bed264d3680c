/* Arguments and circular buffers. */
#include "core.h"

#include "api/kernel.h"

namespace partita::metalium {

namespace {

uint32_t value(const std::vector<uint32_t> &values, uint32_t index, const char *which)
{
    if (index >= values.size()) {
        Thread::current().fault("%s argument %u of %zu", which, index, values.size());
    }
    return values[index];
}

uint32_t checked(const Thread &thread, const CircularBuffer &buffer, uint32_t cb, int32_t pages, const char *call)
{
    if (pages < 0 || (uint32_t)pages > buffer.pages) {
        thread.fault("%s: %d pages of circular buffer %u, which has %u", call, pages, cb, buffer.pages);
    }
    return (uint32_t)pages;
}

/* The first kernel on a side of a buffer owns the side. */
void claim(const Thread &thread, const Thread *&owner, uint32_t cb, const char *call)
{
    if (owner == nullptr) {
        owner = &thread;
    }
    if (owner != &thread) {
        thread.fault("%s: circular buffer %u belongs to the %s", call, cb, owner->name().c_str());
    }
}

void check_contiguous(const Thread &thread, const CircularBuffer &buffer, uint64_t first, uint32_t pages, uint32_t cb,
                      const char *call)
{
    const uint32_t index = (uint32_t)(first % buffer.pages);
    if (index + pages > buffer.pages) {
        thread.fault("%s: pages %u to %u of circular buffer %u cross its end, which is after %u", call, index,
                     index + pages, cb, buffer.pages);
    }
}

} // namespace

uint32_t argument(uint32_t index)
{
    static const std::vector<uint32_t> none;
    const Thread &thread = Thread::current();
    return value(thread.arguments == nullptr ? none : *thread.arguments, index, "runtime");
}

uint32_t common_argument(uint32_t index)
{
    return value(Thread::current().kernel.common_runtime_args, index, "common runtime");
}

} // namespace partita::metalium

using namespace partita::metalium;

void cb_reserve_back(uint32_t cb, int32_t pages)
{
    Thread &thread = Thread::current();
    CircularBuffer &buffer = thread.buffer(cb, "cb_reserve_back");
    const uint32_t count = checked(thread, buffer, cb, pages, "cb_reserve_back");
    std::unique_lock<std::mutex> lock(thread.monitor.mutex);
    claim(thread, buffer.producer, cb, "cb_reserve_back");
    check_contiguous(thread, buffer, buffer.pushed, count, cb, "cb_reserve_back");
    thread.monitor.await(
        lock, thread, [&] { return buffer.pushed - buffer.popped + count <= buffer.pages; },
        [&] {
            return "room for " + std::to_string(count) + " pages in circular buffer " + std::to_string(cb) +
                   ", of whose " + std::to_string(buffer.pages) + " pages " +
                   std::to_string(buffer.pushed - buffer.popped) + " are full";
        });
    buffer.reserved = std::max(buffer.reserved, count);
}

void cb_push_back(uint32_t cb, int32_t pages)
{
    const Thread &thread = Thread::current();
    CircularBuffer &buffer = thread.buffer(cb, "cb_push_back");
    const uint32_t count = checked(thread, buffer, cb, pages, "cb_push_back");
    const std::lock_guard<std::mutex> guard(thread.monitor.mutex);
    claim(thread, buffer.producer, cb, "cb_push_back");
    if (count > buffer.reserved) {
        thread.fault("cb_push_back: %u pages of circular buffer %u, of which %u are reserved", count, cb, buffer.reserved);
    }
    buffer.reserved -= count;
    buffer.packed = 0;
    buffer.pushed += count;
    thread.monitor.notify(thread.core);
}

void cb_wait_front(uint32_t cb, int32_t pages)
{
    Thread &thread = Thread::current();
    CircularBuffer &buffer = thread.buffer(cb, "cb_wait_front");
    const uint32_t count = checked(thread, buffer, cb, pages, "cb_wait_front");
    std::unique_lock<std::mutex> lock(thread.monitor.mutex);
    claim(thread, buffer.consumer, cb, "cb_wait_front");
    check_contiguous(thread, buffer, buffer.popped, count, cb, "cb_wait_front");
    thread.monitor.await(
        lock, thread, [&] { return buffer.pushed - buffer.popped >= count; },
        [&] {
            return std::to_string(count) + " pages of circular buffer " + std::to_string(cb) + ", which holds " +
                   std::to_string(buffer.pushed - buffer.popped);
        });
    buffer.awaited = std::max(buffer.awaited, count);
}

void cb_pop_front(uint32_t cb, int32_t pages)
{
    const Thread &thread = Thread::current();
    CircularBuffer &buffer = thread.buffer(cb, "cb_pop_front");
    const uint32_t count = checked(thread, buffer, cb, pages, "cb_pop_front");
    const std::lock_guard<std::mutex> guard(thread.monitor.mutex);
    claim(thread, buffer.consumer, cb, "cb_pop_front");
    if (count > buffer.awaited) {
        thread.fault("cb_pop_front: %u pages of circular buffer %u, of which %u were awaited", count, cb, buffer.awaited);
    }
    buffer.awaited -= count;
    buffer.popped += count;
    thread.monitor.notify(thread.core);
}
