/*
 * Emulated chips in a line. Each has a queue of programs, which it runs one after the other at its own pace, so a chip may be
 * several programs ahead of its neighbours, as with asynchronous dispatch. A link from a chip to the next one carries packets in
 * order: it writes the payload to the memory of the chip they are for and then increments a semaphore there.
 */
#pragma once

#include "core.h"

#include <deque>
#include <thread>

namespace partita::metalium {

/* The most bytes that a packet carries besides its header. */
constexpr uint32_t PACKET_BYTES = 4096;
/* The packets that kernels of a chip can put on a link before the first of them has left. */
constexpr uint32_t LINK_SLOTS = 4;

enum class Direction { FORWARD, BACKWARD };

/* A write of a payload, and an increment of a semaphore after it. */
struct Packet {
    uint32_t chip;
    uint8_t *to;
    std::vector<uint8_t> payload;
    uint32_t *semaphore;
    uint32_t count;
    Core *core;
};

/* Packets on the way from a chip to the next one in a direction. Its members are locked by the mesh's monitor. */
class Link {
  public:
    Link(Mesh &mesh, uint32_t from, Direction direction);

    std::string name() const;
    void send(Packet packet);
    void run();

    Mesh &mesh;
    const uint32_t from;
    const Direction direction;
    std::deque<Packet> packets;
    std::condition_variable changed;
    /* The kernel that may put packets on the link. */
    Thread *owner = nullptr;
};

class Mesh {
  public:
    Mesh(uint32_t chips, uint32_t columns, uint32_t rows, Transfers transfers = Transfers::AT_BARRIER);
    /* Runs what is queued. */
    ~Mesh();
    Mesh(const Mesh &) = delete;
    Mesh &operator=(const Mesh &) = delete;

    uint32_t size() const { return (uint32_t)chips_.size(); }
    Device &chip(uint32_t chip) { return *chips_.at(chip); }
    /* At the same address on all chips. */
    Buffer allocate(uint32_t pages, uint32_t page_bytes);
    /*
     * The address of a semaphore on a core, which begins with 0 and keeps its value between programs. On a card it is the same on
     * all cores; here, addresses of L1 are pointers of the host.
     */
    uint32_t global_semaphore(uint32_t number, uint32_t chip, CoreCoord core);
    void enqueue(uint32_t chip, ProgramDescriptor program);
    /* Waits until all chips have run all their programs. */
    void finish();
    /* The link of a chip in a direction; null at the end of the line. */
    Link *link(uint32_t chip, Direction direction);

    Monitor monitor;

  private:
    friend class Link;

    struct Queue {
        std::deque<ProgramDescriptor> programs;
        bool is_running = false;
    };

    void run(uint32_t chip);

    std::vector<std::unique_ptr<Device>> chips_;
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<Queue> queues_;
    std::vector<std::thread> threads_;
    std::condition_variable queued_;
    std::condition_variable finished_;
    bool ends_ = false;
};

/* Reports a connection to a link that a kernel hasn't closed. */
void verify_closed(const Thread &thread);

} // namespace partita::metalium
