/*
 * The vector engine. Its lanes have 32 bits; functions are those of the C library, rounded once to the format of the register.
 * The chip's own approximations differ in the last bits.
 */
#include "core.h"
#include "format.h"
#include "registers.h"

#include "api/compute/binary_max_min.h"
#include "api/compute/compute_kernel_api.h"
#include "api/compute/eltwise_binary_sfpu.h"
#include "api/compute/eltwise_unary/binop_with_scalar.h"
#include "api/compute/eltwise_unary/exp.h"
#include "api/compute/eltwise_unary/gelu.h"
#include "api/compute/eltwise_unary/recip.h"
#include "api/compute/eltwise_unary/relu.h"
#include "api/compute/eltwise_unary/rsqrt.h"
#include "api/compute/eltwise_unary/sqrt.h"
#include "api/compute/eltwise_unary/typecast.h"

using namespace partita::metalium;

namespace {

void set_up(const char *function)
{
    engine(function).function = function;
}

void check(const char *function)
{
    const char *set = engine(function).function;
    if (std::strcmp(set, function) != 0) {
        Thread::current().fault("%s: the vector engine is set up for %s; call %s_init first", function, set, function);
    }
}

template <typename Function> void unary(const char *call, const char *init, uint32_t dst, Function function)
{
    float *x = destination(dst, call, true);
    check(init);
    for (uint32_t i = 0; i < TILE_ELEMENTS; i++) {
        x[i] = function(x[i]);
    }
    round_in_destination(x);
}

template <typename Function> void binary(const char *call, uint32_t left, uint32_t right, uint32_t out, Function function)
{
    const float *x = destination(left, call, true);
    const float *y = destination(right, call, true);
    float *to = destination(out, call);
    check(call);
    for (uint32_t i = 0; i < TILE_ELEMENTS; i++) {
        to[i] = function(x[i], y[i]);
    }
    round_in_destination(to);
}

float sigmoid(float x)
{
    return 1 / (1 + std::exp(-x));
}

} // namespace

#define UNARY(NAME, VALUE)                                                                                               \
    void NAME##_tile_init()                                                                                              \
    {                                                                                                                    \
        set_up(#NAME "_tile");                                                                                           \
    }                                                                                                                    \
    void NAME##_tile(uint32_t dst)                                                                                       \
    {                                                                                                                    \
        unary(#NAME "_tile", #NAME "_tile", dst, [](float x) -> float { return VALUE; });                                \
    }

UNARY(exp, std::exp(x))
UNARY(recip, 1 / x)
UNARY(relu, std::fmax(x, 0.0f))
UNARY(rsqrt, 1 / std::sqrt(x))
UNARY(sqrt, std::sqrt(x))
UNARY(silu, x *sigmoid(x))
UNARY(sigmoid, sigmoid(x))
UNARY(tanh, std::tanh(x))
UNARY(square, x *x)
UNARY(abs, std::fabs(x))

template <> void gelu_tile_init<false>()
{
    set_up("gelu_tile");
}

template <> void gelu_tile<false>(uint32_t dst)
{
    unary("gelu_tile", "gelu_tile", dst, [](float x) { return x / 2 * (1 + std::erf(x * 0.70710678f)); });
}

constexpr auto F32 = (uint32_t)DataFormat::Float32;
constexpr auto BF16 = (uint32_t)DataFormat::Float16_b;

template <> void typecast_tile_init<F32, BF16>()
{
    set_up("typecast_tile");
}

template <> void typecast_tile<F32, BF16>(uint32_t dst)
{
    unary("typecast_tile", "typecast_tile", dst, rounded_to_bf16);
}

#define BINARY(NAME, VALUE)                                                                                              \
    void NAME##_tile_init()                                                                                              \
    {                                                                                                                    \
        set_up(#NAME "_tile");                                                                                           \
    }                                                                                                                    \
    void NAME##_tile(uint32_t left, uint32_t right, uint32_t out)                                                        \
    {                                                                                                                    \
        binary(#NAME "_tile", left, right, out, [](float x, float y) -> float { return VALUE; });                        \
    }

BINARY(add_binary, x + y)
BINARY(sub_binary, x - y)
BINARY(mul_binary, x *y)
BINARY(div_binary, x / y)
BINARY(binary_max, std::fmax(x, y))
BINARY(binary_min, std::fmin(x, y))

void binop_with_scalar_tile_init()
{
    set_up("binop_with_scalar_tile");
}

#define WITH_SCALAR(NAME, SIGN)                                                                                          \
    void NAME(uint32_t dst, uint32_t bits)                                                                               \
    {                                                                                                                    \
        const float scalar = float_of(bits);                                                                             \
        unary(#NAME, "binop_with_scalar_tile", dst, [scalar](float x) { return x SIGN scalar; });                        \
    }

WITH_SCALAR(add_unary_tile, +)
WITH_SCALAR(sub_unary_tile, -)
WITH_SCALAR(mul_unary_tile, *)
