/*
 * The way from the cluster's bus to L1: words one after the other, and requests in the order in which they arrive.
 *
 * GVSoC's own converter denies a request while it serves another, and its instruction caches take that for an unmapped address. So
 * cores couldn't run code in L1. On the chip, both are ports of the bus's crossbar (pulp_cluster, rtl/cluster_bus_wrap.sv), where requests wait.
 */
#include <algorithm>

#include <vp/itf/io.hpp>
#include <vp/vp.hpp>

namespace {

class L1Port : public vp::Component {
public:
    L1Port(vp::ComponentConf &config);
    void reset(bool active) override;

private:
    static vp::IoReqStatus serve(vp::Block *block, vp::IoReq *request);

    vp::IoSlave input;
    vp::IoMaster output;

    /* The first cycle in which no earlier request needs the port. */
    int64_t free_at = 0;
};

constexpr uint64_t WORD = 4;

L1Port::L1Port(vp::ComponentConf &config) : vp::Component(config)
{
    input.set_req_meth(&L1Port::serve);
    new_slave_port("input", &input);
    new_master_port("out", &output);
}

void L1Port::reset(bool active)
{
    if (active) {
        free_at = 0;
    }
}

vp::IoReqStatus L1Port::serve(vp::Block *block, vp::IoReq *request)
{
    L1Port *port = (L1Port *)block;
    const int64_t now = port->clock.get_cycles();
    const uint64_t address = request->get_addr();
    const uint64_t end = address + request->get_size();
    int64_t latency = std::max<int64_t>(0, port->free_at - now);
    vp::IoReq word;
    for (uint64_t at = address; at < end;) {
        const uint64_t size = std::min(end, (at | (WORD - 1)) + 1) - at;
        word.init();
        word.set_addr(at);
        word.set_size(size);
        word.set_is_write(request->get_is_write());
        word.set_data(request->get_data() + (at - address));
        const vp::IoReqStatus status = port->output.req(&word);
        if (status != vp::IO_REQ_OK) {
            return status;
        }
        latency += 1 + (int64_t)word.get_latency();
        at += size;
    }
    if (!request->is_debug()) {
        port->free_at = now + latency;
        request->inc_latency(latency);
    }
    return vp::IO_REQ_OK;
}

} // namespace

extern "C" vp::Component *gv_new(vp::ComponentConf &config)
{
    return new L1Port(config);
}
