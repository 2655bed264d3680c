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

Matrix Model::read(std::FILE *file, const char *name, uint32_t rows, uint32_t columns)
{
    std::vector<float> elements((size_t)padded(rows) * padded(columns));
    for (uint32_t row = 0; row < rows; row++) {
        if (std::fread(&elements[(size_t)row * padded(columns)], sizeof(float), columns, file) != columns) {
            fault(std::string("the file of ") + name + " ends too early");
        }
    }
    const Matrix matrix = allocate(rows, columns);
    std::vector<uint8_t> tiles((size_t)matrix.buffer.pages * matrix.buffer.page_bytes);
    tilize(elements.data(), padded(rows), padded(columns), format_, tiles.data());
    device_.write(matrix.buffer, tiles.data());
    return matrix;
}

Matrix Model::constant(uint32_t rows, uint32_t columns)
{
    return read(weights_, "weights", rows, columns);
}

Matrix Model::input(uint32_t rows, uint32_t columns)
{
    return read(inputs_, "inputs", rows, columns);
}

void Model::output(const Matrix &matrix)
{
    std::vector<uint8_t> tiles((size_t)matrix.buffer.pages * matrix.buffer.page_bytes);
    std::vector<float> elements((size_t)padded(matrix.rows) * padded(matrix.columns));
    device_.read(matrix.buffer, tiles.data());
    untilize(tiles.data(), padded(matrix.rows), padded(matrix.columns), format_, elements.data());
    for (uint32_t row = 0; row < matrix.rows; row++) {
        std::fwrite(&elements[(size_t)row * padded(matrix.columns)], sizeof(float), matrix.columns, outputs_);
    }
}

void Model::run(const Step &step)
{
    const uint32_t all = device_.columns() * device_.rows();
    const uint32_t cores = step.units < all ? step.units : all;
    KernelDescriptor reader{std::string(step.name) + ": reader", step.reader, Processor::READER, {}, step.sizes};
    KernelDescriptor writer{std::string(step.name) + ": writer", step.writer, Processor::WRITER, {}};
    KernelDescriptor compute{std::string(step.name) + ": compute", step.compute, Processor::COMPUTE, {}, step.sizes};
    compute.fp32_dest_acc_en = true;
    ProgramDescriptor program;
    uint32_t first = 0;
    for (uint32_t core = 0; core < cores; core++) {
        const CoreCoord at = {core % device_.columns(), core / device_.columns()};
        const uint32_t count = step.units / cores + (core < step.units % cores);
        std::vector<uint32_t> addresses;
        for (const Matrix &operand : step.operands) {
            addresses.push_back(operand.buffer.address);
        }
        addresses.push_back(first);
        addresses.push_back(count);
        program.core_ranges.push_back({at, at});
        reader.runtime_args.push_back({at, addresses});
        compute.runtime_args.push_back({at, {count}});
        writer.runtime_args.push_back(
            {at, {step.result.buffer.address, first * step.tiles_of_unit, count * step.tiles_of_unit}});
        first += count;
    }
    for (const CircularPages &buffer : step.buffers) {
        program.cbs.push_back({buffer.index, format_, tile_bytes(format_), buffer.pages * tile_bytes(format_)});
    }
    program.kernels = {reader, writer, compute};
    device_.run(program);
}

} // namespace partita::metalium
