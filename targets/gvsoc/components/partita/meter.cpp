/* Passes requests on as they are, and counts bytes of those to a range of addresses. */
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
    std::string report;
    uint64_t read_bytes = 0;
    uint64_t written_bytes = 0;
};

Meter::Meter(vp::ComponentConf &config) : vp::Component(config)
{
    base = (uint64_t)get_js_config()->get_uint("base");
    size = (uint64_t)get_js_config()->get_uint("size");
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
    return meter->output.req_forward(request);
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
