#include "gemm_blocks.h"

/* What is contiguous besides the rows of left: the rows of right, or its columns. */
enum { PARTITA_BY_ROWS, PARTITA_BY_COLUMNS };

/* The operands of a block: pointers to its rows of left, and to its columns of right or (only the first) its next row. */
struct operands {
    const float *left[PARTITA_BLOCK];
    const float *right[PARTITA_BLOCK];
};

/*
 * Adds the next count / terms * terms products of each of rows x 4 sums, and advances. All but the pointers, `count` and
 * `stride`, which is that of the rows of right, are constant, so that the sums stay in registers and addresses are
 * constant offsets.
 */
static inline __attribute__((always_inline)) void add_products(struct operands *at, int32_t stride, int32_t count,
                                                               int32_t terms, int32_t rows, int32_t layout,
                                                               float sums[][PARTITA_BLOCK])
{
    for (; count >= terms; count -= terms) {
        PARTITA_UNROLLED (int32_t term = 0; term < terms; term++) {
            float y[PARTITA_BLOCK];
            PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
                y[j] = layout == PARTITA_BY_ROWS ? at->right[0][j] : at->right[j][term];
            }
            if (layout == PARTITA_BY_ROWS) {
                at->right[0] += stride;
            }
            PARTITA_UNROLLED (int32_t i = 0; i < rows; i++) {
                const float x = at->left[i][term];
                PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
                    sums[i][j] += x * y[j];
                }
            }
        }
        PARTITA_UNROLLED (int32_t i = 0; i < rows; i++) {
            at->left[i] += terms;
        }
        if (layout == PARTITA_BY_COLUMNS) {
            PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
                at->right[j] += terms;
            }
        }
    }
}

/* A block of `rows` (4 or 1) by four columns. */
static inline __attribute__((always_inline)) void multiply(const struct partita_gemm *gemm,
                                                           const struct partita_block *block, int32_t rows,
                                                           int32_t layout)
{
    const float *left = (const float *)gemm->left + block->batch * gemm->left_batch + block->row * gemm->left_row;
    const float *right = (const float *)gemm->right + partita_right_matrix(gemm, block->batch) +
                         block->column * gemm->right_column;
    float *out = (float *)gemm->out + block->batch * gemm->out_batch + block->row * gemm->out_row + block->column;
    float sums[PARTITA_BLOCK][PARTITA_BLOCK];
    if (gemm->accumulate) {
        PARTITA_UNROLLED (int32_t i = 0; i < rows; i++) {
            PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
                sums[i][j] = out[i * gemm->out_row + j];
            }
        }
    } else {
        PARTITA_UNROLLED (int32_t i = 0; i < rows; i++) {
            PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
                sums[i][j] = 0.0f;
            }
        }
    }
    struct operands at;
    PARTITA_UNROLLED (int32_t i = 0; i < rows; i++) {
        at.left[i] = left + i * gemm->left_row;
    }
    PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
        at.right[j] = right + j * gemm->right_column;
    }
    add_products(&at, gemm->right_row, gemm->k, 4, rows, layout, sums);
    add_products(&at, gemm->right_row, gemm->k & 3, 1, rows, layout, sums);
    if (gemm->bias != 0) {
        const float *bias = (const float *)gemm->bias + block->column;
        PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
            const float shift = bias[j];
            PARTITA_UNROLLED (int32_t i = 0; i < rows; i++) {
                sums[i][j] += shift;
            }
        }
    }
    PARTITA_UNROLLED (int32_t i = 0; i < rows; i++) {
        PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
            out[i * gemm->out_row + j] = sums[i][j];
        }
    }
}

#define MULTIPLY(NAME, ROWS, LAYOUT)                                                                                   \
    static PARTITA_COMPACT void NAME(const struct partita_gemm *gemm, const struct partita_block *block)               \
    {                                                                                                                  \
        multiply(gemm, block, ROWS, LAYOUT);                                                                           \
    }

MULTIPLY(multiply_block_by_rows, PARTITA_BLOCK, PARTITA_BY_ROWS)
MULTIPLY(multiply_block_by_columns, PARTITA_BLOCK, PARTITA_BY_COLUMNS)
MULTIPLY(multiply_row_by_rows, 1, PARTITA_BY_ROWS)
MULTIPLY(multiply_row_by_columns, 1, PARTITA_BY_COLUMNS)

/* A block of any extents and layout. */
static PARTITA_COMPACT void multiply_any(const struct partita_gemm *gemm, const struct partita_block *block)
{
    const float *left = (const float *)gemm->left + block->batch * gemm->left_batch + block->row * gemm->left_row;
    const float *right = (const float *)gemm->right + partita_right_matrix(gemm, block->batch) +
                         block->column * gemm->right_column;
    const float *bias = (const float *)gemm->bias + block->column;
    float *out = (float *)gemm->out + block->batch * gemm->out_batch + block->row * gemm->out_row + block->column;
    for (int32_t j = 0; j < block->columns; j++) {
        for (int32_t i = 0; i < block->rows; i++) {
            const float *x = left + i * gemm->left_row;
            const float *y = right + j * gemm->right_column;
            float sum = gemm->accumulate ? out[i * gemm->out_row + j] : 0.0f;
            for (int32_t l = gemm->k; l > 0; l--) {
                sum += *x * *y;
                x += gemm->left_column;
                y += gemm->right_row;
            }
            out[i * gemm->out_row + j] = gemm->bias == 0 ? sum : sum + bias[j];
        }
    }
}

/* One row of a block after the other. */
static void multiply_rows(const struct partita_gemm *gemm, struct partita_block block, int32_t by_rows)
{
    for (int32_t rows = block.rows; rows > 0; rows--) {
        if (by_rows) {
            multiply_row_by_rows(gemm, &block);
        } else {
            multiply_row_by_columns(gemm, &block);
        }
        block.row++;
    }
}

static inline void multiply_block(const struct partita_gemm *gemm, const struct partita_block *block)
{
    const int32_t by_rows = gemm->right_column == 1;
    if (block->columns < PARTITA_BLOCK || gemm->left_column != 1 || !(by_rows || gemm->right_row == 1)) {
        multiply_any(gemm, block);
    } else if (block->rows < PARTITA_BLOCK) {
        multiply_rows(gemm, *block, by_rows);
    } else if (by_rows) {
        multiply_block_by_rows(gemm, block);
    } else {
        multiply_block_by_columns(gemm, block);
    }
}

void partita_gemm_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_gemm *gemm = arguments;
    struct partita_block block = partita_first_block(gemm, core);
    for (; block.batch < gemm->batch; partita_advance(gemm, &block, cores)) {
        multiply_block(gemm, &block);
    }
}

void partita_gemv_f32(const void *arguments, int32_t core, int32_t cores)
{
    partita_gemm_f32(arguments, core, cores);
}
