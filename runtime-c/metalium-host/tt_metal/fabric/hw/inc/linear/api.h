/* Packets to the other chips of a line. */
#pragma once

#include "tt_metal/fabric/hw/inc/edm_fabric/fabric_connection_manager.hpp"
#include "tt_metal/fabric/hw/inc/packet_header_pool.h"

namespace tt::tt_fabric {
/* Addresses on the network on chip of the receiver, as network 0 has them. */
struct NocUnicastAtomicIncFusedCommandHeader {
    NocUnicastAtomicIncFusedCommandHeader(uint64_t noc_address, uint64_t semaphore_noc_address, uint32_t val, bool flush = true)
        : noc_address(noc_address), semaphore_noc_address(semaphore_noc_address), val(val), flush(flush)
    {
    }

    uint64_t noc_address;
    uint64_t semaphore_noc_address;
    uint32_t val;
    bool flush;
};
} // namespace tt::tt_fabric

namespace tt::tt_fabric::linear::experimental {
/*
 * Sends bytes in L1 to the chip that is `num_hops` away, which writes them and then increments a semaphore. Addresses and sizes
 * are multiples of 16. Neither the bytes nor the header may change before noc_async_writes_flushed.
 */
void fabric_unicast_noc_fused_unicast_with_atomic_inc(WorkerToFabricEdmSender *client_interface,
                                                      volatile PACKET_HEADER_TYPE *packet_header, uint32_t src_addr,
                                                      uint32_t size, NocUnicastAtomicIncFusedCommandHeader command_header,
                                                      uint8_t num_hops);
} // namespace tt::tt_fabric::linear::experimental
