#include "model.h"

#include "mesh.h"

#include <algorithm>

namespace partita::metalium {

static uint32_t padded(uint32_t extent)
{
    return (extent + TILE - 1) / TILE * TILE;
}

static std::FILE *opened(const char *name, const char *mode)
{
    std::FILE *file = std::fopen(name, mode);
    if (file == nullptr) {
        fault(std::string("can't open ") + name);
    }
    return file;
}

Model::Model(int count, char **arguments, uint32_t columns, uint32_t rows, DataFormat format, uint32_t chips)
    : mesh_(std::make_unique<Mesh>(chips, columns, rows)), format_(format)
{
    if (count != 4 && count != 5) {
        fault(std::string("usage: ") + arguments[0] + " WEIGHTS INPUTS OUTPUTS [PROBES]");
    }
    weights_ = opened(arguments[1], "rb");
    inputs_ = opened(arguments[2], "rb");
    outputs_ = opened(arguments[3], "wb");
    if (count == 5) {
        probes_ = opened(arguments[4], "wb");
    }
}

Model::~Model()
{
    std::fclose(weights_);
    std::fclose(inputs_);
    if (std::fclose(outputs_) != 0) {
        fault("can't write the outputs");
    }
    if (probes_ != nullptr) {
        std::fclose(probes_);
    }
}

Matrix Model::allocate(uint32_t rows, uint32_t columns, std::optional<DataFormat> format)
{
    const uint32_t tiles = padded(rows) / TILE * (padded(columns) / TILE);
    const DataFormat own = format.value_or(format_);
    return {mesh_->allocate(tiles, tile_bytes(own)), rows, columns, own};
}

std::vector<float> Model::floats(size_t count, std::FILE *file, const char *name)
{
    std::vector<float> elements(count);
    if (std::fread(elements.data(), sizeof(float), count, file) != count) {
        fault(std::string("the file of ") + name + " ends too early");
    }
    return elements;
}

void Model::store(const Matrix &matrix, uint32_t chip, const float *elements)
{
    const uint32_t columns = padded(matrix.columns);
    std::vector<float> whole((size_t)padded(matrix.rows) * columns);
    for (uint32_t row = 0; row < matrix.rows; row++) {
        std::copy_n(elements + (size_t)row * matrix.columns, matrix.columns, &whole[(size_t)row * columns]);
    }
    std::vector<uint8_t> tiles((size_t)matrix.buffer.pages * matrix.buffer.page_bytes);
    tilize(whole.data(), padded(matrix.rows), columns, matrix.format, tiles.data());
    mesh_->chip(chip).write(matrix.buffer, tiles.data());
}

void Model::store(const Matrix &matrix, const float *elements)
{
    for (uint32_t chip = 0; chip < mesh_->size(); chip++) {
        store(matrix, chip, elements);
    }
}

std::vector<float> Model::load(const Matrix &matrix, uint32_t chip)
{
    const uint32_t columns = padded(matrix.columns);
    std::vector<uint8_t> tiles((size_t)matrix.buffer.pages * matrix.buffer.page_bytes);
    std::vector<float> whole((size_t)padded(matrix.rows) * columns);
    mesh_->chip(chip).read(matrix.buffer, tiles.data());
    untilize(tiles.data(), padded(matrix.rows), columns, matrix.format, whole.data());
    std::vector<float> elements;
    for (uint32_t row = 0; row < matrix.rows; row++) {
        const float *from = &whole[(size_t)row * columns];
        elements.insert(elements.end(), from, from + matrix.columns);
    }
    return elements;
}

Matrix Model::constant(uint32_t rows, uint32_t columns, std::optional<DataFormat> format)
{
    const Matrix matrix = allocate(rows, columns, format);
    store(matrix, floats((size_t)rows * columns, weights_, "weights").data());
    return matrix;
}

Matrix Model::constants(uint32_t rows, uint32_t columns, List<uint32_t> chips,
                        std::optional<DataFormat> format)
{
    const Matrix matrix = allocate(rows, columns, format);
    for (const uint32_t chip : chips) {
        store(matrix, chip, floats((size_t)rows * columns, weights_, "weights").data());
    }
    return matrix;
}

Numbers Model::numbers(uint32_t rows, uint32_t columns)
{
    return floats((size_t)rows * columns, weights_, "weights");
}

Matrix Model::state(uint32_t rows, uint32_t columns)
{
    const Matrix matrix = allocate(rows, columns);
    store(matrix, std::vector<float>((size_t)rows * columns).data());
    return matrix;
}

bool Model::next()
{
    mesh_->finish();
    if (launch_ > 0) {
        std::fclose(probes_);
        probes_ = nullptr;
        launch_ = 0;
    }
    const int byte = std::fgetc(inputs_);
    return byte != EOF && std::ungetc(byte, inputs_) == byte;
}

bool Model::is_chunk()
{
    const float entry = floats(1, inputs_, "inputs")[0];
    if (entry != 1 && entry != 3) {
        fault("the number before the inputs of a run is 1 for one token, and 3 for several, not " + std::to_string(entry));
    }
    return entry == 3;
}

/* The elements of a box, in order, as places in the whole tensor. */
static std::vector<size_t> places(const Box &box)
{
    std::vector<size_t> places = {0};
    for (size_t dim = 0; dim < box.whole.size(); dim++) {
        std::vector<size_t> next;
        for (const size_t place : places) {
            for (uint32_t i = 0; i < box.extents.begin()[dim]; i++) {
                next.push_back(place * box.whole.begin()[dim] + box.start.begin()[dim] + i);
            }
        }
        places = next;
    }
    return places;
}

static size_t size_of(const Box &box)
{
    size_t size = 1;
    for (const uint32_t extent : box.whole) {
        size *= extent;
    }
    return size;
}

void Model::read(const Matrix &input)
{
    store(input, floats((size_t)input.rows * input.columns, inputs_, "inputs").data());
}

void Model::read_parts(List<Part> parts)
{
    const std::vector<float> whole = floats(size_of(parts.begin()->box), inputs_, "inputs");
    for (const Part &part : parts) {
        std::vector<float> elements;
        for (const size_t place : places(part.box)) {
            elements.push_back(whole[place]);
        }
        store(part.matrix, part.chip, elements.data());
    }
}

void Model::read(Indices &input)
{
    const std::vector<float> values = floats(input.size(), inputs_, "inputs");
    std::copy(values.begin(), values.end(), input.begin());
}

void Model::write_numbers(const Matrix &matrix, const Numbers &numbers)
{
    store(matrix, std::vector<float>(numbers.data(), numbers.data() + numbers.size()).data());
}

void Model::write_numbers(const Matrix &matrix, const Numbers &numbers, uint32_t chip)
{
    store(matrix, chip, std::vector<float>(numbers.data(), numbers.data() + numbers.size()).data());
}

void Model::write(const Matrix &output, uint32_t chip)
{
    mesh_->finish();
    const std::vector<float> elements = load(output, chip);
    std::fwrite(elements.data(), sizeof(float), elements.size(), outputs_);
    std::fflush(outputs_);
}

void Model::write_parts(List<Part> parts)
{
    mesh_->finish();
    std::vector<float> whole(size_of(parts.begin()->box));
    for (const Part &part : parts) {
        const std::vector<float> elements = load(part.matrix, part.chip);
        const std::vector<size_t> to = places(part.box);
        for (size_t i = 0; i < to.size(); i++) {
            whole[to[i]] = elements[i];
        }
    }
    std::fwrite(whole.data(), sizeof(float), whole.size(), outputs_);
    std::fflush(outputs_);
}

int64_t row_of(int64_t index, int64_t rows)
{
    const int64_t row = index < 0 ? index + rows : index;
    if (row < 0 || row >= rows) {
        fault("index " + std::to_string(index) + " of a table of " + std::to_string(rows) + " rows");
    }
    return row;
}

int64_t position_of(int64_t position, int64_t tokens, int64_t capacity)
{
    if (position < 0 || position + tokens > capacity) {
        fault("position " + std::to_string(position) + " for " + std::to_string(tokens) + " tokens, in a cache of " +
              std::to_string(capacity));
    }
    return position;
}

void Model::run(const Step &step)
{
    for (uint32_t chip = 0; chip < mesh_->size(); chip++) {
        if (step.chips.size() == 0 || std::find(step.chips.begin(), step.chips.end(), chip) != step.chips.end()) {
            mesh_->enqueue(chip, program(step, chip));
        }
    }
    if (probes_ != nullptr) {
        mesh_->finish();
        std::vector<Matrix> results = {step.result};
        results.insert(results.end(), step.others.begin(), step.others.end());
        for (uint32_t chip = 0; chip < mesh_->size(); chip++) {
            if (step.chips.size() == 0 || std::find(step.chips.begin(), step.chips.end(), chip) != step.chips.end()) {
                probe(chip, step.words, results);
            }
        }
        launch_++;
    }
}

void Model::probe(uint32_t chip, List<uint32_t> words, const std::vector<Matrix> &results)
{
    const auto put = [this](uint32_t number) { std::fwrite(&number, sizeof number, 1, probes_); };
    put(launch_);
    put(chip);
    put((uint32_t)words.size());
    for (const uint32_t address : addresses(words, chip, {0, 0})) {
        put(*(const uint32_t *)(uintptr_t)address);
    }
    for (const Matrix &result : results) {
        const std::vector<float> elements = load(result, chip);
        put((uint32_t)elements.size());
        std::fwrite(elements.data(), sizeof(float), elements.size(), probes_);
    }
    std::fflush(probes_);
}

ProgramDescriptor Model::program(const Step &step, uint32_t chip)
{
    const uint32_t columns = mesh_->chip(0).columns();
    const uint32_t rows = mesh_->chip(0).rows();
    const Blocks &blocks = step.blocks;
    std::vector<uint32_t> common = step.sizes;
    common.insert(common.end(), step.indices.begin(), step.indices.end());
    KernelDescriptor reader{std::string(step.name) + ": reader", step.reader, Processor::READER, {}, common};
    KernelDescriptor writer{std::string(step.name) + ": writer", step.writer, Processor::WRITER, {}, common};
    KernelDescriptor compute{std::string(step.name) + ": compute", step.compute, Processor::COMPUTE, {}, common};
    compute.fp32_dest_acc_en = step.fp32_dest_acc_en;
    compute.unpack_to_dest_fp32 = step.direct;
    ProgramDescriptor program;
    for (uint32_t core = 0; core < blocks.rows * blocks.columns; core++) {
        const CoreCoord at = block_core(blocks, core);
        const std::vector<uint32_t> words = addresses(step.words, chip, at);
        std::vector<uint32_t> reads;
        for (const Matrix &operand : step.operands) {
            reads.push_back(operand.buffer.address);
        }
        const uint32_t column = core % blocks.columns;
        const uint32_t first[] = {core / blocks.columns * blocks.height, column * blocks.width};
        reads.insert(reads.end(), first, first + 2);
        reads.insert(reads.end(), words.begin(), words.end());
        if (step.decides) {
            reads.insert(reads.end(), {0, 0, columns - 1, rows - 1, columns * rows - 1});
        }
        for (const uint32_t operand : blocks.shared) {
            const std::vector<uint32_t> others = sharing(blocks, core, operand);
            reads.insert(reads.end(), others.begin(), others.end());
        }
        std::vector<uint32_t> computes = {first[0], first[1]};
        computes.insert(computes.end(), words.begin(), words.end());
        std::vector<uint32_t> writes = {step.result.buffer.address, first[0], first[1]};
        if (blocks.joins) {
            const CoreCoord parent = block_core(blocks, core - column + (column & (column - 1)));
            writes.insert(writes.end(), {parent.x, parent.y});
        }
        for (const Matrix &other : step.others) {
            writes.push_back(other.buffer.address);
        }
        writes.insert(writes.end(), words.begin(), words.end());
        program.core_ranges.push_back({at, at});
        reader.runtime_args.push_back({at, reads});
        compute.runtime_args.push_back({at, computes});
        writer.runtime_args.push_back({at, writes});
    }
    program.cbs = buffers(step.buffers);
    for (uint32_t level = 0; blocks.joins && 1u << level < blocks.columns; level++) {
        program.semaphores.push_back({level, 0});
    }
    for (const uint32_t operand : blocks.shared) {
        program.semaphores.push_back({2 * operand, 0});
        program.semaphores.push_back({2 * operand + 1, 0});
    }
    program.kernels = {reader, writer};
    if (step.compute != nullptr) {
        program.kernels.push_back(compute);
    }
    return program;
}

CoreCoord Model::block_core(const Blocks &blocks, uint32_t core)
{
    const uint32_t columns = mesh_->chip(0).columns();
    const bool is_line = blocks.rows == 1 || blocks.columns == 1 || blocks.joins;
    return is_line ? CoreCoord{core % columns, core / columns}
                   : CoreCoord{core % blocks.columns, core / blocks.columns};
}

/* The left operand is the same along a row of blocks, the right one along a column. */
std::vector<uint32_t> Model::sharing(const Blocks &blocks, uint32_t core, uint32_t operand)
{
    const uint32_t row = core / blocks.columns;
    const uint32_t column = core % blocks.columns;
    const uint32_t first = operand == 0 ? row * blocks.columns : column;
    const uint32_t last = operand == 0 ? first + blocks.columns - 1 : (blocks.rows - 1) * blocks.columns + column;
    const CoreCoord start = block_core(blocks, first);
    CoreCoord end = block_core(blocks, last);
    if (end.y > start.y && (blocks.rows == 1 || blocks.columns == 1)) {
        end.x = mesh_->chip(0).columns() - 1;
    }
    const uint32_t area = (end.x - start.x + 1) * (end.y - start.y + 1);
    return {start.x, start.y, end.x, end.y, area - 1, (operand == 0 ? blocks.columns : blocks.rows) - 1};
}

/* The words follow the semaphores of the chips. */
std::vector<uint32_t> Model::addresses(List<uint32_t> words, uint32_t chip, CoreCoord core)
{
    std::vector<uint32_t> addresses;
    for (const uint32_t word : words) {
        addresses.push_back(mesh_->global_semaphore(MESH_CHIPS + word, chip, core));
    }
    return addresses;
}

std::vector<CBDescriptor> Model::buffers(List<CircularPages> pages) const
{
    std::vector<CBDescriptor> descriptors;
    for (const CircularPages &buffer : pages) {
        const DataFormat format = buffer.format.value_or(format_);
        descriptors.push_back({buffer.index, format, tile_bytes(format), buffer.pages * tile_bytes(format)});
    }
    return descriptors;
}

void Model::exchange(const Exchange &exchange)
{
    constexpr CoreCoord core = {0, 0};
    for (const Member &member : exchange.members) {
        std::vector<uint32_t> common = {member.operand.columns, member.result.columns, exchange.vector_pages, member.clears};
        for (const List<Place> places : {member.before, member.after}) {
            common.push_back((uint32_t)places.size());
            for (const Place &place : places) {
                common.insert(common.end(), {place.start, place.size, place.element});
            }
        }
        common.push_back((uint32_t)member.messages.size());
        bool sends_forward = false;
        bool sends_backward = false;
        uint32_t sums = 0;
        for (const Message &message : member.messages) {
            const bool is_send = message.kind == MessageKind::SEND_FORWARD || message.kind == MessageKind::SEND_BACKWARD;
            const uint32_t hops = message.chip > member.chip ? message.chip - member.chip : member.chip - message.chip;
            const uint32_t from = is_send ? member.chip : message.chip;
            sends_forward |= message.kind == MessageKind::SEND_FORWARD;
            sends_backward |= message.kind == MessageKind::SEND_BACKWARD;
            if (message.kind == MessageKind::RECEIVE_AND_JOIN) {
                sums += (message.start + message.size - 1) / TILE_ELEMENTS - message.start / TILE_ELEMENTS + 1;
            }
            common.insert(common.end(), {(uint32_t)message.kind, hops, message.start, message.size, message.page,
                                         mesh_->global_semaphore(from, member.chip, core)});
        }
        std::vector<uint32_t> writes = {exchange.inbox.buffer.address, member.result.buffer.address, member.result.rows,
                                        core.x, core.y};
        const std::vector<uint32_t> words = addresses(exchange.words, member.chip, core);
        writes.insert(writes.end(), words.begin(), words.end());
        for (const bool sends : {sends_forward, sends_backward}) {
            writes.push_back(sends);
            if (sends) {
                writes.push_back(member.chip);
            }
        }
        std::vector<uint32_t> reads = {member.operand.buffer.address, exchange.inbox.buffer.address};
        reads.insert(reads.end(), words.begin(), words.end());
        std::vector<uint32_t> computes = {0, 0};
        computes.insert(computes.end(), words.begin(), words.end());
        const std::string name = exchange.name;
        ProgramDescriptor program;
        program.core_ranges = {{core, core}};
        program.cbs = buffers(exchange.buffers);
        program.kernels = {{name + ": reader", exchange.reader, Processor::READER,
                            {{core, reads}}, common},
                           {name + ": writer", exchange.writer, Processor::WRITER, {{core, writes}}, common}};
        if (exchange.compute != nullptr) {
            /* One row of tiles is joined. */
            KernelDescriptor compute{name + ": compute", exchange.compute, Processor::COMPUTE, {{core, computes}},
                                     {sums, 1, 1, 1, sums, sums}};
            compute.fp32_dest_acc_en = true;
            compute.unpack_to_dest_fp32 = exchange.direct;
            program.kernels.push_back(compute);
        }
        mesh_->enqueue(member.chip, program);
    }
    if (probes_ != nullptr) {
        mesh_->finish();
        for (const Member &member : exchange.members) {
            probe(member.chip, exchange.words,
                  member.result.rows == 0 ? std::vector<Matrix>{} : std::vector<Matrix>{member.result});
        }
        launch_++;
    }
}

} // namespace partita::metalium
