#include "gemm_blocks.h"

/*
 * i32 sums of a block: with constant rows and columns, the loops unroll and the sums stay in registers, as they're
 * copied to where no pointer leads: one to bytes may point anywhere. Products of integers wrap as unsigned ones do.
 */
#define MULTIPLY(NAME, LEFT, RIGHT)                                                                                    \
    static inline __attribute__((always_inline)) void NAME(const struct partita_gemm *gemm,                            \
                                                           struct partita_block block, int32_t rows, int32_t columns,  \
                                                           uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                \
    {                                                                                                                  \
        const LEFT *left = (const LEFT *)gemm->left + block.batch * gemm->left_batch + block.row * gemm->left_row;     \
        const RIGHT *right = (const RIGHT *)gemm->right + block.batch / gemm->group * gemm->right_batch +              \
                             block.column * gemm->right_column;                                                        \
        uint32_t own[PARTITA_BLOCK][PARTITA_BLOCK];                                                                    \
        for (int32_t i = 0; i < rows; i++) {                                                                           \
            for (int32_t j = 0; j < columns; j++) {                                                                    \
                own[i][j] = sums[i][j];                                                                                \
            }                                                                                                          \
        }                                                                                                              \
        for (int32_t l = 0; l < gemm->k; l++) {                                                                        \
            for (int32_t i = 0; i < rows; i++) {                                                                       \
                for (int32_t j = 0; j < columns; j++) {                                                                \
                    const int32_t x = left[i * gemm->left_row];                                                        \
                    const int32_t y = right[j * gemm->right_column];                                                   \
                    own[i][j] += (uint32_t)x * (uint32_t)y;                                                            \
                }                                                                                                      \
            }                                                                                                          \
            left += gemm->left_column;                                                                                 \
            right += gemm->right_row;                                                                                  \
        }                                                                                                              \
        for (int32_t i = 0; i < rows; i++) {                                                                           \
            for (int32_t j = 0; j < columns; j++) {                                                                    \
                sums[i][j] = own[i][j];                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }

static inline int32_t *result(const struct partita_gemm *gemm, struct partita_block block, int32_t row)
{
    return (int32_t *)gemm->out + block.batch * gemm->out_batch + (block.row + row) * gemm->out_row + block.column;
}

static inline void begin(const struct partita_gemm *gemm, struct partita_block block,
                         uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])
{
    for (int32_t i = 0; i < block.rows; i++) {
        const int32_t *out = result(gemm, block, i);
        for (int32_t j = 0; j < block.columns; j++) {
            sums[i][j] = gemm->accumulate ? (uint32_t)out[j] : 0;
        }
    }
}

static inline void add_bias(const struct partita_gemm *gemm, struct partita_block block,
                            uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])
{
    const int32_t *bias = gemm->bias;
    for (int32_t i = 0; i < block.rows && bias != 0; i++) {
        for (int32_t j = 0; j < block.columns; j++) {
            sums[i][j] += (uint32_t)bias[block.column + j];
        }
    }
}

static inline void finish(const struct partita_gemm *gemm, struct partita_block block,
                          uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])
{
    add_bias(gemm, block, sums);
    for (int32_t i = 0; i < block.rows; i++) {
        int32_t *out = result(gemm, block, i);
        for (int32_t j = 0; j < block.columns; j++) {
            out[j] = (int32_t)sums[i][j];
        }
    }
}

#define GEMM(TYPES, LEFT, RIGHT)                                                                                       \
    MULTIPLY(multiply_##TYPES, LEFT, RIGHT)                                                                            \
                                                                                                                       \
    static void block_##TYPES(const struct partita_gemm *gemm, struct partita_block block,                             \
                              uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                                             \
    {                                                                                                                  \
        if (block.rows == PARTITA_BLOCK && block.columns == PARTITA_BLOCK) {                                           \
            multiply_##TYPES(gemm, block, PARTITA_BLOCK, PARTITA_BLOCK, sums);                                         \
        } else if (block.rows == 1 && block.columns == PARTITA_BLOCK) {                                                \
            multiply_##TYPES(gemm, block, 1, PARTITA_BLOCK, sums);                                                     \
        } else {                                                                                                       \
            multiply_##TYPES(gemm, block, block.rows, block.columns, sums);                                            \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void partita_gemm_##TYPES(const void *arguments, int32_t core, int32_t cores)                                      \
    {                                                                                                                  \
        const struct partita_gemm *gemm = arguments;                                                                   \
        const struct partita_range share = partita_share(partita_blocks(gemm), 1, core, cores);                        \
        for (int32_t number = share.from; number < share.to; number++) {                                               \
            const struct partita_block block = partita_block(gemm, number);                                            \
            uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK];                                                               \
            begin(gemm, block, sums);                                                                                  \
            block_##TYPES(gemm, block, sums);                                                                          \
            finish(gemm, block, sums);                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void partita_gemv_##TYPES(const void *arguments, int32_t core, int32_t cores)                                      \
    {                                                                                                                  \
        partita_gemm_##TYPES(arguments, core, cores);                                                                  \
    }

GEMM(i8_i8, int8_t, int8_t)
GEMM(i8_u8, int8_t, uint8_t)
GEMM(u8_i8, uint8_t, int8_t)
GEMM(u8_u8, uint8_t, uint8_t)
GEMM(i16_i8, int16_t, int8_t)
GEMM(i16_i16, int16_t, int16_t)
GEMM(i32_i8, int32_t, int8_t)
GEMM(i32_u8, int32_t, uint8_t)
GEMM(i32_i32, int32_t, int32_t)

static inline int64_t requantized(const struct partita_gemm_requantize *requantize, int32_t row, int32_t column,
                                  int32_t sum)
{
    const int32_t multiplier =
        requantize->multiplier[row * requantize->multiplier_row + column * requantize->multiplier_column];
    const int32_t addend = requantize->addend[row * requantize->addend_row + column * requantize->addend_column];
    return partita_requantized(sum, multiplier, addend, requantize->shift, requantize->low, requantize->high);
}

#define GEMM_REQUANTIZE(TYPES, OUT_TYPE, OUT)                                                                          \
    void partita_gemm_requantize_##TYPES##_##OUT_TYPE(const void *arguments, int32_t core, int32_t cores)              \
    {                                                                                                                  \
        const struct partita_gemm_requantize *requantize = arguments;                                                  \
        const struct partita_gemm *gemm = &requantize->gemm;                                                           \
        const struct partita_range share = partita_share(partita_blocks(gemm), 1, core, cores);                        \
        for (int32_t number = share.from; number < share.to; number++) {                                               \
            const struct partita_block block = partita_block(gemm, number);                                            \
            uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK] = {{0}};                                                       \
            block_##TYPES(gemm, block, sums);                                                                          \
            add_bias(gemm, block, sums);                                                                               \
            for (int32_t i = 0; i < block.rows; i++) {                                                                 \
                const int32_t row = block.row + i;                                                                     \
                OUT *out = (OUT *)gemm->out + block.batch * gemm->out_batch + row * gemm->out_row + block.column;      \
                for (int32_t j = 0; j < block.columns; j++) {                                                          \
                    out[j] = (OUT)requantized(requantize, row, block.column + j, (int32_t)sums[i][j]);                 \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

GEMM_REQUANTIZE(i8_i8, i8, int8_t)
GEMM_REQUANTIZE(i8_i8, u8, uint8_t)
GEMM_REQUANTIZE(u8_i8, i8, int8_t)
GEMM_REQUANTIZE(u8_i8, u8, uint8_t)
