/*
 * A model on one emulated chip, for the main program of emitted kernels: matrices in tiles, and steps that are dealt to the cores.
 */
#pragma once

#include "device.h"

#include <cstdio>

namespace partita::metalium {

/* A matrix in DRAM, padded with zeros to whole tiles. */
struct Matrix {
    Buffer buffer;
    uint32_t rows;
    uint32_t columns;
};

struct CircularPages {
    uint32_t index;
    uint32_t pages;
};

/*
 * The kernels of an operation and what they work on.
 *
 * Runtime arguments of the reader are the addresses of the operands, the first unit of work of its core and their number; of
 * the compute kernel the number of units; of the writer the address of the result, its first tile and the number of tiles.
 * Sizes are common arguments of reader and compute kernel.
 */
struct Step {
    const char *name;
    void (*reader)();
    void (*compute)();
    void (*writer)();
    std::vector<Matrix> operands;
    Matrix result;
    std::vector<uint32_t> sizes;
    std::vector<CircularPages> buffers;
    uint32_t units;
    uint32_t tiles_of_unit;
};

/*
 * Its program is called with the files WEIGHTS INPUTS OUTPUTS, which hold the elements as f32, row by row, one tensor after the other.
 */
class Model {
  public:
    Model(int count, char **arguments, uint32_t columns, uint32_t rows, DataFormat format);
    ~Model();

    Matrix constant(uint32_t rows, uint32_t columns);
    Matrix input(uint32_t rows, uint32_t columns);
    Matrix allocate(uint32_t rows, uint32_t columns);
    void run(const Step &step);
    void output(const Matrix &matrix);

  private:
    Matrix read(std::FILE *file, const char *name, uint32_t rows, uint32_t columns);

    Device device_;
    DataFormat format_;
    std::FILE *weights_;
    std::FILE *inputs_;
    std::FILE *outputs_;
};

} // namespace partita::metalium
