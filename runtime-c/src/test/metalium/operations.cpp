/* Every operation of compute kernels on one tile, against its definition: operations bf16|f32. */
#include "emulation/device.h"

#include "api/compute/bcast.h"
#include "api/compute/binary_max_min.h"
#include "api/compute/compute_kernel_api.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_binary_sfpu.h"
#include "api/compute/eltwise_unary/binop_with_scalar.h"
#include "api/compute/eltwise_unary/exp.h"
#include "api/compute/eltwise_unary/gelu.h"
#include "api/compute/eltwise_unary/recip.h"
#include "api/compute/eltwise_unary/relu.h"
#include "api/compute/eltwise_unary/rsqrt.h"
#include "api/compute/eltwise_unary/sqrt.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"
#include "api/compute/reconfig_data_format.h"
#include "api/compute/reduce.h"
#include "api/compute/reg_api.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/transpose.h"
#include "api/dataflow/dataflow_api.h"
#include "api/tensor/tensor_accessor.h"

#include <cstdio>
#include <functional>

using namespace partita::metalium;

namespace {

constexpr uint32_t A = 0, B = 1, ONES = 2, OUT = 16;

/* Reads and writes one page of each buffer; addresses are runtime arguments, then the bytes of a page. */
void reader()
{
    const uint32_t bytes = get_common_arg_val<uint32_t>(4);
    for (uint32_t cb = 0; cb < 3; cb++) {
        cb_reserve_back(cb, 1);
        noc_async_read(dram_page(get_common_arg_val<uint32_t>((int)cb), bytes, 0), get_write_ptr(cb), bytes);
        noc_async_read_barrier();
        cb_push_back(cb, 1);
    }
}

void writer()
{
    const uint32_t bytes = get_common_arg_val<uint32_t>(4);
    cb_wait_front(OUT, 1);
    noc_async_write(get_read_ptr(OUT), dram_page(get_common_arg_val<uint32_t>(3), bytes, 0), bytes);
    noc_async_write_barrier();
    cb_pop_front(OUT, 1);
}

void finish()
{
    tile_regs_commit();
    tile_regs_wait();
    cb_reserve_back(OUT, 1);
    pack_tile(0, OUT);
    cb_push_back(OUT, 1);
    tile_regs_release();
}

void begin()
{
    compute_kernel_hw_startup(A, B, OUT);
    for (uint32_t cb = 0; cb < 3; cb++) {
        cb_wait_front(cb, 1);
    }
    tile_regs_acquire();
}

using Tile = std::vector<double>;
using Expected = std::function<double(const Tile &, const Tile &, uint32_t, uint32_t)>;

struct Case {
    const char *name;
    void (*kernel)();
    Expected expected;
};

double at(const Tile &tile, uint32_t row, uint32_t column)
{
    return tile[row * TILE + column];
}

#define UNARY(NAME, VALUE)                                                                                               \
    {                                                                                                                    \
        #NAME,                                                                                                           \
            [] {                                                                                                         \
                begin();                                                                                                 \
                copy_init(A);                                                                                            \
                copy_tile(A, 0, 0);                                                                                      \
                NAME##_tile_init();                                                                                      \
                NAME##_tile(0);                                                                                          \
                finish();                                                                                                \
            },                                                                                                           \
            [](const Tile &a, const Tile &, uint32_t row, uint32_t column) {                                             \
                const double x = at(a, row, column);                                                                     \
                return VALUE;                                                                                            \
            }                                                                                                            \
    }

#define BINARY(INIT, CALL, VALUE)                                                                                        \
    {                                                                                                                    \
        #CALL,                                                                                                           \
            [] {                                                                                                         \
                begin();                                                                                                 \
                INIT(A, B);                                                                                              \
                CALL(A, B, 0, 0, 0);                                                                                     \
                finish();                                                                                                \
            },                                                                                                           \
            [](const Tile &a, const Tile &b, uint32_t row, uint32_t column) { return VALUE; }                            \
    }

#define VECTOR(CALL, VALUE)                                                                                              \
    {                                                                                                                    \
        #CALL,                                                                                                           \
            [] {                                                                                                         \
                begin();                                                                                                 \
                copy_init(A);                                                                                            \
                copy_tile(A, 0, 0);                                                                                      \
                copy_tile(B, 0, 1);                                                                                      \
                CALL##_tile_init();                                                                                      \
                CALL##_tile(0, 1, 0);                                                                                    \
                finish();                                                                                                \
            },                                                                                                           \
            [](const Tile &a, const Tile &b, uint32_t row, uint32_t column) {                                            \
                const double x = at(a, row, column), y = at(b, row, column);                                             \
                return VALUE;                                                                                            \
            }                                                                                                            \
    }

template <PoolType POOL, ReduceDim DIMENSION> void reduced()
{
    begin();
    if (POOL != PoolType::MAX && DIMENSION == ReduceDim::REDUCE_ROW) {
        reconfig_data_format(ONES, A);
    }
    reduce_init<POOL, DIMENSION>(A, ONES, OUT);
    reduce_tile<POOL, DIMENSION>(A, ONES, 0, 0, 0);
    reduce_uninit();
    finish();
}

/* What the multipliers take of a factor in source register A, and in B. */
double in_a(double value)
{
    return float_of(bits_of((float)value) & 0xffffc000);
}

double in_b(double value)
{
    return float_of(bits_of((float)value) & 0xffffe000);
}

template <EltwiseBinaryReuseDestType REUSED> void multiply_reused()
{
    begin();
    copy_init(A);
    copy_tile(A, 0, 0);
    mul_reuse_dest_init<REUSED>(B);
    mul_reuse_dest_tiles<REUSED>(B, 0, 0);
    finish();
}

double sum(const Tile &a, int row, int column)
{
    double total = 0;
    for (uint32_t i = 0; i < TILE; i++) {
        for (uint32_t j = 0; j < TILE; j++) {
            total += (row < 0 || (int)i == row) && (column < 0 || (int)j == column) ? at(a, i, j) : 0;
        }
    }
    return total;
}

Tile mapped(Tile tile, double (*function)(double))
{
    for (double &value : tile) {
        value = function(value);
    }
    return tile;
}

double most(const Tile &a, uint32_t row)
{
    double most = at(a, row, 0);
    for (uint32_t j = 1; j < TILE; j++) {
        most = std::fmax(most, at(a, row, j));
    }
    return most;
}

const Case CASES[] = {
    UNARY(exp, std::exp(x)),
    UNARY(recip, 1 / x),
    UNARY(rsqrt, 1 / std::sqrt(x)),
    UNARY(sqrt, std::sqrt(x)),
    UNARY(relu, x > 0 ? x : 0),
    {"gelu_tile",
     [] {
         begin();
         copy_init(A);
         copy_tile(A, 0, 0);
         gelu_tile_init<false>();
         gelu_tile<false>(0);
         finish();
     },
     [](const Tile &a, const Tile &, uint32_t row, uint32_t column) {
         const double x = at(a, row, column);
         return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
     }},
    UNARY(silu, x / (1 + std::exp(-x))),
    UNARY(sigmoid, 1 / (1 + std::exp(-x))),
    UNARY(tanh, std::tanh(x)),
    UNARY(square, x *x),
    UNARY(abs, std::fabs(x)),
    BINARY(add_init, add_tiles, at(a, row, column) + at(b, row, column)),
    BINARY(sub_init, sub_tiles, at(a, row, column) - at(b, row, column)),
    BINARY(mul_init, mul_tiles, at(a, row, column) * at(b, row, column)),
    BINARY(add_bcast_rows_init, add_tiles_bcast_rows, at(a, row, column) + at(b, 0, column)),
    BINARY(sub_bcast_rows_init, sub_tiles_bcast_rows, at(a, row, column) - at(b, 0, column)),
    BINARY(mul_bcast_rows_init, mul_tiles_bcast_rows, at(a, row, column) * at(b, 0, column)),
    BINARY(add_bcast_cols_init, add_tiles_bcast_cols, at(a, row, column) + at(b, row, 0)),
    BINARY(sub_bcast_cols_init, sub_tiles_bcast_cols, at(a, row, column) - at(b, row, 0)),
    BINARY(mul_bcast_cols_init, mul_tiles_bcast_cols, at(a, row, column) * at(b, row, 0)),
    BINARY(add_bcast_scalar_init, add_tiles_bcast_scalar, at(a, row, column) + at(b, 0, 0)),
    BINARY(sub_bcast_scalar_init, sub_tiles_bcast_scalar, at(a, row, column) - at(b, 0, 0)),
    BINARY(mul_bcast_scalar_init, mul_tiles_bcast_scalar, at(a, row, column) * at(b, 0, 0)),
    VECTOR(add_binary, x + y),
    VECTOR(sub_binary, x - y),
    VECTOR(mul_binary, x *y),
    VECTOR(div_binary, x / y),
    VECTOR(binary_max, std::fmax(x, y)),
    VECTOR(binary_min, std::fmin(x, y)),
    {"transpose_tile",
     [] {
         begin();
         transpose_init(A);
         transpose_tile(A, 0, 0);
         finish();
     },
     [](const Tile &a, const Tile &, uint32_t row, uint32_t column) { return at(a, column, row); }},
    {"mul_unary_tile",
     [] {
         begin();
         copy_init(A);
         copy_tile(A, 0, 0);
         binop_with_scalar_tile_init();
         mul_unary_tile(0, bits_of(0.125f));
         finish();
     },
     [](const Tile &a, const Tile &, uint32_t row, uint32_t column) { return at(a, row, column) / 8; }},
    {"sub_reuse_dest_tiles",
     [] {
         begin();
         copy_init(A);
         copy_tile(A, 0, 0);
         sub_reuse_dest_init<EltwiseBinaryReuseDestType::DEST_TO_SRCA>(B);
         sub_reuse_dest_tiles<EltwiseBinaryReuseDestType::DEST_TO_SRCA>(B, 0, 0);
         finish();
     },
     [](const Tile &a, const Tile &b, uint32_t row, uint32_t column) { return at(a, row, column) - at(b, row, column); }},
    {"sums of rows", reduced<PoolType::SUM, ReduceDim::REDUCE_ROW>,
     [](const Tile &a, const Tile &, uint32_t row, uint32_t column) { return column == 0 ? sum(a, (int)row, -1) : 0; }},
    {"sums of columns", reduced<PoolType::SUM, ReduceDim::REDUCE_COL>,
     [](const Tile &a, const Tile &, uint32_t row, uint32_t column) { return row == 0 ? sum(a, -1, (int)column) : 0; }},
    {"sum of a tile", reduced<PoolType::SUM, ReduceDim::REDUCE_SCALAR>,
     [](const Tile &a, const Tile &, uint32_t row, uint32_t column) { return row + column == 0 ? sum(a, -1, -1) : 0; }},
    {"maxima of rows", reduced<PoolType::MAX, ReduceDim::REDUCE_ROW>,
     [](const Tile &a, const Tile &, uint32_t row, uint32_t column) { return column == 0 ? most(a, row) : 0; }},
};

constexpr float THIRD = 1 / 3.0f;

/* Of f32 with all bits: a product takes 9 bits of the mantissa of what is in source register A, and 10 of B; others take 10. */
const Case CUT[] = {
    BINARY(mul_init, mul_tiles, in_a(at(a, row, column)) * in_b(at(b, row, column))),
    BINARY(mul_bcast_rows_init, mul_tiles_bcast_rows, in_a(at(a, row, column)) * in_b(at(b, 0, column))),
    BINARY(mul_bcast_cols_init, mul_tiles_bcast_cols, in_a(at(a, row, column)) * in_b(at(b, row, 0))),
    BINARY(mul_bcast_scalar_init, mul_tiles_bcast_scalar, in_a(at(a, row, column)) * in_b(at(b, 0, 0))),
    BINARY(add_init, add_tiles, in_b(at(a, row, column)) + in_b(at(b, row, column))),
    BINARY(sub_init, sub_tiles, in_b(at(a, row, column)) - in_b(at(b, row, column))),
    {"products of copies in A", multiply_reused<EltwiseBinaryReuseDestType::DEST_TO_SRCA>,
     [](const Tile &a, const Tile &b, uint32_t row, uint32_t column) {
         return in_a(at(a, row, column)) * in_b(at(b, row, column));
     }},
    {"products of copies in B", multiply_reused<EltwiseBinaryReuseDestType::DEST_TO_SRCB>,
     [](const Tile &a, const Tile &b, uint32_t row, uint32_t column) {
         return in_b(at(a, row, column)) * in_a(at(b, row, column));
     }},
    {"matmul_tiles",
     [] {
         begin();
         matmul_init(A, B);
         matmul_tiles(A, B, 0, 0, 0);
         finish();
     },
     [](const Tile &a, const Tile &b, uint32_t row, uint32_t column) {
         double total = 0;
         for (uint32_t k = 0; k < TILE; k++) {
             total += in_b(at(a, row, k)) * in_a(at(b, k, column));
         }
         return total;
     }},
    {"sums of rows", reduced<PoolType::SUM, ReduceDim::REDUCE_ROW>,
     [](const Tile &a, const Tile &, uint32_t row, uint32_t column) {
         return column == 0 ? sum(mapped(a, in_b), (int)row, -1) * in_a(THIRD) : 0;
     }},
    {"sums of columns", reduced<PoolType::SUM, ReduceDim::REDUCE_COL>,
     [](const Tile &a, const Tile &, uint32_t row, uint32_t column) {
         return row == 0 ? sum(mapped(a, in_a), -1, (int)column) * in_b(THIRD) : 0;
     }},
    {"sum of a tile", reduced<PoolType::SUM, ReduceDim::REDUCE_SCALAR>,
     [](const Tile &a, const Tile &, uint32_t row, uint32_t column) {
         return row + column == 0 ? sum(mapped(a, in_a), -1, -1) * in_b(THIRD) : 0;
     }},
    {"maxima of rows", reduced<PoolType::MAX, ReduceDim::REDUCE_ROW>,
     [](const Tile &a, const Tile &, uint32_t row, uint32_t column) { return column == 0 ? in_b(most(a, row)) : 0; }},
};

Buffer tile(Device &device, const Tile &values, DataFormat format)
{
    const std::vector<float> narrow(values.begin(), values.end());
    std::vector<uint8_t> bytes(tile_bytes(format));
    tilize(narrow.data(), TILE, TILE, format, bytes.data());
    const Buffer buffer = device.allocate(1, tile_bytes(format));
    device.write(buffer, bytes.data());
    return buffer;
}

/* Whether an operation differs from its definition by more than a share; sums multiply by a factor. */
bool differs(const Case &each, const Tile &a, const Tile &b, double factor, DataFormat format, double share)
{
    const uint32_t bytes = tile_bytes(format);
    const bool is_maximum = std::strncmp(each.name, "maxima", 6) == 0;
    const Tile x = is_maximum ? mapped(a, [](double value) { return -value; }) : a;
    const Tile factors(TILE_ELEMENTS, is_maximum ? 1 : factor);
    Device device(1, 1);
    const Buffer out = device.allocate(1, bytes);
    const std::vector<uint32_t> common = {tile(device, x, format).address, tile(device, b, format).address,
                                          tile(device, factors, format).address, out.address, bytes};
    ProgramDescriptor program;
    program.core_ranges = {{{0, 0}, {0, 0}}};
    for (uint32_t cb : {A, B, ONES, OUT}) {
        program.cbs.push_back({cb, format, bytes, bytes});
    }
    program.kernels = {{"reader", reader, Processor::READER, {}, common},
                       {"writer", writer, Processor::WRITER, {}, common},
                       {each.name, each.kernel, Processor::COMPUTE, {}, common}};
    program.kernels.back().fp32_dest_acc_en = format == DataFormat::Float32;
    device.run(program);
    std::vector<uint8_t> stored_tile(bytes);
    std::vector<float> result(TILE_ELEMENTS);
    device.read(out, stored_tile.data());
    untilize(stored_tile.data(), TILE, TILE, format, result.data());
    for (uint32_t i = 0; i < TILE_ELEMENTS; i++) {
        const double expected = each.expected(x, b, i / TILE, i % TILE);
        if (!(std::fabs(result[i] - expected) <= share * std::fabs(expected))) {
            std::printf("%s: element %u is %g instead of %g\n", each.name, i, result[i], expected);
            return true;
        }
    }
    return false;
}

} // namespace

int main(int, char **arguments)
{
    const DataFormat format = std::strcmp(arguments[1], "f32") == 0 ? DataFormat::Float32 : DataFormat::Float16_b;
    /* Positive, with few bits, so that source registers hold them; negated for maxima. */
    Tile a(TILE_ELEMENTS), b(TILE_ELEMENTS);
    Tile all_bits_of_a(TILE_ELEMENTS), all_bits_of_b(TILE_ELEMENTS);
    uint32_t seed = 3;
    for (uint32_t i = 0; i < TILE_ELEMENTS; i++) {
        seed = seed * 1664525 + 1013904223;
        a[i] = ((seed >> 24) + 1) / 64.0;
        b[i] = ((seed >> 16 & 0xff) + 1) / 64.0;
        all_bits_of_a[i] = (float)(a[i] * M_PI);
        all_bits_of_b[i] = (float)(b[i] * M_E);
    }
    /*
     * bf16 is rounded in the register, where copies are exact. An f32 has at most 1024 roundings of sums of positive terms;
     * functions of the C library are within 8 of the last bit, 1 + erf(x) and 1 + e^-x of positive numbers included.
     */
    const double share = format == DataFormat::Float32 ? std::ldexp(1024, -24) : std::ldexp(1, -8);
    int failures = 0;
    size_t operations = std::size(CASES);
    for (const Case &each : CASES) {
        failures += differs(each, a, b, 1, format, share);
    }
    if (format == DataFormat::Float32) {
        operations += std::size(CUT);
        for (const Case &each : CUT) {
            failures += differs(each, all_bits_of_a, all_bits_of_b, THIRD, format, share);
        }
    }
    std::printf("%d of %zu operations differ\n", failures, operations);
    return failures;
}
