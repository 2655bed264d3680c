/* What kernels see of the links between chips. */
#include "mesh.h"

#include "api/dataflow/dataflow_api.h"
#include "tt_metal/fabric/hw/inc/linear/api.h"

namespace partita::metalium {

/* The headers of a kernel, its open links, and the packets that are still in its L1. */
struct Connections {
    struct Pending {
        Link *link;
        Packet packet;
        const uint8_t *from;
    };

    std::array<PACKET_HEADER_TYPE, 8> headers{};
    uint32_t allocated = 0;
    std::vector<Link *> open;
    std::vector<Pending> pending;
};

namespace {

Connections &connections(Thread &thread)
{
    if (thread.connections == nullptr) {
        thread.connections = std::make_shared<Connections>();
    }
    return *thread.connections;
}

/* Kernels may change the payloads from now on. */
void send(Thread &thread)
{
    for (Connections::Pending &each : thread.connections->pending) {
        each.packet.payload.assign(each.from, each.from + each.packet.payload.size());
        std::unique_lock<std::mutex> lock(thread.monitor.mutex);
        thread.monitor.await(
            lock, thread, [&] { return each.link->packets.size() < LINK_SLOTS; },
            [&] { return "room on " + each.link->name(); });
        each.link->send(std::move(each.packet));
    }
    thread.connections->pending.clear();
}

} // namespace

void verify_closed(const Thread &thread)
{
    if (thread.connections != nullptr && !thread.connections->open.empty()) {
        thread.fault("ends with an open connection to %s", thread.connections->open.front()->name().c_str());
    }
}

void flush_packets(Thread &thread)
{
    if (thread.connections != nullptr) {
        send(thread);
        for (PACKET_HEADER_TYPE &header : thread.connections->headers) {
            header.is_sending = false;
        }
    }
}

} // namespace partita::metalium

using namespace partita::metalium;

volatile PACKET_HEADER_TYPE *PacketHeaderPool::allocate_header(uint8_t count)
{
    Thread &thread = Thread::current();
    Connections &own = connections(thread);
    if (own.allocated + count > own.headers.size()) {
        thread.fault("allocate_header: a kernel has %zu packet headers", own.headers.size());
    }
    PACKET_HEADER_TYPE *header = &own.headers[own.allocated];
    own.allocated += count;
    return header;
}

FabricConnectionManager FabricConnectionManager::build_from_args(std::size_t &arg_idx)
{
    Thread &thread = Thread::current();
    FabricConnectionManager manager;
    for (const Direction direction : {Direction::FORWARD, Direction::BACKWARD}) {
        if (get_arg_val<uint32_t>((int)arg_idx++) == 0) {
            continue;
        }
        const uint32_t chip = get_arg_val<uint32_t>((int)arg_idx++);
        Link *link = thread.device.mesh() == nullptr ? nullptr : thread.device.mesh()->link(chip, direction);
        if (link == nullptr || chip != thread.device.chip()) {
            thread.fault("build_from_args: chip %u has no such link", thread.device.chip());
        }
        (direction == Direction::FORWARD ? manager.forward_ : manager.backward_).link = link;
    }
    return manager;
}

void FabricConnectionManager::open()
{
    Thread &thread = Thread::current();
    for (Link *link : {forward_.link, backward_.link}) {
        if (link == nullptr) {
            continue;
        }
        std::unique_lock<std::mutex> lock(thread.monitor.mutex);
        if (link->owner != nullptr) {
            thread.fault("open: %s has a connection to the %s", link->name().c_str(), link->owner->name().c_str());
        }
        link->owner = &thread;
        connections(thread).open.push_back(link);
    }
}

void FabricConnectionManager::close()
{
    Thread &thread = Thread::current();
    flush_packets(thread);
    const std::lock_guard<std::mutex> guard(thread.monitor.mutex);
    for (Link *link : connections(thread).open) {
        link->owner = nullptr;
    }
    thread.connections->open.clear();
}

tt::tt_fabric::WorkerToFabricEdmSender &FabricConnectionManager::get_forward_connection()
{
    if (!has_forward_connection()) {
        Thread::current().fault("get_forward_connection: the kernel has none");
    }
    return forward_;
}

tt::tt_fabric::WorkerToFabricEdmSender &FabricConnectionManager::get_backward_connection()
{
    if (!has_backward_connection()) {
        Thread::current().fault("get_backward_connection: the kernel has none");
    }
    return backward_;
}

void tt::tt_fabric::linear::experimental::fabric_unicast_noc_fused_unicast_with_atomic_inc(
    WorkerToFabricEdmSender *client_interface, volatile PACKET_HEADER_TYPE *packet_header, uint32_t src_addr, uint32_t size,
    NocUnicastAtomicIncFusedCommandHeader command_header, uint8_t num_hops)
{
    static const char *const call = "fabric_unicast_noc_fused_unicast_with_atomic_inc";
    Thread &thread = Thread::current();
    Link *link = client_interface->link;
    if (link->owner != &thread) {
        thread.fault("%s: the connection to %s isn't open", call, link->name().c_str());
    }
    if (packet_header->is_sending) {
        thread.fault("%s: the header is that of a packet which hasn't left: noc_async_writes_flushed is missing", call);
    }
    if (size == 0 || size > PACKET_BYTES || size % L1_ALIGNMENT != 0 || src_addr % L1_ALIGNMENT != 0 ||
        command_header.noc_address % L1_ALIGNMENT != 0) {
        thread.fault("%s: %u bytes from 0x%x on: packets have at most %u, and sizes and addresses are multiples of %u", call,
                     size, src_addr, PACKET_BYTES, L1_ALIGNMENT);
    }
    Mesh &mesh = *thread.device.mesh();
    const uint32_t ahead = link->direction == Direction::FORWARD ? mesh.size() - 1 - link->from : link->from;
    if (num_hops == 0 || num_hops > ahead) {
        thread.fault("%s: %u hops on %s: there are %u chips", call, num_hops, link->name().c_str(), ahead);
    }
    const uint32_t chip = link->direction == Direction::FORWARD ? link->from + num_hops : link->from - num_hops;
    Device &device = mesh.chip(chip);
    const uint8_t *from = place(thread, thread.device, get_noc_addr(src_addr), size, call);
    Packet packet{chip,
                  place(thread, device, command_header.noc_address, size, call),
                  std::vector<uint8_t>(size),
                  (uint32_t *)place(thread, device, command_header.semaphore_noc_address, sizeof(uint32_t), call),
                  command_header.val,
                  core_of(device, command_header.semaphore_noc_address)};
    if (packet.core == nullptr) {
        thread.fault("%s: the semaphore isn't in L1", call);
    }
    packet_header->is_sending = true;
    connections(thread).pending.push_back({link, std::move(packet), from});
    if (thread.device.transfers() == Transfers::AT_ONCE) {
        send(thread);
    }
}
