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

/* Integers of an input, such as tokens and positions, which the host gives to kernels as arguments. */
using Indices = std::vector<int64_t>;

/*
 * The kernels of an operation and what they work on.
 *
 * Runtime arguments of the reader are the addresses of the operands, the first unit of work of its core and their number; of
 * the compute kernel the first unit and their number; of the writer the address of the result, its first tile and the number
 * of tiles. Sizes, then indices are common arguments of all three.
 *
 * Several chunks of one result are joined as a tree: chunk i sends its part to the chunk whose number lacks the lowest bit of
 * i. Each is a unit on a core of its own, whose writer has the coordinates of the receiver as two more arguments, and a core
 * has a semaphore for each level of the tree.
 */
struct Step {
    const char *name;
    void (*reader)();
    /* Null: the reader gives its pages to the writer. */
    void (*compute)();
    void (*writer)();
    std::vector<Matrix> operands;
    Matrix result;
    std::vector<uint32_t> sizes;
    std::vector<int64_t> indices;
    std::vector<CircularPages> buffers;
    /* Buffers of 32 bits that copy_tile moves to destination registers without a source register. */
    std::vector<uint32_t> direct;
    uint32_t units;
    uint32_t tiles_of_unit;
    uint32_t chunks;
};

/* A row of a table; a negative index counts from the end. */
int64_t row_of(int64_t index, int64_t rows);
/* The first of the new tokens in a cache. */
int64_t position_of(int64_t position, int64_t tokens, int64_t capacity);

/*
 * Its program is called with the files WEIGHTS INPUTS OUTPUTS, which hold the elements as f32, row by row, one tensor after
 * the other. The inputs of further runs follow those of the first; states remain between runs.
 */
class Model {
  public:
    Model(int count, char **arguments, uint32_t columns, uint32_t rows, DataFormat format);
    ~Model();

    Matrix constant(uint32_t rows, uint32_t columns);
    Matrix state(uint32_t rows, uint32_t columns);
    Matrix allocate(uint32_t rows, uint32_t columns);
    /* Whether there are inputs of another run. */
    bool next();
    void read(const Matrix &input);
    void read(Indices &input);
    void run(const Step &step);
    void write(const Matrix &output);

  private:
    void fill(const Matrix &matrix, std::FILE *file, const char *name);

    Device device_;
    DataFormat format_;
    std::FILE *weights_;
    std::FILE *inputs_;
    std::FILE *outputs_;
};

} // namespace partita::metalium
