/*
 * The links between chips, the controllers at their ends, and the board's end: a chip reads which one it is, describes
 * messages, asks whether its input is there, and says when it has ended.
 *
 * A message travels over the fewest links, one after the other; a chip between passes it on when it has all of it. Each
 * link carries one message at a time, at its bandwidth, and messages that wait for it go in the order in which they
 * came. Between two chips messages stay in order. One may leave before its receive is posted, as far as the landing
 * places at the receiver reach. Data goes from L2 to L2 without the cores.
 *
 * Registers, 32 bits each, at offsets of a chip's window:
 *
 *   0x00 read: this chip's number
 *   0x04 read: how many chips there are
 *   0x08 write: this chip has ended, with this code
 *   0x0c read: cycles of 500 MHz since the simulation began, modulo 2^32
 *   0x10 write: the descriptor of the file that is this chip's input
 *        read: 1 when reading from it wouldn't wait, as on a named pipe; while all chips wait, time stands still
 *
 * and for chip C at 0x400 + 0x20 C:
 *
 *   0x00 write: the address in L2 of the next message to it
 *   0x04 write: its bytes; starts it
 *   0x08 write: the address in L2 for the next message from it
 *   0x0c write: its bytes; posts the receive
 *   0x10 read: messages that were sent to it
 *   0x14 read: messages that were received from it
 */
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>

#include <vp/itf/io.hpp>
#include <vp/vp.hpp>

namespace {

enum : uint64_t { CHIP = 0x0, CHIPS = 0x4, EXIT = 0x8, NOW = 0xc, INPUT = 0x10, PEERS = 0x400 };

/* Of another chip. */
enum : uint64_t {
    SEND_ADDRESS = 0x0,
    SEND = 0x4,
    RECEIVE_ADDRESS = 0x8,
    RECEIVE = 0xc,
    SENT = 0x10,
    RECEIVED = 0x14,
    PEER_BYTES = 0x20
};

/* As the programs do that fail. */
constexpr int FAILED = 70;

/* Messages are read and written in parts of so many bytes as they pass, since memories do a request at once. */
constexpr uint64_t PART = 256;

/* What has landed before it was expected is copied at so many bytes a cycle. */
constexpr uint64_t COPIED = 8;

struct Link {
    Link(int from, int to, double bytes_per_cycle, int64_t latency)
        : from(from), to(to), bytes_per_cycle(bytes_per_cycle), latency(latency)
    {
    }

    int from;
    int to;
    double bytes_per_cycle;
    int64_t latency;
    int64_t free = 0; /* the cycle from which the next message can leave */
    uint64_t bytes = 0;
    uint64_t messages = 0;
    int64_t busy = 0; /* cycles */
};

struct Message {
    Message(uint32_t address, uint32_t size) : address(address), size(size) {}

    uint32_t address;
    uint64_t size;
    uint64_t number = 0; /* among those of its two chips */
    std::vector<uint8_t> data;
    size_t leg = 0;
    uint64_t written = 0; /* bytes at the receiver */
};

using Moving = std::shared_ptr<Message>;

struct Receive {
    uint32_t address;
    uint32_t size;
};

/* Messages of one chip to another. */
struct Pair {
    std::deque<Moving> waiting;            /* sends that have no landing place yet */
    std::map<uint64_t, Receive> receives;  /* posted, not done */
    std::map<uint64_t, Moving> landed;     /* arrived, not posted */
    std::set<uint64_t> out_of_order;       /* done, before another that isn't */
    uint64_t started = 0;
    uint64_t posted = 0;
    uint32_t send_address = 0;
    uint32_t receive_address = 0;
    uint32_t sent = 0;
    uint32_t received = 0;
};

struct Chip {
    vp::IoSlave registers;
    vp::IoMaster memory;
    int ended = -1;
    int input = -1; /* of this process, as semihosting opened it */
    bool waits = false;
};

class Links : public vp::Component {
public:
    Links(vp::ComponentConf &config);
    void stop() override;

private:
    static vp::IoReqStatus access(vp::Block *block, vp::IoReq *request, int chip);
    static void advance(vp::Block *block, vp::ClockEvent *event);

    uint32_t read(int chip, uint64_t offset);
    void write(int chip, uint64_t offset, uint32_t value);
    bool has_input(int chip);
    void end(int chip, int code);
    void fail(int chip, const char *what);
    void copy(int chip, uint64_t address, uint8_t *data, uint64_t size, bool is_write);
    void post(int from, int to, uint32_t size);
    void start(int from, int to);
    void leave(int from, int to, const Moving &message);
    void arrive(int from, int to, const Moving &message);
    void read_part(int from, const Moving &message, uint64_t begin);
    void write_part(int from, int to, const Moving &message, uint64_t end);
    void finish(int from, int to, const Moving &message);
    void at(int64_t cycle, std::function<void()> what);
    void find_routes();

    std::vector<Chip> chips;
    std::vector<Link> links;
    std::map<std::pair<int, int>, Pair> pairs;
    std::map<std::pair<int, int>, std::vector<int>> routes;
    std::multimap<int64_t, std::function<void()>> agenda;
    vp::ClockEvent *event;
    uint64_t landing_places;
    std::string report;
    bool failed = false;
};

Links::Links(vp::ComponentConf &configuration) : vp::Component(configuration), chips(get_js_config()->get_int("chips"))
{
    js::Config *config = get_js_config();
    landing_places = (uint64_t)config->get_int("buffer");
    report = config->get_child_str("report");
    for (js::Config *link : config->get("links")->get_elems()) {
        links.emplace_back((int)link->get_int("from"), (int)link->get_int("to"),
                           link->get("bytes_per_cycle")->get_double(), link->get_int("latency"));
    }
    find_routes();
    for (size_t chip = 0; chip < chips.size(); chip++) {
        chips[chip].registers.set_req_meth_muxed(&Links::access, (int)chip);
        new_slave_port("registers_" + std::to_string(chip), &chips[chip].registers);
        new_master_port("memory_" + std::to_string(chip), &chips[chip].memory);
    }
    event = event_new(&Links::advance);
}

/* Breadth first, so that the first link to reach a chip is on a shortest way. */
void Links::find_routes()
{
    for (int from = 0; from < (int)chips.size(); from++) {
        std::deque<int> next{from};
        while (!next.empty()) {
            const int chip = next.front();
            next.pop_front();
            for (int link = 0; link < (int)links.size(); link++) {
                const int to = links[link].to;
                if (links[link].from == chip && to != from && routes.count({from, to}) == 0) {
                    std::vector<int> route = chip == from ? std::vector<int>() : routes[{from, chip}];
                    route.push_back(link);
                    routes[{from, to}] = route;
                    next.push_back(to);
                }
            }
        }
    }
}

vp::IoReqStatus Links::access(vp::Block *block, vp::IoReq *request, int chip)
{
    Links *links = (Links *)block;
    if (request->get_size() != 4) {
        return vp::IO_REQ_INVALID;
    }
    uint32_t *data = (uint32_t *)request->get_data();
    if (request->get_is_write()) {
        links->write(chip, request->get_addr(), *data);
    } else {
        *data = links->read(chip, request->get_addr());
    }
    return vp::IO_REQ_OK;
}

uint32_t Links::read(int chip, uint64_t offset)
{
    if (offset < PEERS) {
        return offset == CHIP    ? (uint32_t)chip
               : offset == CHIPS ? (uint32_t)chips.size()
               : offset == NOW   ? (uint32_t)clock.get_cycles()
               : offset == INPUT ? (uint32_t)has_input(chip)
                                 : 0;
    }
    const int peer = (int)((offset - PEERS) / PEER_BYTES);
    const uint64_t place = (offset - PEERS) % PEER_BYTES;
    return place == SENT ? pairs[{chip, peer}].sent : place == RECEIVED ? pairs[{peer, chip}].received : 0;
}

void Links::write(int chip, uint64_t offset, uint32_t value)
{
    if (offset < PEERS) {
        if (offset == EXIT) {
            end(chip, (int)value);
        } else if (offset == INPUT) {
            chips[chip].input = (int)value;
        }
        return;
    }
    const int peer = (int)((offset - PEERS) / PEER_BYTES);
    Pair &to = pairs[{chip, peer}];
    Pair &from = pairs[{peer, chip}];
    switch ((offset - PEERS) % PEER_BYTES) {
    case SEND_ADDRESS:
        to.send_address = value;
        break;
    case SEND:
        if (routes.count({chip, peer}) == 0) {
            fail(chip, "no links lead to the chip of a message");
            return;
        }
        to.waiting.push_back(std::make_shared<Message>(to.send_address, value));
        start(chip, peer);
        break;
    case RECEIVE_ADDRESS:
        from.receive_address = value;
        break;
    case RECEIVE:
        post(peer, chip, value);
        break;
    }
}

/* A file has always something to read, or its end. When nobody can go on, neither does the simulation. */
bool Links::has_input(int chip)
{
    pollfd own = {chips[chip].input, POLLIN, 0};
    chips[chip].waits = own.fd >= 0 && poll(&own, 1, 0) == 0;
    std::vector<pollfd> waiting;
    for (const Chip &other : chips) {
        if (other.ended < 0 && !other.waits) {
            return !chips[chip].waits;
        }
        if (other.ended < 0) {
            waiting.push_back({other.input, POLLIN, 0});
        }
    }
    poll(waiting.data(), waiting.size(), -1);
    return false;
}

void Links::post(int from, int to, uint32_t size)
{
    Pair &pair = pairs[{from, to}];
    const uint64_t number = pair.posted++;
    pair.receives[number] = Receive{pair.receive_address, size};
    start(from, to);
    const auto landed = pair.landed.find(number);
    if (landed != pair.landed.end()) {
        const Moving message = landed->second;
        pair.landed.erase(landed);
        finish(from, to, message);
    }
}

/* Sends for which there's a landing place or a receive leave. */
void Links::start(int from, int to)
{
    Pair &pair = pairs[{from, to}];
    while (!pair.waiting.empty() && pair.started < pair.posted + landing_places) {
        const Moving message = pair.waiting.front();
        pair.waiting.pop_front();
        message->number = pair.started++;
        message->data.resize(message->size);
        leave(from, to, message);
    }
}

/* Takes its turn on the next link of its way. */
void Links::leave(int from, int to, const Moving &message)
{
    const std::vector<int> &route = routes[{from, to}];
    Link &link = links[route[message->leg]];
    const bool is_first = message->leg == 0;
    const bool is_last = message->leg + 1 == route.size();
    const int64_t latency = link.latency;
    const int64_t begin = std::max(clock.get_cycles(), link.free);
    const auto passed = [&](uint64_t bytes) { return begin + (int64_t)((double)bytes / link.bytes_per_cycle + 0.999); };
    link.free = passed(message->size);
    link.busy += link.free - begin;
    link.bytes += message->size;
    link.messages++;
    for (uint64_t done = 0; done < message->size; done += PART) {
        const uint64_t end = std::min(done + PART, message->size);
        if (is_first) {
            at(passed(done), [this, from, message, done] { read_part(from, message, done); });
        }
        if (is_last) {
            at(passed(end) + latency, [this, from, to, message, end] { write_part(from, to, message, end); });
        }
    }
    if (is_first) {
        at(link.free, [this, from, to] { pairs[{from, to}].sent++; });
    }
    at(link.free + latency, [this, from, to, message] {
        message->leg++;
        arrive(from, to, message);
    });
}

void Links::arrive(int from, int to, const Moving &message)
{
    Pair &pair = pairs[{from, to}];
    if (message->leg < routes[{from, to}].size()) {
        leave(from, to, message);
    } else if (pair.receives.count(message->number) == 0) {
        pair.landed[message->number] = message;
    } else {
        finish(from, to, message);
    }
}

void Links::read_part(int from, const Moving &message, uint64_t begin)
{
    const uint64_t bytes = std::min(PART, message->size - begin);
    copy(from, message->address + begin, message->data.data() + begin, bytes, false);
}

/* Parts that pass before the receive is posted are written when all has arrived. */
void Links::write_part(int from, int to, const Moving &message, uint64_t end)
{
    Pair &pair = pairs[{from, to}];
    const auto receive = pair.receives.find(message->number);
    if (receive == pair.receives.end() || end <= message->written) {
        return;
    }
    if (receive->second.size != message->size) {
        fail(to, "a message of another size than the receiver expects");
        return;
    }
    const uint64_t begin = message->written;
    const uint64_t bytes = std::min(PART, end - begin);
    copy(to, receive->second.address + begin, message->data.data() + begin, bytes, true);
    message->written = begin + bytes;
}

/* Writes what isn't written yet; then the message is done, as soon as those before it are. */
void Links::finish(int from, int to, const Moving &message)
{
    Pair &pair = pairs[{from, to}];
    if (message->written < message->size) {
        write_part(from, to, message, message->size);
        if (!failed) {
            at(clock.get_cycles() + (int64_t)(PART / COPIED), [this, from, to, message] { finish(from, to, message); });
        }
        return;
    }
    if (pair.receives[message->number].size != message->size) {
        fail(to, "a message of another size than the receiver expects");
        return;
    }
    pair.receives.erase(message->number);
    pair.out_of_order.insert(message->number);
    while (pair.out_of_order.erase(pair.received) > 0) {
        pair.received++;
    }
}

void Links::copy(int chip, uint64_t address, uint8_t *data, uint64_t size, bool is_write)
{
    vp::IoReq request(address, data, size, is_write);
    if (chips[chip].memory.req(&request) != vp::IO_REQ_OK) {
        fail(chip, "a message that isn't in L2");
    }
}

/* Chips that wait for one that failed would wait forever. */
void Links::end(int chip, int code)
{
    chips[chip].ended = code & 0xff;
    bool all = true;
    for (const Chip &other : chips) {
        all = all && other.ended >= 0;
    }
    if (all || code != 0) {
        time.get_engine()->quit(chips[chip].ended);
    }
}

void Links::fail(int chip, const char *what)
{
    if (!failed) {
        fprintf(stderr, "chip %d: %s\n", chip, what);
        failed = true;
        end(chip, FAILED);
    }
}

void Links::at(int64_t cycle, std::function<void()> what)
{
    agenda.emplace(cycle, std::move(what));
    const int64_t first = std::max<int64_t>(agenda.begin()->first - clock.get_cycles(), 1);
    if (event->is_enqueued()) {
        event_cancel(event);
    }
    event_enqueue(event, first);
}

void Links::advance(vp::Block *block, vp::ClockEvent *event)
{
    Links *links = (Links *)block;
    while (!links->agenda.empty() && links->agenda.begin()->first <= links->clock.get_cycles()) {
        const std::function<void()> what = std::move(links->agenda.begin()->second);
        links->agenda.erase(links->agenda.begin());
        what();
    }
    if (!links->agenda.empty() && !event->is_enqueued()) {
        links->event_enqueue(event, links->agenda.begin()->first - links->clock.get_cycles());
    }
}

void Links::stop()
{
    FILE *file = fopen(report.c_str(), "w");
    if (file == nullptr) {
        fprintf(stderr, "%s can't be written\n", report.c_str());
        return;
    }
    fprintf(file, "{\"ended\": [");
    for (size_t chip = 0; chip < chips.size(); chip++) {
        fprintf(file, "%s%d", chip == 0 ? "" : ", ", chips[chip].ended);
    }
    fprintf(file, "], \"links\": [");
    for (size_t i = 0; i < links.size(); i++) {
        const Link &link = links[i];
        fprintf(file,
                "%s{\"from\": %d, \"to\": %d, \"messages\": %" PRIu64 ", \"bytes\": %" PRIu64
                ", \"busy_cycles\": %" PRId64 "}",
                i == 0 ? "" : ", ", link.from, link.to, link.messages, link.bytes, link.busy);
    }
    fprintf(file, "]}\n");
    fclose(file);
}

} // namespace

extern "C" vp::Component *gv_new(vp::ComponentConf &config)
{
    return new Links(config);
}
