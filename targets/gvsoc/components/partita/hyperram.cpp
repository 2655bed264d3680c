/*
 * A HyperRAM of any size that begins with a file's contents, and counts the bytes that it gives and takes. A transfer is
 * six bytes of command and address, the most significant first, and then its data.
 *
 * When each transfer began and ended is listed too, in cycles of 500 MHz since the simulation began, as far as there's room.
 */
#include <cinttypes>
#include <cstdio>
#include <string>
#include <sys/mman.h>
#include <vector>

#include <vp/itf/hyper.hpp>
#include <vp/vp.hpp>

namespace {

/* Two thousand picoseconds are a cycle of 500 MHz. */
constexpr int64_t CYCLE = 2000;

/* More transfers than this are counted, but not listed. */
constexpr size_t MAX_LISTED = 65536;

struct Transfer {
    int64_t start;
    int64_t end;
    uint64_t address;
    uint64_t bytes;
    bool is_read;
};

class Hyperram : public vp::Component {
public:
    Hyperram(vp::ComponentConf &config);
    void stop() override;

private:
    static void cycle(vp::Block *block, int data);
    static void select(vp::Block *block, int chip_select, int value);
    void load(const std::string &image);

    vp::Trace trace;
    vp::HyperSlave input;
    uint64_t size;
    uint8_t *contents;
    std::string report;
    int command_bytes = 0;
    uint64_t command = 0;
    uint64_t address = 0;
    bool is_read = false;
    uint64_t read_bytes = 0;
    uint64_t written_bytes = 0;
    std::vector<Transfer> transfers;
    int64_t changed = 0; /* picoseconds, as is the next */
    int64_t busy = 0;
    uint64_t bytes_before = 0;
    uint64_t first_address = 0;
};

/* Pages that nobody touches take no memory. */
Hyperram::Hyperram(vp::ComponentConf &config) : vp::Component(config)
{
    traces.new_trace("trace", &trace, vp::DEBUG);
    size = (uint64_t)get_js_config()->get_int("size");
    report = get_js_config()->get_child_str("report");
    contents = (uint8_t *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (contents == MAP_FAILED) {
        trace.fatal("no memory for a HyperRAM of %" PRIu64 " bytes\n", size);
    }
    load(get_js_config()->get_child_str("image"));
    input.set_sync_cycle_meth(&Hyperram::cycle);
    input.set_cs_sync_meth(&Hyperram::select);
    new_slave_port("input", &input);
}

void Hyperram::load(const std::string &image)
{
    FILE *file = image.empty() ? nullptr : fopen(image.c_str(), "rb");
    if (file == nullptr) {
        if (!image.empty()) {
            trace.fatal("%s can't be read\n", image.c_str());
        }
        return;
    }
    const size_t count = fread(contents, 1, size, file);
    if (ferror(file) || (count == size && fgetc(file) != EOF)) {
        trace.fatal("%s can't be read, or is larger than L3\n", image.c_str());
    }
    fclose(file);
}

/* Where the last selection began, and this one ends if bytes have passed. */
void Hyperram::select(vp::Block *block, int, int)
{
    Hyperram *ram = (Hyperram *)block;
    const int64_t now = ram->time.get_time();
    const uint64_t bytes = ram->read_bytes + ram->written_bytes - ram->bytes_before;
    if (bytes > 0) {
        ram->busy += now - ram->changed;
        if (ram->transfers.size() < MAX_LISTED) {
            ram->transfers.push_back({ram->changed / CYCLE, now / CYCLE, ram->first_address, bytes, ram->is_read});
        }
    }
    ram->bytes_before += bytes;
    ram->changed = now;
    ram->command_bytes = 0;
    ram->command = 0;
}

void Hyperram::cycle(vp::Block *block, int data)
{
    Hyperram *ram = (Hyperram *)block;
    if (ram->command_bytes < 6) {
        ram->command = ram->command << 8 | (uint8_t)data;
        ram->command_bytes++;
        ram->is_read = ram->command >> 47 & 1;
        ram->address = (ram->command >> 16 & 0x1fffffff) << 3 | (ram->command & 7);
        ram->first_address = ram->address;
        return;
    }
    if (ram->address >= ram->size) {
        ram->trace.fatal("access beyond L3 (address: 0x%" PRIx64 ")\n", ram->address);
    } else if (ram->is_read) {
        ram->read_bytes++;
        ram->input.sync_cycle(ram->contents[ram->address++]);
    } else {
        ram->written_bytes++;
        ram->contents[ram->address++] = (uint8_t)data;
    }
}

void Hyperram::stop()
{
    FILE *file = fopen(report.c_str(), "w");
    if (file != nullptr) {
        fprintf(file, "{\"read\": %" PRIu64 ", \"written\": %" PRIu64 ", \"busy_cycles\": %" PRId64 ", \"transfers\": [",
                read_bytes, written_bytes, busy / CYCLE);
        const char *separator = "";
        for (const Transfer &transfer : transfers) {
            fprintf(file,
                    "%s\n{\"start\": %" PRId64 ", \"end\": %" PRId64 ", \"address\": %" PRIu64 ", \"%s\": %" PRIu64 "}",
                    separator, transfer.start, transfer.end, transfer.address, transfer.is_read ? "read" : "written",
                    transfer.bytes);
            separator = ",";
        }
        fprintf(file, "]}\n");
        fclose(file);
    }
    munmap(contents, size);
}

} // namespace

extern "C" vp::Component *gv_new(vp::ComponentConf &config)
{
    return new Hyperram(config);
}
