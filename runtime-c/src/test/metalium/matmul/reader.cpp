// Reads the rows of A and the columns of B for each tile of the result.
#include "api/dataflow/dataflow_api.h"
#include "api/tensor/tensor_accessor.h"

void kernel_main() {
    const uint32_t a_addr = get_arg_val<uint32_t>(0);
    const uint32_t b_addr = get_arg_val<uint32_t>(1);
    const uint32_t first_tile = get_arg_val<uint32_t>(2);
    const uint32_t num_tiles = get_arg_val<uint32_t>(3);
    const uint32_t Kt = get_common_arg_val<uint32_t>(0);
    const uint32_t Nt = get_common_arg_val<uint32_t>(1);

    constexpr uint32_t cb_in0 = tt::CBIndex::c_0;
    constexpr uint32_t cb_in1 = tt::CBIndex::c_1;

    constexpr auto a_args = TensorAccessorArgs<0>();
    const auto a = TensorAccessor(a_args, a_addr);
    constexpr auto b_args = TensorAccessorArgs<a_args.next_compile_time_args_offset()>();
    const auto b = TensorAccessor(b_args, b_addr);

    for (uint32_t tile = first_tile; tile < first_tile + num_tiles; ++tile) {
        const uint32_t mt = tile / Nt;
        const uint32_t nt = tile % Nt;
        for (uint32_t kt = 0; kt < Kt; ++kt) {
            cb_reserve_back(cb_in0, 1);
            noc_async_read_page(mt * Kt + kt, a, get_write_ptr(cb_in0));
            cb_reserve_back(cb_in1, 1);
            noc_async_read_page(kt * Nt + nt, b, get_write_ptr(cb_in1));
            noc_async_read_barrier();
            cb_push_back(cb_in0, 1);
            cb_push_back(cb_in1, 1);
        }
    }
}
