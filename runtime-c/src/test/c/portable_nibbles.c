/* The kernels of products with 4-bit integers in their portable form, under other names, beside those with XpulpV2 instructions. */
#undef PARTITA_XPULP
#define partita_nibble_gemm_i8_f32 portable_nibble_gemm_i8_f32
#define partita_nibble_gemm_i8_bf16 portable_nibble_gemm_i8_bf16
#define partita_nibble_gemm_u8_f32 portable_nibble_gemm_u8_f32
#define partita_nibble_gemm_u8_bf16 portable_nibble_gemm_u8_bf16

#include "../../../kernels/nibble_gemm.c"
