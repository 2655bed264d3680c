/* Connections of a kernel to the links of its chip. */
#pragma once

#include "api/kernel.h"

#include <cstddef>

namespace partita::metalium {
class Link;
} // namespace partita::metalium

namespace tt::tt_fabric {
/* Puts packets on a link. A link has one such connection at a time. */
struct WorkerToFabricEdmSender {
    partita::metalium::Link *link = nullptr;
};
} // namespace tt::tt_fabric

/* The connections to the next chip and to the previous one, as far as the kernel has them. */
class FabricConnectionManager final {
  public:
    /*
     * Reads the arguments from an index on: for both connections, whether the kernel has it, and if so the arguments of the
     * connection.
     */
    static FabricConnectionManager build_from_args(std::size_t &arg_idx);

    bool is_logically_connected() const { return has_forward_connection() || has_backward_connection(); }
    bool has_forward_connection() const { return forward_.link != nullptr; }
    bool has_backward_connection() const { return backward_.link != nullptr; }
    void open();
    void close();
    tt::tt_fabric::WorkerToFabricEdmSender &get_forward_connection();
    tt::tt_fabric::WorkerToFabricEdmSender &get_backward_connection();

  private:
    tt::tt_fabric::WorkerToFabricEdmSender forward_;
    tt::tt_fabric::WorkerToFabricEdmSender backward_;
};
