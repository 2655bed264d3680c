#include "model.h"

#include "core.h"

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

Model::Model(int count, char **arguments, uint32_t columns, uint32_t rows, DataFormat format)
    : device_(columns, rows), format_(format)
{
    if (count != 4) {
        fault(std::string("usage: ") + arguments[0] + " WEIGHTS INPUTS OUTPUTS");
    }
    weights_ = opened(arguments[1], "rb");
    inputs_ = opened(arguments[2], "rb");
    outputs_ = opened(arguments[3], "wb");
}

Model::~Model()
{
    std::fclose(weights_);
    std::fclose(inputs_);
    if (std::fclose(outputs_) != 0) {
        fault("can't write the outputs");
    }
}

Matrix Model::allocate(uint32_t rows, uint32_t columns)
{
    const uint32_t tiles = padded(rows) / TILE * (padded(columns) / TILE);
    return {device_.allocate(tiles, tile_bytes(format_)), rows, columns};
}

void Model::fill(const Matrix &matrix, std::FILE *file, const char *name)
{
    const uint32_t columns = padded(matrix.columns);
    std::vector<float> elements((size_t)padded(matrix.rows) * columns);
    for (uint32_t row = 0; file != nullptr && row < matrix.rows; row++) {
        if (std::fread(&elements[(size_t)row * columns], sizeof(float), matrix.columns, file) != matrix.columns) {
            fault(std::string("the file of ") + name + " ends too early");
        }
    }
    std::vector<uint8_t> tiles((size_t)matrix.buffer.pages * matrix.buffer.page_bytes);
    tilize(elements.data(), padded(matrix.rows), columns, format_, tiles.data());
    device_.write(matrix.buffer, tiles.data());
}

Matrix Model::constant(uint32_t rows, uint32_t columns)
{
    const Matrix matrix = allocate(rows, columns);
    fill(matrix, weights_, "weights");
    return matrix;
}

Matrix Model::state(uint32_t rows, uint32_t columns)
{
    const Matrix matrix = allocate(rows, columns);
    fill(matrix, nullptr, "states");
    return matrix;
}

bool Model::next()
{
    const int byte = std::fgetc(inputs_);
    return byte != EOF && std::ungetc(byte, inputs_) == byte;
}

void Model::read(const Matrix &input)
{
    fill(input, inputs_, "inputs");
}

void Model::read(Indices &input)
{
    for (int64_t &index : input) {
        float value;
        if (std::fread(&value, sizeof value, 1, inputs_) != 1) {
            fault("the file of inputs ends too early");
        }
        index = (int64_t)value;
    }
}

void Model::write(const Matrix &output)
{
    std::vector<uint8_t> tiles((size_t)output.buffer.pages * output.buffer.page_bytes);
    std::vector<float> elements((size_t)padded(output.rows) * padded(output.columns));
    device_.read(output.buffer, tiles.data());
    untilize(tiles.data(), padded(output.rows), padded(output.columns), format_, elements.data());
    for (uint32_t row = 0; row < output.rows; row++) {
        std::fwrite(&elements[(size_t)row * padded(output.columns)], sizeof(float), output.columns, outputs_);
    }
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
    const uint32_t all = device_.columns() * device_.rows();
    const uint32_t cores = step.units < all ? step.units : all;
    std::vector<uint32_t> common = step.sizes;
    common.insert(common.end(), step.indices.begin(), step.indices.end());
    KernelDescriptor reader{std::string(step.name) + ": reader", step.reader, Processor::READER, {}, common};
    KernelDescriptor writer{std::string(step.name) + ": writer", step.writer, Processor::WRITER, {}, common};
    KernelDescriptor compute{std::string(step.name) + ": compute", step.compute, Processor::COMPUTE, {}, common};
    compute.fp32_dest_acc_en = true;
    compute.unpack_to_dest_fp32 = step.direct;
    ProgramDescriptor program;
    uint32_t first = 0;
    for (uint32_t core = 0; core < cores; core++) {
        const CoreCoord at = {core % device_.columns(), core / device_.columns()};
        const uint32_t count = step.units / cores + (core < step.units % cores);
        const uint32_t chunk = core % step.chunks;
        const uint32_t parent = core - chunk + (chunk & (chunk - 1));
        std::vector<uint32_t> addresses;
        for (const Matrix &operand : step.operands) {
            addresses.push_back(operand.buffer.address);
        }
        addresses.push_back(first);
        addresses.push_back(count);
        program.core_ranges.push_back({at, at});
        reader.runtime_args.push_back({at, addresses});
        compute.runtime_args.push_back({at, {first, count}});
        writer.runtime_args.push_back({at,
                                       {step.result.buffer.address, first * step.tiles_of_unit, count * step.tiles_of_unit,
                                        parent % device_.columns(), parent / device_.columns()}});
        first += count;
    }
    for (const CircularPages &buffer : step.buffers) {
        program.cbs.push_back({buffer.index, format_, tile_bytes(format_), buffer.pages * tile_bytes(format_)});
    }
    for (uint32_t level = 0; 1u << level < step.chunks; level++) {
        program.semaphores.push_back({level, 0});
    }
    program.kernels = {reader, writer};
    if (step.compute != nullptr) {
        program.kernels.push_back(compute);
    }
    device_.run(program);
}

} // namespace partita::metalium
