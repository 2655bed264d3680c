/*
 * Passes requests on as they are, and counts bytes of those to a range of addresses.
 *
 * GVSoC's uDMA allocates a request for each word that it writes and forgets it: some 300 bytes for 4, and gigabytes for a
 * token of a model in L3. Behind the uDMA, the meter deletes them.
 */
#include <cinttypes>
#include <cstdio>
#include <string>

#include <vp/itf/io.hpp>
#include <vp/vp.hpp>

namespace {

class Meter : public vp::Component {
public:
    Meter(vp::ComponentConf &config);
    void stop() override;

private:
    static vp::IoReqStatus pass(vp::Block *block, vp::IoReq *request);

    vp::IoSlave input;
    vp::IoMaster output;
    uint64_t base;
    uint64_t size;
    bool deletes_writes;
    std::string report;
    uint64_t read_bytes = 0;
    uint64_t written_bytes = 0;
};

Meter::Meter(vp::ComponentConf &config) : vp::Component(config)
{
    base = (uint64_t)get_js_config()->get_uint("base");
    size = (uint64_t)get_js_config()->get_uint("size");
    deletes_writes = get_js_config()->get_child_bool("deletes_writes");
    report = get_js_config()->get_child_str("report");
    input.set_req_meth(&Meter::pass);
    new_slave_port("input", &input);
    new_master_port("output", &output);
}

/* The response goes to whoever asked, since a forwarded request keeps its port. */
vp::IoReqStatus Meter::pass(vp::Block *block, vp::IoReq *request)
{
    Meter *meter = (Meter *)block;
    if (!request->is_debug() && request->get_addr() - meter->base < meter->size) {
        (request->get_is_write() ? meter->written_bytes : meter->read_bytes) += request->get_size();
    }
    const bool is_forgotten = meter->deletes_writes && request->get_is_write();
    const vp::IoReqStatus status = meter->output.req_forward(request);
    if (is_forgotten && status == vp::IO_REQ_OK) {
        delete[] request->get_data();
        delete request;
    }
    return status;
}

void Meter::stop()
{
    FILE *file = fopen(report.c_str(), "w");
    if (file != nullptr) {
        fprintf(file, "{\"read\": %" PRIu64 ", \"written\": %" PRIu64 "}\n", read_bytes, written_bytes);
        fclose(file);
    }
}

} // namespace

extern "C" vp::Component *gv_new(vp::ComponentConf &config)
{
    return new Meter(config);
}
