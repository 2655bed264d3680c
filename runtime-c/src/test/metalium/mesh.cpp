/* Programs on three chips that are joined, correct ones and ones that break a rule: mesh NAME late|early. */
#include "emulation/mesh.h"

#include "api/dataflow/dataflow_api.h"
#include "api/tensor/tensor_accessor.h"
#include "tt_metal/fabric/hw/inc/edm_fabric/fabric_connection_manager.hpp"
#include "tt_metal/fabric/hw/inc/linear/api.h"

#include <cstdio>
#include <cstring>

using namespace partita::metalium;
using namespace tt::tt_fabric::linear::experimental;

namespace {

constexpr uint32_t BYTES = 2048;
constexpr uint32_t ROUNDS = 5;

volatile uint32_t *words(uint32_t l1)
{
    return reinterpret_cast<volatile uint32_t *>(l1);
}

void nothing() {}

/* What a kernel sends: the bytes of circular buffer 0, to a page and a semaphore of another chip. */
struct Message {
    uint32_t inbox = get_arg_val<uint32_t>(0);
    uint32_t semaphore = get_arg_val<uint32_t>(1);
    uint32_t round = get_arg_val<uint32_t>(2);
    std::size_t index = 3;
    FabricConnectionManager fabric = FabricConnectionManager::build_from_args(index);
    volatile PACKET_HEADER_TYPE *header = PacketHeaderPool::allocate_header();

    void send(uint32_t bytes, uint8_t hops, uint32_t offset = 0)
    {
        fabric_unicast_noc_fused_unicast_with_atomic_inc(
            &fabric.get_forward_connection(), header, get_write_ptr(0) + offset, bytes,
            tt::tt_fabric::NocUnicastAtomicIncFusedCommandHeader{dram_page(inbox, BYTES, round),
                                                                 get_noc_addr(0, 0, semaphore, 0), 1, true},
            hops);
    }
};

/* Sends a page to the chip after the next one, and then overwrites it. */
void relay()
{
    cb_reserve_back(0, 1);
    Message message;
    message.fabric.open();
    *words(get_write_ptr(0)) = 4711 + message.round;
    message.send(BYTES, 2);
    noc_async_writes_flushed();
    *words(get_write_ptr(0)) = 0;
    message.fabric.close();
}

/* Awaits a page and takes it off the semaphore. */
void receive()
{
    const uint32_t semaphore = get_arg_val<uint32_t>(1);
    const uint32_t round = get_arg_val<uint32_t>(2);
    noc_semaphore_wait_min(words(semaphore), 1);
    noc_semaphore_inc(get_noc_addr(semaphore), (uint32_t)-1);
    noc_async_atomic_barrier();
    cb_reserve_back(0, 1);
    noc_async_read(dram_page(get_arg_val<uint32_t>(0), BYTES, round), get_write_ptr(0), BYTES);
    noc_async_read_barrier();
    if (*words(get_write_ptr(0)) != 4711 + round) {
        std::printf("round %u: %u\n", round, *words(get_write_ptr(0)));
    }
}

void await_two()
{
    noc_semaphore_wait_min(words(get_arg_val<uint32_t>(1)), 2);
}

void send_twice()
{
    Message message;
    message.fabric.open();
    message.send(BYTES, 1);
    message.send(BYTES, 1);
}

void send_far()
{
    Message message;
    message.fabric.open();
    message.send(BYTES, 3);
}

void send_unaligned()
{
    Message message;
    message.fabric.open();
    message.send(40, 1);
}

void send_much()
{
    Message message;
    message.fabric.open();
    message.send(2 * PACKET_BYTES, 1);
}

void send_closed()
{
    Message message;
    message.send(BYTES, 1);
}

void leave_open()
{
    Message message;
    message.fabric.open();
}

struct Case {
    const char *name;
    void (*first)();
    void (*last)();
};

const Case CASES[] = {
    {"relay", relay, receive},          {"deadlock", relay, await_two}, {"header", send_twice, nothing},
    {"hops", send_far, nothing},        {"size", send_unaligned, nothing}, {"payload", send_much, nothing},
    {"closed", send_closed, nothing},   {"open", leave_open, nothing},
};

} // namespace

int main(int, char **arguments)
{
    Mesh mesh(3, 2, 2, std::strcmp(arguments[2], "late") == 0 ? Transfers::AT_BARRIER : Transfers::AT_ONCE);
    const Buffer inbox = mesh.allocate(ROUNDS, BYTES);
    const auto semaphore = [&mesh](uint32_t chip) { return mesh.global_semaphore(1, chip, {0, 0}); };
    for (const Case &each : CASES) {
        const uint32_t rounds = std::strcmp(each.name, "relay") == 0 ? ROUNDS : 1;
        for (uint32_t round = 0; std::strcmp(each.name, arguments[1]) == 0 && round < rounds; round++) {
            ProgramDescriptor program;
            program.core_ranges = {{{0, 0}, {0, 0}}};
            program.cbs = {{0, DataFormat::Float16_b, BYTES, BYTES}};
            program.kernels = {{"send", each.first, Processor::WRITER, {{{0, 0}, {inbox.address, semaphore(0), round, 1, 0, 0}}}}};
            mesh.enqueue(0, program);
            program.kernels = {{"receive", each.last, Processor::READER, {{{0, 0}, {inbox.address, semaphore(2), round}}}}};
            mesh.enqueue(2, program);
        }
    }
    mesh.finish();
    std::puts("done");
    return 0;
}
