#include "gemm_blocks.h"

/* With constant rows and columns, the loops unroll and the sums stay in registers. */
static inline __attribute__((always_inline)) void multiply(const struct partita_gemm *gemm, struct partita_block block,
                                                           int32_t rows, int32_t columns)
{
    const float *left = (const float *)gemm->left + block.batch * gemm->left_batch + block.row * gemm->left_row;
    const float *right = (const float *)gemm->right + partita_right_matrix(gemm, block.batch) + block.column * gemm->right_column;
    const float *bias = gemm->bias;
    float *out = (float *)gemm->out + block.batch * gemm->out_batch + block.row * gemm->out_row + block.column;
    float sums[PARTITA_BLOCK][PARTITA_BLOCK];
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < columns; j++) {
            sums[i][j] = gemm->accumulate ? out[i * gemm->out_row + j] : 0.0f;
        }
    }
    for (int32_t l = 0; l < gemm->k; l++) {
        for (int32_t i = 0; i < rows; i++) {
            for (int32_t j = 0; j < columns; j++) {
                sums[i][j] += left[i * gemm->left_row] * right[j * gemm->right_column];
            }
        }
        left += gemm->left_column;
        right += gemm->right_row;
    }
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < columns; j++) {
            out[i * gemm->out_row + j] = bias == 0 ? sums[i][j] : sums[i][j] + bias[block.column + j];
        }
    }
}

void partita_gemm_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_gemm *gemm = arguments;
    struct partita_block block = partita_first_block(gemm, core);
    for (; block.batch < gemm->batch; partita_advance(gemm, &block, cores)) {
        if (block.rows == PARTITA_BLOCK && block.columns == PARTITA_BLOCK) {
            multiply(gemm, block, PARTITA_BLOCK, PARTITA_BLOCK);
        } else if (block.rows == 1 && block.columns == PARTITA_BLOCK) {
            multiply(gemm, block, 1, PARTITA_BLOCK);
        } else {
            multiply(gemm, block, block.rows, block.columns);
        }
    }
}

void partita_gemv_f32(const void *arguments, int32_t core, int32_t cores)
{
    partita_gemm_f32(arguments, core, cores);
}
