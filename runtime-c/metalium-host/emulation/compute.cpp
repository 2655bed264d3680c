/* The matrix engine, its unpackers and the packer. */
#include "compute.h"

#include "core.h"
#include "registers.h"

#include <algorithm>

#include "api/compute/bcast.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"
#include "api/compute/reconfig_data_format.h"
#include "api/compute/reduce.h"
#include "api/compute/reg_api.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/transpose.h"

namespace {

using namespace partita::metalium;

/* A tile in the order of rows, as the source registers hold it. */
struct Source {
    float at[TILE][TILE];

    float *elements() { return at[0]; }
};

DataFormat format(const Thread &thread, uint32_t cb, const char *call)
{
    return thread.buffer(cb, call).format;
}

SourceFormat source_format(const Thread &thread, uint32_t cb, const char *call)
{
    const std::vector<uint32_t> &direct = thread.kernel.unpack_to_dest_fp32;
    return {format(thread, cb, call), std::find(direct.begin(), direct.end(), cb) != direct.end()};
}

void check_source(const Thread &thread, uint32_t cb, SourceFormat set, const char *call)
{
    const SourceFormat own = source_format(thread, cb, call);
    if (own.format != set.format || own.is_direct != set.is_direct) {
        thread.fault("%s: circular buffer %u has another format than its source register: reconfig_data_format is missing",
                     call, cb);
    }
}

const uint8_t *awaited_tile(const Thread &thread, uint32_t cb, uint32_t tile, const char *call)
{
    const CircularBuffer &buffer = thread.buffer(cb, call);
    if (tile >= buffer.awaited) {
        thread.fault("%s: tile %u of circular buffer %u, of which %u were awaited", call, tile, cb, buffer.awaited);
    }
    return (const uint8_t *)(uintptr_t)buffer.read_address(tile);
}

/* Reads a tile in L1 in the order of rows. */
void load_rows(const uint8_t *tile, DataFormat format, float *rows)
{
    for (uint32_t i = 0; i < TILE_ELEMENTS; i += BLOCK) {
        load_block(tile, format, in_tile(i / TILE, i % TILE) / BLOCK, rows + i);
    }
}

/* A source register of the matrix engine has 19 bits: sign, exponent and so many of the mantissa. */
constexpr uint32_t SOURCE_BITS = 10;

/*
 * The multipliers take source register A in two parts of five bits, the leading one included, and B in parts of seven and four:
 * even with all four phases of HiFi4, a factor in A has 9 bits of the mantissa. Sums, copies and maxima have all 10.
 */
constexpr uint32_t FACTOR_A_BITS = 9;

/* Cuts off all but the first bits of the mantissa of a tile's elements. */
void cut(float *elements, uint32_t bits)
{
    const uint32_t mask = 0xffffffff << (23 - bits);
    for (uint32_t i = 0; i < TILE_ELEMENTS; i++) {
        elements[i] = std::isnan(elements[i]) ? elements[i] : float_of(bits_of(elements[i]) & mask);
    }
}

void unpack(const Thread &thread, uint32_t cb, uint32_t tile, SourceFormat set, const char *call, Source &source)
{
    check_source(thread, cb, set, call);
    if (set.is_direct) {
        thread.fault("%s: circular buffer %u has all bits of f32, which no source register holds", call, cb);
    }
    const DataFormat own = format(thread, cb, call);
    const uint8_t *elements = awaited_tile(thread, cb, tile, call);
    load_rows(elements, own, source.elements());
    cut(source.elements(), SOURCE_BITS);
}

void set_up(Operation operation, const char *call)
{
    const Thread &thread = Thread::current();
    if (!engine(call).started) {
        thread.fault("%s before compute_kernel_hw_startup", call);
    }
    thread.compute->operation = operation;
}

void check(const Thread &thread, Operation operation, const char *call, const char *init)
{
    if (thread.compute->operation != operation) {
        thread.fault("%s: the matrix engine is set up for another operation; call %s first", call, init);
    }
}

bool is_finite(Source &source)
{
    return std::all_of(source.elements(), source.elements() + TILE_ELEMENTS, [](float element) { return std::isfinite(element); });
}

/* Gives a function of two numbers to what applies it to all elements. */
template <typename ApplyAll> void apply(char operation, ApplyAll apply_all)
{
    switch (operation) {
    case '+':
        apply_all([](float left, float right) { return left + right; });
        break;
    case '-':
        apply_all([](float left, float right) { return left - right; });
        break;
    default:
        apply_all([](float left, float right) { return left * right; });
    }
}

Operation elementwise(char operation, Operation add)
{
    return (Operation)((int)add + (operation == '+' ? 0 : operation == '-' ? 1 : 2));
}

/* Rows and columns of the second operand count, unless it is broadcast along them. */
void binary(char operation, Operation kind, bool rows, bool columns, uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b,
            uint32_t dst, const char *call)
{
    const Thread &thread = Thread::current();
    float *out = destination(dst, call);
    check(thread, elementwise(operation, kind), call, "its *_init");
    Source left;
    Source right;
    unpack(thread, a, tile_a, thread.compute->source_a, call, left);
    unpack(thread, b, tile_b, thread.compute->source_b, call, right);
    if (operation == '*') {
        cut(left.elements(), FACTOR_A_BITS);
    }
    apply(operation, [&](auto function) {
        for (uint32_t row = 0; row < TILE; row++) {
            for (uint32_t column = 0; column < TILE; column++) {
                out[row * TILE + column] = function(left.at[row][column], right.at[rows ? row : 0][columns ? column : 0]);
            }
        }
    });
    round_in_destination(out);
}

} // namespace

namespace partita::metalium {

ComputeState &engine(const char *call)
{
    const Thread &thread = Thread::current();
    if (thread.compute == nullptr) {
        thread.fault("%s in a kernel that moves data", call);
    }
    return *thread.compute;
}

uint32_t capacity()
{
    return Thread::current().kernel.fp32_dest_acc_en ? 4 : 8;
}

float *destination(uint32_t dst, const char *call, bool is_read)
{
    ComputeState &state = engine(call);
    if (state.registers != Registers::MATH) {
        Thread::current().fault("%s: the destination registers aren't acquired", call);
    }
    if (dst >= capacity()) {
        Thread::current().fault("%s: destination register %u of %u", call, dst, capacity());
    }
    if (is_read && state.fresh[dst]) {
        Thread::current().fault("%s: nothing was written to destination register %u", call, dst);
    }
    state.fresh[dst] = false;
    return state.destination[dst];
}

void round_in_destination(float *elements)
{
    if (Thread::current().kernel.fp32_dest_acc_en) {
        return;
    }
    for (uint32_t i = 0; i < TILE_ELEMENTS; i++) {
        elements[i] = rounded_to_bf16(elements[i]);
    }
}

void start_compute(uint32_t a, uint32_t b, uint32_t out)
{
    static const char *const call = "compute_kernel_hw_startup";
    const Thread &thread = Thread::current();
    ComputeState &state = engine(call);
    if (state.started) {
        thread.fault("%s: called a second time", call);
    }
    state.started = true;
    state.source_a = source_format(thread, a, call);
    state.source_b = source_format(thread, b, call);
    state.packed = format(thread, out, call);
}

void pack(uint32_t dst, uint32_t cb, bool is_placed, uint32_t tile)
{
    const Thread &thread = Thread::current();
    const ComputeState &state = engine("pack_tile");
    CircularBuffer &buffer = thread.buffer(cb, "pack_tile");
    if (state.registers != Registers::PACK) {
        thread.fault("pack_tile: tile_regs_wait is missing");
    }
    if (dst >= capacity()) {
        thread.fault("pack_tile: destination register %u of %u", dst, capacity());
    }
    if (buffer.format != state.packed) {
        thread.fault("pack_tile: circular buffer %u has another format than the packer: pack_reconfig_data_format is missing",
                     cb);
    }
    const uint32_t place = is_placed ? tile : buffer.packed++;
    if (place >= buffer.reserved) {
        thread.fault("pack_tile: tile %u of circular buffer %u, of which %u are reserved", place, cb, buffer.reserved);
    }
    uint8_t *out = (uint8_t *)(uintptr_t)buffer.write_address(place);
    for (uint32_t row = 0; row < TILE; row++) {
        for (uint32_t column = 0; column < TILE; column += BLOCK) {
            store_block(out, buffer.format, in_tile(row, column) / BLOCK, &state.destination[dst][row * TILE + column]);
        }
    }
}

void init_reuse(char operation, bool, uint32_t)
{
    set_up(elementwise(operation, Operation::ADD_REUSE), "reuse_dest_init");
}

void reuse(char operation, bool is_a, uint32_t cb, uint32_t tile, uint32_t dst)
{
    static const char *const call = "reuse_dest_tiles";
    const Thread &thread = Thread::current();
    float *out = destination(dst, call, true);
    check(thread, elementwise(operation, Operation::ADD_REUSE), call, "reuse_dest_init");
    Source other;
    unpack(thread, cb, tile, is_a ? thread.compute->source_b : thread.compute->source_a, call, other);
    cut(out, SOURCE_BITS);
    if (operation == '*') {
        cut(is_a ? out : other.elements(), FACTOR_A_BITS);
    }
    apply(operation, [&](auto function) {
        for (uint32_t i = 0; i < TILE_ELEMENTS; i++) {
            out[i] = is_a ? function(out[i], other.elements()[i]) : function(other.elements()[i], out[i]);
        }
    });
    round_in_destination(out);
}

void init_reduce(PoolType, ReduceDim, uint32_t, uint32_t, uint32_t)
{
    set_up(Operation::REDUCE, "reduce_init");
}

void reduce(PoolType pool, ReduceDim dimension, uint32_t cb, uint32_t scaler, uint32_t tile, uint32_t tile_scaler, uint32_t dst)
{
    static const char *const call = "reduce_tile";
    const Thread &thread = Thread::current();
    const ComputeState &state = engine(call);
    const bool is_fresh = dst < capacity() && state.fresh[dst];
    float *out = destination(dst, call);
    check(thread, Operation::REDUCE, call, "reduce_init");
    const bool is_max = pool == PoolType::MAX;
    const bool exchanged = !is_max && dimension == ReduceDim::REDUCE_ROW;
    Source x;
    Source factors;
    unpack(thread, cb, tile, exchanged ? state.source_b : state.source_a, call, x);
    unpack(thread, scaler, tile_scaler, exchanged ? state.source_a : state.source_b, call, factors);
    if (!is_max) {
        cut(exchanged ? factors.elements() : x.elements(), FACTOR_A_BITS);
    }
    float result[TILE];
    for (float &each : result) {
        each = is_max ? -INFINITY : 0;
    }
    for (uint32_t row = 0; row < TILE; row++) {
        for (uint32_t column = 0; column < TILE; column++) {
            const uint32_t along = dimension == ReduceDim::REDUCE_ROW ? column : row;
            float &to = result[dimension == ReduceDim::REDUCE_SCALAR ? 0 : dimension == ReduceDim::REDUCE_ROW ? row : column];
            const float term = x.at[row][column] * factors.at[0][along];
            to = is_max ? std::fmax(to, term) : to + term;
        }
    }
    for (uint32_t row = 0; row < TILE; row++) {
        for (uint32_t column = 0; column < TILE; column++) {
            const bool is_result = (dimension == ReduceDim::REDUCE_COL || column == 0) &&
                                   (dimension == ReduceDim::REDUCE_ROW || row == 0);
            float &to = out[row * TILE + column];
            const float value = result[dimension == ReduceDim::REDUCE_COL ? column
                                       : dimension == ReduceDim::REDUCE_ROW ? row
                                                                            : 0];
            to = !is_result ? 0 : !is_max ? to + value : is_fresh ? value : std::fmax(to, value);
        }
    }
    round_in_destination(out);
}

} // namespace partita::metalium

void reduce_uninit()
{
    set_up(Operation::NONE, "reduce_uninit");
}

void pack_reconfig_data_format(uint32_t cb)
{
    engine("pack_reconfig_data_format").packed = format(Thread::current(), cb, "pack_reconfig_data_format");
}

void reconfig_data_format(uint32_t a, uint32_t b)
{
    reconfig_data_format_srca(a);
    reconfig_data_format_srcb(b);
}

void reconfig_data_format_srca(uint32_t a)
{
    engine("reconfig_data_format").source_a = source_format(Thread::current(), a, "reconfig_data_format");
}

void reconfig_data_format_srcb(uint32_t b)
{
    engine("reconfig_data_format").source_b = source_format(Thread::current(), b, "reconfig_data_format");
}

static void pass(Registers from, Registers to, const char *call, const char *before)
{
    ComputeState &state = engine(call);
    if (state.registers != from) {
        Thread::current().fault("%s: must follow %s", call, before);
    }
    state.registers = to;
}

void tile_regs_acquire()
{
    pass(Registers::FREE, Registers::MATH, "tile_regs_acquire", "tile_regs_release");
    ComputeState &state = engine("tile_regs_acquire");
    for (uint32_t dst = 0; dst < capacity(); dst++) {
        std::memset(state.destination[dst], 0, sizeof state.destination[dst]);
        state.fresh[dst] = true;
    }
}

void tile_regs_commit()
{
    pass(Registers::MATH, Registers::COMMITTED, "tile_regs_commit", "tile_regs_acquire");
}

void tile_regs_wait()
{
    pass(Registers::COMMITTED, Registers::PACK, "tile_regs_wait", "tile_regs_commit");
}

void tile_regs_release()
{
    pass(Registers::PACK, Registers::FREE, "tile_regs_release", "tile_regs_wait");
}

void matmul_init(uint32_t, uint32_t, uint32_t transpose)
{
    set_up(Operation::MATMUL, "matmul_init");
    engine("matmul_init").is_transposed = transpose != 0;
}

void matmul_tiles(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst)
{
    const Thread &thread = Thread::current();
    const ComputeState &state = engine("matmul_tiles");
    float *out = destination(dst, "matmul_tiles");
    check(thread, Operation::MATMUL, "matmul_tiles", "matmul_init");
    Source left;
    Source right;
    unpack(thread, a, tile_a, state.source_b, "matmul_tiles", left);
    unpack(thread, b, tile_b, state.source_a, "matmul_tiles", right);
    cut(right.elements(), FACTOR_A_BITS);
    if (state.is_transposed) {
        for (uint32_t row = 0; row < TILE; row++) {
            for (uint32_t column = 0; column < row; column++) {
                std::swap(right.at[row][column], right.at[column][row]);
            }
        }
    }
    /* A row of zeros, such as padding, makes no difference to finite numbers. */
    const bool finite = is_finite(right);
    /* A face's products are summed exactly enough for 32 bits, and rounded where they reach the register. */
    for (uint32_t first = 0; first < TILE; first += FACE) {
        for (uint32_t row = 0; row < TILE; row++) {
            const float *factors = &left.at[row][first];
            float sums[TILE] = {};
            if (!finite || std::any_of(factors, factors + FACE, [](float factor) { return factor != 0; })) {
                for (uint32_t k = 0; k < FACE; k++) {
                    for (uint32_t column = 0; column < TILE; column++) {
                        sums[column] += factors[k] * right.at[first + k][column];
                    }
                }
            }
            for (uint32_t column = 0; column < TILE; column++) {
                out[row * TILE + column] += sums[column];
            }
        }
        round_in_destination(out);
    }
}

void copy_init(uint32_t)
{
    set_up(Operation::COPY, "copy_init");
}

void copy_tile(uint32_t cb, uint32_t tile, uint32_t dst)
{
    const Thread &thread = Thread::current();
    float *out = destination(dst, "copy_tile");
    check(thread, Operation::COPY, "copy_tile", "copy_init");
    if (source_format(thread, cb, "copy_tile").is_direct) {
        check_source(thread, cb, thread.compute->source_a, "copy_tile");
        const uint8_t *elements = awaited_tile(thread, cb, tile, "copy_tile");
        load_rows(elements, format(thread, cb, "copy_tile"), out);
        return;
    }
    Source source;
    unpack(thread, cb, tile, thread.compute->source_a, "copy_tile", source);
    std::memcpy(out, source.at, sizeof source.at);
    round_in_destination(out);
}

void transpose_init(uint32_t)
{
    set_up(Operation::TRANSPOSE, "transpose_init");
}

void transpose_tile(uint32_t cb, uint32_t tile, uint32_t dst)
{
    const Thread &thread = Thread::current();
    float *out = destination(dst, "transpose_tile");
    check(thread, Operation::TRANSPOSE, "transpose_tile", "transpose_init");
    Source source;
    unpack(thread, cb, tile, thread.compute->source_a, "transpose_tile", source);
    for (uint32_t i = 0; i < TILE_ELEMENTS; i++) {
        out[i] = source.at[i % TILE][i / TILE];
    }
    round_in_destination(out);
}

#define BINARY(NAME, SIGN, INIT, KIND, ROWS, COLUMNS)                                                                    \
    void INIT(uint32_t, uint32_t)                                                                                        \
    {                                                                                                                    \
        set_up(elementwise(SIGN, Operation::KIND), #INIT);                                                               \
    }                                                                                                                    \
    void NAME(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst)                                    \
    {                                                                                                                    \
        binary(SIGN, Operation::KIND, ROWS, COLUMNS, a, b, tile_a, tile_b, dst, #NAME);                                  \
    }

BINARY(add_tiles, '+', add_init, ADD, true, true)
BINARY(sub_tiles, '-', sub_init, ADD, true, true)
BINARY(mul_tiles, '*', mul_init, ADD, true, true)
BINARY(add_tiles_bcast_rows, '+', add_bcast_rows_init, ADD_ROWS, false, true)
BINARY(sub_tiles_bcast_rows, '-', sub_bcast_rows_init, ADD_ROWS, false, true)
BINARY(mul_tiles_bcast_rows, '*', mul_bcast_rows_init, ADD_ROWS, false, true)
BINARY(add_tiles_bcast_cols, '+', add_bcast_cols_init, ADD_COLS, true, false)
BINARY(sub_tiles_bcast_cols, '-', sub_bcast_cols_init, ADD_COLS, true, false)
BINARY(mul_tiles_bcast_cols, '*', mul_bcast_cols_init, ADD_COLS, true, false)
BINARY(add_tiles_bcast_scalar, '+', add_bcast_scalar_init, ADD_SCALAR, false, false)
BINARY(sub_tiles_bcast_scalar, '-', sub_bcast_scalar_init, ADD_SCALAR, false, false)
BINARY(mul_tiles_bcast_scalar, '*', mul_bcast_scalar_init, ADD_SCALAR, false, false)
