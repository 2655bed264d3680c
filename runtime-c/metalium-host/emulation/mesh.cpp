#include "mesh.h"

namespace partita::metalium {

Link::Link(Mesh &mesh, uint32_t from, Direction direction) : mesh(mesh), from(from), direction(direction) {}

std::string Link::name() const
{
    const uint32_t to = direction == Direction::FORWARD ? from + 1 : from - 1;
    return "the link from chip " + std::to_string(from) + " to chip " + std::to_string(to);
}

/* The monitor's mutex is held. */
void Link::send(Packet packet)
{
    mesh.monitor.begin(1);
    packets.push_back(std::move(packet));
    changed.notify_all();
}

void Link::run()
{
    const uint32_t to = direction == Direction::FORWARD ? from + 1 : from - 1;
    std::unique_lock<std::mutex> lock(mesh.monitor.mutex);
    while (true) {
        changed.wait(lock, [&] { return mesh.ends_ || !packets.empty(); });
        if (packets.empty()) {
            return;
        }
        Packet packet = std::move(packets.front());
        packets.pop_front();
        if (owner != nullptr) {
            mesh.monitor.notify(owner->core);
        }
        if (packet.chip == to) {
            std::memcpy(packet.to, packet.payload.data(), packet.payload.size());
            *packet.semaphore += packet.count;
            mesh.monitor.notify(*packet.core);
        } else {
            mesh.link(to, direction)->send(std::move(packet));
        }
        mesh.monitor.end();
    }
}

Mesh::Mesh(uint32_t chips, uint32_t columns, uint32_t rows, Transfers transfers) : queues_(chips)
{
    for (uint32_t chip = 0; chip < chips; chip++) {
        chips_.push_back(std::make_unique<Device>(this, chip, columns, rows, transfers));
    }
    for (uint32_t chip = 0; chip + 1 < chips; chip++) {
        links_.push_back(std::make_unique<Link>(*this, chip, Direction::FORWARD));
        links_.push_back(std::make_unique<Link>(*this, chip + 1, Direction::BACKWARD));
    }
    /* The host counts as running unless it waits in finish: it may queue more. */
    monitor.begin(1);
    for (uint32_t chip = 0; chip < chips; chip++) {
        threads_.emplace_back([this, chip] { run(chip); });
    }
    for (const std::unique_ptr<Link> &link : links_) {
        threads_.emplace_back([&link] { link->run(); });
    }
}

Mesh::~Mesh()
{
    finish();
    {
        const std::lock_guard<std::mutex> guard(monitor.mutex);
        ends_ = true;
        queued_.notify_all();
        for (const std::unique_ptr<Link> &link : links_) {
            link->changed.notify_all();
        }
    }
    for (std::thread &thread : threads_) {
        thread.join();
    }
}

Buffer Mesh::allocate(uint32_t pages, uint32_t page_bytes)
{
    Buffer buffer{};
    for (const std::unique_ptr<Device> &chip : chips_) {
        buffer = chip->allocate(pages, page_bytes);
    }
    return buffer;
}

uint32_t Mesh::global_semaphore(uint32_t number, uint32_t chip, CoreCoord core)
{
    if (number >= GLOBAL_SEMAPHORES) {
        fault("a mesh has " + std::to_string(GLOBAL_SEMAPHORES) + " global semaphores");
    }
    return this->chip(chip).core(core.x, core.y).base() + GLOBAL_SEMAPHORES_START + 16 * number;
}

void Mesh::enqueue(uint32_t chip, ProgramDescriptor program)
{
    const std::lock_guard<std::mutex> guard(monitor.mutex);
    Queue &queue = queues_.at(chip);
    queue.programs.push_back(std::move(program));
    if (!queue.is_running) {
        queue.is_running = true;
        monitor.begin(1);
        queued_.notify_all();
    }
}

void Mesh::run(uint32_t chip)
{
    Queue &queue = queues_[chip];
    std::unique_lock<std::mutex> lock(monitor.mutex);
    while (true) {
        queued_.wait(lock, [&] { return ends_ || queue.is_running; });
        if (!queue.is_running) {
            return;
        }
        while (!queue.programs.empty()) {
            const ProgramDescriptor program = std::move(queue.programs.front());
            queue.programs.pop_front();
            lock.unlock();
            chips_[chip]->run(program, monitor);
            lock.lock();
        }
        queue.is_running = false;
        monitor.end();
        finished_.notify_all();
    }
}

void Mesh::finish()
{
    std::unique_lock<std::mutex> lock(monitor.mutex);
    monitor.end();
    finished_.wait(lock, [&] {
        for (const Queue &queue : queues_) {
            if (queue.is_running) {
                return false;
            }
        }
        return true;
    });
    monitor.begin(1);
}

Link *Mesh::link(uint32_t chip, Direction direction)
{
    for (const std::unique_ptr<Link> &link : links_) {
        if (link->from == chip && link->direction == direction) {
            return link.get();
        }
    }
    return nullptr;
}

} // namespace partita::metalium
