/* Headers of packets, in L1. */
#pragma once

#include "api/kernel.h"

namespace tt::tt_fabric {
/* A header belongs to its packet until the packet has left L1, which noc_async_writes_flushed awaits. */
struct PacketHeader {
    bool is_sending;
};
} // namespace tt::tt_fabric

#define PACKET_HEADER_TYPE tt::tt_fabric::PacketHeader

class PacketHeaderPool {
  public:
    /* A header of this kernel, which has eight. */
    static volatile tt_l1_ptr PACKET_HEADER_TYPE *allocate_header(uint8_t count = 1);
};
