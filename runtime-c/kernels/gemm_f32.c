#include "gemm_blocks.h"

/* The rows of most blocks: 24 sums, and what they need, fit the registers. */
enum { PARTITA_TALL = 6 };

/* What is contiguous besides the rows of left: the rows of right, or its columns. */
enum { PARTITA_BY_ROWS, PARTITA_BY_COLUMNS };

/* The operands of a block: pointers to its rows of left, and to its columns of right or (only the first) its next row. */
struct operands {
    const float *left[PARTITA_TALL];
    const float *right[PARTITA_BLOCK];
};

/*
 * Adds the next count / terms * terms products of each of rows x 4 sums, and advances. All but the pointers, `count` and
 * `stride`, which is that of the rows of right, are constant, so that the sums stay in registers and addresses are
 * constant offsets. Loads are between products, and before what needs them: two cores share a unit of floats, which takes
 * a product of one while the other loads.
 */
PARTITA_INLINE void add_products(struct operands *at, int32_t stride, int32_t count, int32_t terms, int32_t rows,
                                 int32_t layout, float sums[][PARTITA_BLOCK])
{
    for (; count >= terms; count -= terms) {
        float y[PARTITA_BLOCK];
        PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
            y[j] = layout == PARTITA_BY_ROWS ? at->right[0][j] : at->right[j][0];
        }
        float next = at->left[0][0];
        PARTITA_UNROLLED (int32_t term = 0; term < terms; term++) {
            if (layout == PARTITA_BY_ROWS) {
                at->right[0] += stride;
            }
            PARTITA_UNROLLED (int32_t i = 0; i < rows; i++) {
                const float x = next;
                sums[i][0] += x * y[0];
                if (i + 1 < rows) {
                    next = at->left[i + 1][term];
                } else if (term + 1 < terms) {
                    next = at->left[0][term + 1];
                }
                PARTITA_UNROLLED (int32_t j = 1; j <= PARTITA_BLOCK; j++) {
                    if (i + 1 == rows && term + 1 < terms) {
                        y[j - 1] = layout == PARTITA_BY_ROWS ? at->right[0][j - 1] : at->right[j - 1][term + 1];
                    }
                    if (j < PARTITA_BLOCK) {
                        sums[i][j] += x * y[j];
                    }
                }
                if (term + 1 == terms) {
                    at->left[i] += terms;
                }
            }
        }
        if (layout == PARTITA_BY_COLUMNS) {
            PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
                at->right[j] += terms;
            }
        }
    }
}

/* `rows` (6, 4 or 1) by whole blocks of four columns, one after the other. */
PARTITA_INLINE void multiply(const struct partita_gemm *gemm, const struct partita_block *block, int32_t rows,
                             int32_t layout)
{
    const float *left = (const float *)gemm->left + block->batch * gemm->left_batch + block->row * gemm->left_row;
    const float *right = (const float *)gemm->right + partita_right_matrix(gemm, block->batch) +
                         block->column * gemm->right_column;
    const float *bias = gemm->bias == 0 ? 0 : (const float *)gemm->bias + block->column;
    float *out = (float *)gemm->out + block->batch * gemm->out_batch + block->row * gemm->out_row + block->column;
    const int32_t terms = rows == PARTITA_TALL ? 3 : 4; /* a core's own instruction cache has 512 bytes */
    for (int32_t blocks = block->columns / PARTITA_BLOCK; blocks > 0; blocks--) {
        float sums[PARTITA_TALL][PARTITA_BLOCK];
        float *row = out;
        if (gemm->accumulate) {
            PARTITA_UNROLLED (int32_t i = 0; i < rows; i++) {
                PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
                    sums[i][j] = row[j];
                }
                row += gemm->out_row;
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
        add_products(&at, gemm->right_row, gemm->k, terms, rows, layout, sums);
        add_products(&at, gemm->right_row, gemm->k % terms, 1, rows, layout, sums);
        if (bias != 0) {
            PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
                const float shift = bias[j];
                PARTITA_UNROLLED (int32_t i = 0; i < rows; i++) {
                    sums[i][j] += shift;
                }
            }
            bias += PARTITA_BLOCK;
        }
        row = out;
        PARTITA_UNROLLED (int32_t i = 0; i < rows; i++) {
            PARTITA_UNROLLED (int32_t j = 0; j < PARTITA_BLOCK; j++) {
                row[j] = sums[i][j];
            }
            row += gemm->out_row;
        }
        right += PARTITA_BLOCK * gemm->right_column;
        out += PARTITA_BLOCK;
    }
}

/* Registers have the sums: compilers neither keep an address for each, nor change the order of loads and products. */
#if defined(__GNUC__) && !defined(__clang__)
#define MULTIPLIER __attribute__((noinline, optimize("O2", "no-schedule-insns", "no-schedule-insns2", "no-tree-pre")))
#else
#define MULTIPLIER __attribute__((noinline))
#endif

#define MULTIPLY(NAME, ROWS, LAYOUT)                                                                                   \
    static MULTIPLIER void NAME(const struct partita_gemm *gemm, const struct partita_block *block)                    \
    {                                                                                                                  \
        multiply(gemm, block, ROWS, LAYOUT);                                                                           \
    }

MULTIPLY(multiply_6_by_rows, PARTITA_TALL, PARTITA_BY_ROWS)
MULTIPLY(multiply_6_by_columns, PARTITA_TALL, PARTITA_BY_COLUMNS)
MULTIPLY(multiply_4_by_rows, PARTITA_BLOCK, PARTITA_BY_ROWS)
MULTIPLY(multiply_4_by_columns, PARTITA_BLOCK, PARTITA_BY_COLUMNS)
MULTIPLY(multiply_1_by_rows, 1, PARTITA_BY_ROWS)
MULTIPLY(multiply_1_by_columns, 1, PARTITA_BY_COLUMNS)

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

/* One row after the other. */
static void multiply_rows(const struct partita_gemm *gemm, struct partita_block block, int32_t by_rows)
{
    for (int32_t rows = block.rows; rows > 0; rows--) {
        if (by_rows) {
            multiply_1_by_rows(gemm, &block);
        } else {
            multiply_1_by_columns(gemm, &block);
        }
        block.row++;
    }
}

/* Any number of columns, in whole blocks but for the last ones of the matrix. */
static inline void multiply_columns(const struct partita_gemm *gemm, struct partita_block block)
{
    const int32_t by_rows = gemm->right_column == 1;
    const int32_t columns = block.columns;
    block.columns = gemm->left_column == 1 && (by_rows || gemm->right_row == 1) ? columns & -PARTITA_BLOCK : 0;
    if (block.columns > 0) {
        if (block.rows < PARTITA_BLOCK) {
            multiply_rows(gemm, block, by_rows);
        } else if (block.rows == PARTITA_TALL) {
            if (by_rows) {
                multiply_6_by_rows(gemm, &block);
            } else {
                multiply_6_by_columns(gemm, &block);
            }
        } else if (by_rows) {
            multiply_4_by_rows(gemm, &block);
        } else {
            multiply_4_by_columns(gemm, &block);
        }
    }
    if (block.columns < columns) {
        block.column += block.columns;
        block.columns = columns - block.columns;
        multiply_any(gemm, &block);
    }
}

/* The rows of the next block of the `rows` that are left: at most `most`, and so that few blocks of one row follow. */
static inline int32_t height(int32_t rows, int32_t most)
{
    const int32_t rest = rows % PARTITA_TALL;
    if (most < PARTITA_TALL || rows < PARTITA_TALL || (rows > PARTITA_TALL && (rest == 2 || rest == 3))) {
        return partita_at_most_a_block(rows);
    }
    return PARTITA_TALL;
}

/* From so many blocks of four rows for each core on, blocks of six are worth it: one more for some cores is little. */
enum { PARTITA_MANY = 16 };

/* Cores share the blocks: each has consecutive ones, along rows first. */
void partita_gemm_f32(const void *arguments, int32_t core, int32_t cores)
{
    const struct partita_gemm *gemm = arguments;
    const int32_t width = (gemm->n + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
    int32_t down = (gemm->m + PARTITA_BLOCK - 1) / PARTITA_BLOCK;
    int32_t most = PARTITA_BLOCK;
    if (gemm->batch * down * width >= PARTITA_MANY * cores) {
        most = PARTITA_TALL;
        down = 0;
        for (int32_t row = 0; row < gemm->m; row += height(gemm->m - row, most)) {
            down++;
        }
    }
    const struct partita_range share = partita_share(gemm->batch * down * width, 1, core, cores);
    int32_t before = share.from;
    int32_t left = share.to - share.from;
    for (int32_t batch = 0; left > 0; batch++) {
        int32_t rows;
        for (int32_t row = 0; row < gemm->m && left > 0; row += rows) {
            rows = height(gemm->m - row, most);
            if (before >= width) {
                before -= width;
                continue;
            }
            const int32_t blocks = left < width - before ? left : width - before;
            const int32_t column = before * PARTITA_BLOCK;
            const int32_t rest = gemm->n - column;
            const int32_t columns = rest < blocks * PARTITA_BLOCK ? rest : blocks * PARTITA_BLOCK;
            multiply_columns(gemm, (struct partita_block){batch, row, column, rows, columns});
            before = 0;
            left -= blocks;
        }
    }
}

void partita_gemv_f32(const void *arguments, int32_t core, int32_t cores)
{
    partita_gemm_f32(arguments, core, cores);
}
