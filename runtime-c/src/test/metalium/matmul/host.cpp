/*
 * A product of 64 x 96 and 96 x 128 on two cores, in bf16 or f32, or in bf16 by a matrix in bf8_b: host bf16|f32|bf8_b
 * late|early. The kernels are compiled as a user writes them.
 */
#include "emulation/device.h"

#include <cstdio>

void reader();
void compute();
void writer();

using namespace partita::metalium;

static std::vector<float> sample(uint32_t count, uint32_t seed, DataFormat format)
{
    std::vector<float> values(count);
    for (float &value : values) {
        seed = seed * 1664525 + 1013904223;
        value = (float)(seed >> 8) / (1 << 23) - 1;
        value = format == DataFormat::Float16_b ? rounded_to_bf16(value) : value;
    }
    return values;
}

static Buffer to_device(Device &device, const std::vector<float> &matrix, uint32_t rows, uint32_t columns, DataFormat format)
{
    std::vector<uint8_t> tiles(matrix.size() / TILE_ELEMENTS * tile_bytes(format));
    tilize(matrix.data(), rows, columns, format, tiles.data());
    const Buffer buffer = device.allocate(rows * columns / TILE_ELEMENTS, tile_bytes(format));
    device.write(buffer, tiles.data());
    return buffer;
}

int main(int, char **arguments)
{
    const uint32_t m = 64, k = 96, n = 128;
    const DataFormat format = std::strcmp(arguments[1], "f32") == 0 ? DataFormat::Float32 : DataFormat::Float16_b;
    const DataFormat b_format = std::strcmp(arguments[1], "bf8_b") == 0 ? DataFormat::Bfp8_b : format;
    const uint32_t page = tile_bytes(format);
    const uint32_t b_page = tile_bytes(b_format);
    Device device(8, 8, std::strcmp(arguments[2], "early") == 0 ? Transfers::AT_ONCE : Transfers::AT_BARRIER);
    const std::vector<float> a = sample(m * k, 1, format);
    const std::vector<float> b = sample(k * n, 2, format);
    const Buffer a_buffer = to_device(device, a, m, k, format);
    const Buffer b_buffer = to_device(device, b, k, n, b_format);
    const Buffer out = device.allocate(m * n / TILE_ELEMENTS, page);

    ProgramDescriptor program;
    program.core_ranges = {{{0, 0}, {1, 0}}};
    program.cbs = {{0, format, page, 2 * page}, {1, b_format, b_page, 2 * b_page}, {16, format, page, 2 * page}};
    const uint32_t share = out.pages / 2;
    KernelDescriptor reads{"reader", reader, Processor::READER, {}, {k / TILE, n / TILE}};
    KernelDescriptor computes{"compute", compute, Processor::COMPUTE, {}, {k / TILE}};
    KernelDescriptor writes{"writer", writer, Processor::WRITER, {}};
    computes.fp32_dest_acc_en = true;
    for (uint32_t x = 0; x < 2; x++) {
        reads.runtime_args.push_back({{x, 0}, {a_buffer.address, b_buffer.address, x * share, share}});
        computes.runtime_args.push_back({{x, 0}, {share}});
        writes.runtime_args.push_back({{x, 0}, {out.address, x * share, share}});
    }
    program.kernels = {reads, computes, writes};
    device.run(program);

    std::vector<uint8_t> tiles(out.pages * page);
    std::vector<float> result(m * n);
    device.read(out, tiles.data());
    untilize(tiles.data(), m, n, format, result.data());

    /*
     * Products of source registers are exact in f32 but for one rounding, and sums of 96 of them have at most 96 roundings:
     * 97 * 2^-24 of the sum of magnitudes. Cutting f32 to 10 bits of mantissa on the left and 9 on the right adds 2^-10 and
     * 2^-9; storing bf16 rounds to 8 bits. In bf8_b, the largest numbers of blocks below 1 have steps of 2^-7, by which
     * numbers differ at most.
     */
    const double cut = format == DataFormat::Float32 ? std::ldexp(3, -10) : 0;
    const double step = b_format == DataFormat::Bfp8_b ? std::ldexp(1, -7) : 0;
    const double stored_bits = format == DataFormat::Float32 ? 0 : std::ldexp(1, -8);
    double worst = 0;
    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t j = 0; j < n; j++) {
            double sum = 0;
            double magnitude = 0;
            double rounded = 0;
            for (uint32_t l = 0; l < k; l++) {
                const double term = (double)a[i * k + l] * b[l * n + j];
                sum += term;
                magnitude += std::fabs(term);
                rounded += step * std::fabs(a[i * k + l]);
            }
            const double computed = rounded + (cut + std::ldexp(97, -24)) * (magnitude + rounded);
            const double bound = computed + stored_bits * (std::fabs(sum) + computed);
            worst = std::fmax(worst, std::fabs(result[i * n + j] - sum) / bound);
        }
    }
    std::printf("%s\n", worst <= 1 ? "within its bound" : "outside its bound");
    return worst <= 1 ? 0 : 1;
}
