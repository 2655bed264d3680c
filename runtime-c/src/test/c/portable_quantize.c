/* Quantization of floats in its portable form, under other names, beside that with XpulpV2 instructions. */
#undef PARTITA_XPULP
#define partita_quantize_f32_i8 portable_quantize_f32_i8
#define partita_quantize_f32_u8 portable_quantize_f32_u8
#define partita_quantize_f32_i16 portable_quantize_f32_i16
#define partita_quantize_f32_u16 portable_quantize_f32_u16
#define partita_quantize_f32_i32 portable_quantize_f32_i32
#define partita_dequantize_i8_f32 portable_dequantize_i8_f32
#define partita_dequantize_u8_f32 portable_dequantize_u8_f32
#define partita_dequantize_i16_f32 portable_dequantize_i16_f32
#define partita_dequantize_u16_f32 portable_dequantize_u16_f32
#define partita_dequantize_i32_f32 portable_dequantize_i32_f32
#define partita_level portable_level

#include "../../../kernels/levels.c"
#include "../../../kernels/quantize.c"
