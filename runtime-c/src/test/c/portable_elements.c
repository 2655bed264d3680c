/* Functions of elements and joins in their portable form, under other names, beside those with XpulpV2 instructions. */
#undef PARTITA_XPULP
#define partita_relu_f32 portable_relu_f32
#define partita_add_i32 portable_add_i32
#define partita_sub_i32 portable_sub_i32
#define partita_mul_i32 portable_mul_i32
#define partita_min_i32 portable_min_i32
#define partita_max_i32 portable_max_i32
#define partita_add_f32 portable_add_f32
#define partita_sub_f32 portable_sub_f32
#define partita_mul_f32 portable_mul_f32
#define partita_join_add_f64 portable_join_add_f64
#define partita_join_max_f64 portable_join_max_f64
#define partita_join_min_f64 portable_join_min_f64
#define partita_join_add_f32 portable_join_add_f32
#define partita_join_max_f32 portable_join_max_f32
#define partita_join_min_f32 portable_join_min_f32
#define partita_join_add_f16 portable_join_add_f16
#define partita_join_max_f16 portable_join_max_f16
#define partita_join_min_f16 portable_join_min_f16
#define partita_join_add_bf16 portable_join_add_bf16
#define partita_join_max_bf16 portable_join_max_bf16
#define partita_join_min_bf16 portable_join_min_bf16
#define partita_join_add_i64 portable_join_add_i64
#define partita_join_max_i64 portable_join_max_i64
#define partita_join_min_i64 portable_join_min_i64
#define partita_join_add_u64 portable_join_add_u64
#define partita_join_max_u64 portable_join_max_u64
#define partita_join_min_u64 portable_join_min_u64
#define partita_join_add_i32 portable_join_add_i32
#define partita_join_max_i32 portable_join_max_i32
#define partita_join_min_i32 portable_join_min_i32
#define partita_join_add_i8 portable_join_add_i8
#define partita_join_max_i8 portable_join_max_i8
#define partita_join_min_i8 portable_join_min_i8
#define partita_join_add_u8 portable_join_add_u8
#define partita_join_max_u8 portable_join_max_u8
#define partita_join_min_u8 portable_join_min_u8

#include "../../../kernels/unary_relu.c"
#include "../../../kernels/binary_words.c"
#include "../../../collectives/join.c"
