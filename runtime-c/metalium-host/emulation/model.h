/*
 * A model on emulated chips, for the main program of emitted kernels: matrices in tiles, which are at the same address on all
 * chips, steps that are dealt to the cores, and exchanges between chips.
 */
#pragma once

#include "buffer.h"
#include "numbers.h"

#include <cstdio>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

namespace partita::metalium {

struct CBDescriptor;
struct CoreCoord;
struct ProgramDescriptor;
class Mesh;

/* In descriptions, which live only as long as the call that takes them, so that a program is compiled fast. */
template <typename T> using List = std::initializer_list<T>;

/* A matrix in DRAM, padded with zeros to whole tiles. */
struct Matrix {
    Buffer buffer;
    uint32_t rows;
    uint32_t columns;
    DataFormat format;
};

/* A part of a tensor: the extents of the whole, and the part's start and extents. */
struct Box {
    List<uint32_t> whole;
    List<uint32_t> start;
    List<uint32_t> extents;
};

/* The matrix of a chip that holds a part. */
struct Part {
    uint32_t chip;
    Matrix matrix;
    Box box;
};

struct CircularPages {
    uint32_t index;
    uint32_t pages;
    /* That of all elements if there is none. */
    std::optional<DataFormat> format = {};
};

/* Integers of an input, such as tokens and positions, which the host gives to kernels as arguments. */
using Indices = std::vector<int64_t>;

/*
 * How cores compute a result: in blocks of tiles, which are dealt to rows and columns of the grid in turn. Where there is only
 * one row, or one column, or cores join results, they are dealt to cores row by row instead.
 */
struct Blocks {
    uint32_t columns = 0;
    uint32_t rows = 0;
    /* The tiles of a block of the result. */
    uint32_t width = 0;
    uint32_t height = 0;
    /* The operands whose blocks one core reads for others. */
    List<uint32_t> shared = {};
    /* Whether the columns are chunks of one result, which cores join as a tree. */
    bool joins = false;
};

/*
 * The kernels of an operation and what they work on.
 *
 * Runtime arguments of the reader are the addresses of the operands, then the first row and column of tiles of the core's first
 * block; of the compute kernel the first row and column; of the writer the address of the result, and these. Sizes, then indices
 * are common arguments of all three.
 *
 * For each operand that is multicast, the last arguments of the reader are the corners of a rectangle that has all cores which
 * need the same blocks, the number of others in it, and of those that wait; such operands have two semaphores each: of the cores
 * that wait, on the first core, and of what was sent.
 *
 * Chunks of one result are joined as a tree: chunk i sends its part to the chunk whose number lacks the lowest bit of i. The
 * writer has the coordinates of the receiver as two more arguments, and a core has a semaphore for each level of the tree.
 */
struct Step {
    const char *name;
    void (*reader)();
    /* Null: the reader gives its pages to the writer. */
    void (*compute)();
    void (*writer)();
    List<Matrix> operands;
    Matrix result;
    List<uint32_t> sizes;
    List<int64_t> indices;
    List<CircularPages> buffers;
    /* Buffers of 32 bits that copy_tile moves to destination registers without a source register. */
    List<uint32_t> direct;
    /* Whether destination registers have 32 bits. */
    bool fp32_dest_acc_en = true;
    Blocks blocks;
    /* Further results, whose addresses the writer gets after its other arguments. */
    List<Matrix> others = {};
    /*
     * Words of each core, such as the priority of its chip; the last arguments of all kernels are their addresses. The reader of
     * a step that decides one gets the corners of the grid too, and the number of other cores.
     */
    List<uint32_t> words = {};
    bool decides = false;
    /* The chips that run the kernels; empty for all. */
    List<uint32_t> chips = {};
};

/* Elements of the vector of an exchange that are elements of a matrix as well: the first one there, row by row. */
struct Place {
    uint32_t start;
    uint32_t size;
    uint32_t element;
};

enum class MessageKind : uint32_t { SEND_FORWARD, SEND_BACKWARD, RECEIVE, RECEIVE_AND_JOIN };

/* Elements of the vector to or from another chip. `page` is the first one in the inbox of the receiver. */
struct Message {
    MessageKind kind;
    uint32_t chip;
    uint32_t start;
    uint32_t size;
    uint32_t page;
};

/* The messages of a chip in an exchange, one after the other, and the elements that it has before and after. */
struct Member {
    uint32_t chip;
    Matrix operand = {};
    List<Place> before = {};
    Matrix result = {};
    /* Whether the padding of the result becomes zeros first. */
    bool clears = false;
    List<Place> after = {};
    List<Message> messages;
};

/*
 * An exchange between chips, on the first core of each. Runtime arguments of the reader are the addresses of the operand and of
 * the inbox; of the writer those of the inbox and of the result, the coordinates of the core, and the connections. Common
 * arguments are described in the kernels. The kernel of sums has as many tiles as pages are joined.
 */
struct Exchange {
    const char *name;
    void (*reader)();
    /* Null if no elements are joined. */
    void (*compute)();
    void (*writer)();
    Matrix inbox;
    List<CircularPages> buffers;
    List<uint32_t> direct;
    uint32_t vector_pages;
    /* As in a step; of the writer they come before the connections. */
    List<uint32_t> words = {};
    List<Member> members;
};

/* A row of a table; a negative index counts from the end. */
int64_t row_of(int64_t index, int64_t rows);
/* The first of the new tokens in a cache. */
int64_t position_of(int64_t position, int64_t tokens, int64_t capacity);

/*
 * Its program is called with the files WEIGHTS INPUTS OUTPUTS, which hold the elements as f32, row by row, one tensor after
 * the other. The inputs of further runs follow those of the first; states remain between runs.
 *
 * With a further file, PROBES, it writes the results of the launches of the first run: for each chip in order the number of the
 * launch, that of the chip, the number of words that its kernels read and the words; then for each result the number of
 * elements and the elements. All numbers have 32 bits.
 */
class Model {
  public:
    Model(int count, char **arguments, uint32_t columns, uint32_t rows, DataFormat format, uint32_t chips = 1);
    ~Model();
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    /* Matrices are in the format of all elements unless another is given. */
    Matrix constant(uint32_t rows, uint32_t columns, std::optional<DataFormat> format = {});
    /* Weights that differ from chip to chip: those of the chips in ascending order, of these chips only. */
    Matrix constants(uint32_t rows, uint32_t columns, List<uint32_t> chips,
                     std::optional<DataFormat> format = {});
    /* Constants that only the main program reads. */
    Numbers numbers(uint32_t rows, uint32_t columns);
    Matrix state(uint32_t rows, uint32_t columns);
    Matrix allocate(uint32_t rows, uint32_t columns, std::optional<DataFormat> format = {});
    /* Whether there are inputs of another run. */
    bool next();
    /* Of a program for one token and for several at once: whether the inputs are of several. A number before them says so. */
    bool is_chunk();
    void read(const Matrix &input);
    void read(Indices &input);
    /* An input of which chips hold parts. */
    void read_parts(List<Part> parts);
    /* Writes what the main program has computed to all chips, or to one. */
    void write_numbers(const Matrix &matrix, const Numbers &numbers);
    void write_numbers(const Matrix &matrix, const Numbers &numbers, uint32_t chip);
    void run(const Step &step);
    void exchange(const Exchange &exchange);
    /* An output that all chips have, or one. */
    void write(const Matrix &output, uint32_t chip = 0);
    void write_parts(List<Part> parts);

  private:
    std::vector<float> floats(size_t count, std::FILE *file, const char *name);
    void store(const Matrix &matrix, uint32_t chip, const float *elements);
    void store(const Matrix &matrix, const float *elements);
    std::vector<float> load(const Matrix &matrix, uint32_t chip);
    ProgramDescriptor program(const Step &step, uint32_t chip);
    CoreCoord block_core(const Blocks &blocks, uint32_t core);
    std::vector<uint32_t> sharing(const Blocks &blocks, uint32_t core, uint32_t operand);
    std::vector<uint32_t> addresses(List<uint32_t> words, uint32_t chip, CoreCoord core);
    void probe(uint32_t chip, List<uint32_t> words, const std::vector<Matrix> &results);
    std::vector<CBDescriptor> buffers(List<CircularPages> pages) const;

    std::unique_ptr<Mesh> mesh_;
    DataFormat format_;
    std::FILE *weights_;
    std::FILE *inputs_;
    std::FILE *outputs_;
    /* Null without probes. */
    std::FILE *probes_ = nullptr;
    uint32_t launch_ = 0;
};

} // namespace partita::metalium
