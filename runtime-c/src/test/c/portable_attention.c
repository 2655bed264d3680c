/* The kernels of attention of bytes in their portable form, under other names, beside those with XpulpV2 instructions. */
#undef PARTITA_XPULP
#define partita_attention_scores_i8 portable_attention_scores_i8
#define partita_attention_weights_u8 portable_attention_weights_u8
#define partita_attention_values_i8 portable_attention_values_i8
#define partita_attention_turn_i8 portable_attention_turn_i8
#define partita_attention_turned_values_i8 portable_attention_turned_values_i8

#include "../../../kernels/integer_attention_scores.c"
#include "../../../kernels/integer_attention_values.c"
#include "../../../kernels/integer_attention_weights.c"
