/* Norms of floats in their portable form, under other names, beside those with XpulpV2 instructions. */
#undef PARTITA_XPULP
#define partita_layer_norm_f32 portable_layer_norm_f32
#define partita_rms_norm_f32 portable_rms_norm_f32
#define partita_norm_sums_f32 portable_norm_sums_f32
#define partita_norm_squares_f32 portable_norm_squares_f32
#define partita_norm_by_sums_f32 portable_norm_by_sums_f32
#define partita_rms_norm_quantize_f32_i8 portable_rms_norm_quantize_f32_i8
#define partita_rms_norm_quantize_f32_u8 portable_rms_norm_quantize_f32_u8

#include "../../../kernels/norm.c"
