/*
 * What every kernel has: arguments and circular buffers.
 *
 * The names are the public ones of TT-Metalium 0.81.1, so kernels compile unmodified. Each kernel is compiled alone, with
 *   -DPARTITA_KERNEL=NAME                the name of its entry point in the emulation, instead of kernel_main
 *   -DKERNEL_COMPILE_TIME_ARGS=1,2,...   its compile-time arguments, if it has any
 */
#pragma once

#include <cstdint>

#ifdef PARTITA_KERNEL
#define kernel_main PARTITA_KERNEL
#endif

void kernel_main();

#define FORCE_INLINE inline
#define ALWI inline
#define tt_l1_ptr

namespace tt {
enum CBIndex : uint8_t {
    c_0, c_1, c_2, c_3, c_4, c_5, c_6, c_7, c_8, c_9, c_10, c_11, c_12, c_13, c_14, c_15,
    c_16, c_17, c_18, c_19, c_20, c_21, c_22, c_23, c_24, c_25, c_26, c_27, c_28, c_29, c_30, c_31,
};
} // namespace tt

/* Of each kernel: a unit without arguments must not share them with one that has some. */
namespace {
#ifdef KERNEL_COMPILE_TIME_ARGS
constexpr uint32_t kernel_compile_time_args[] = {KERNEL_COMPILE_TIME_ARGS};
#else
constexpr uint32_t kernel_compile_time_args[] = {0};
#endif

constexpr uint32_t get_compile_time_arg_val(uint32_t index)
{
    return kernel_compile_time_args[index];
}
} // namespace

namespace partita::metalium {
uint32_t argument(uint32_t index);
uint32_t common_argument(uint32_t index);
} // namespace partita::metalium

template <typename T> T get_arg_val(int index)
{
    static_assert(sizeof(T) == 4);
    return (T)partita::metalium::argument((uint32_t)index);
}

template <typename T> T get_common_arg_val(int index)
{
    static_assert(sizeof(T) == 4);
    return (T)partita::metalium::common_argument((uint32_t)index);
}

/* A producer reserves pages, writes them and pushes them; a consumer waits for pages, reads them and pops them. */
void cb_reserve_back(uint32_t cb, int32_t pages);
void cb_push_back(uint32_t cb, int32_t pages);
void cb_wait_front(uint32_t cb, int32_t pages);
void cb_pop_front(uint32_t cb, int32_t pages);
