#include "gemm_bytes.h"
#include "gemm_requantized.h"
#include "gemm_sums.h"
#include "gemm_turned.h"
#include "gemm_walk.h"

/*
 * i32 sums of a block over the inner extent from `from` on: with constant rows and columns, the loops unroll and the
 * sums stay in registers, since they are copied to a local that no pointer aliases (a byte pointer may alias anything).
 * Products wrap, as unsigned arithmetic does.
 */
#define MULTIPLY(NAME, LEFT, RIGHT)                                                                                    \
    PARTITA_INLINE void NAME(const struct partita_gemm *gemm, struct partita_block block, int32_t from, int32_t rows,  \
                             int32_t columns, uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                             \
    {                                                                                                                  \
        const LEFT *left = (const LEFT *)gemm->left + block.batch * gemm->left_batch + block.row * gemm->left_row +    \
                           from * gemm->left_column;                                                                   \
        const RIGHT *right = (const RIGHT *)gemm->right + partita_right_matrix(gemm, block.batch) +                    \
                             block.column * gemm->right_column + from * gemm->right_row;                               \
        uint32_t own[PARTITA_BLOCK][PARTITA_BLOCK];                                                                    \
        for (int32_t i = 0; i < rows; i++) {                                                                           \
            for (int32_t j = 0; j < columns; j++) {                                                                    \
                own[i][j] = sums[i][j];                                                                                \
            }                                                                                                          \
        }                                                                                                              \
        for (int32_t l = from; l < gemm->k; l++) {                                                                     \
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

static inline void clear(uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])
{
    for (int32_t i = 0; i < PARTITA_BLOCK; i++) {
        for (int32_t j = 0; j < PARTITA_BLOCK; j++) {
            sums[i][j] = 0;
        }
    }
}

#define BLOCK(TYPES, LEFT, RIGHT)                                                                                      \
    MULTIPLY(multiply_##TYPES, LEFT, RIGHT)                                                                            \
                                                                                                                       \
    static __attribute__((noinline)) void rest_##TYPES(const struct partita_gemm *gemm, struct partita_block block,    \
                                                       int32_t from, uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])      \
    {                                                                                                                  \
        if (from == 0) {                                                                                               \
            clear(sums);                                                                                               \
        }                                                                                                              \
        if (block.rows == PARTITA_BLOCK && block.columns == PARTITA_BLOCK) {                                           \
            multiply_##TYPES(gemm, block, from, PARTITA_BLOCK, PARTITA_BLOCK, sums);                                   \
        } else if (block.rows == 1 && block.columns == PARTITA_BLOCK) {                                                \
            multiply_##TYPES(gemm, block, from, 1, PARTITA_BLOCK, sums);                                               \
        } else {                                                                                                       \
            multiply_##TYPES(gemm, block, from, block.rows, block.columns, sums);                                      \
        }                                                                                                              \
    }

#define BLOCK_OF_WIDE(TYPES, LEFT, RIGHT)                                                                              \
    BLOCK(TYPES, LEFT, RIGHT)                                                                                          \
                                                                                                                       \
    static inline void block_##TYPES(const struct partita_gemm *gemm, const struct walk *walk,                         \
                                     uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                                      \
    {                                                                                                                  \
        rest_##TYPES(gemm, walk->block, 0, sums);                                                                      \
        add_bias(gemm, &walk->block, sums[0]);                                                                         \
    }

/*
 * How far a block with fewer than four rows or columns has to be moved back for four, among which are its own; 0 if there
 * aren't as many.
 */
static inline int32_t missing(int32_t own, int32_t all)
{
    return own < PARTITA_BLOCK && all >= PARTITA_BLOCK ? PARTITA_BLOCK - own : 0;
}

/* Moves the last sums of a block that was moved back to the start. */
static __attribute__((noinline)) void narrow(struct partita_block block, int32_t up, int32_t back,
                                             uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])
{
    for (int32_t i = 0; i < block.rows; i++) {
        for (int32_t j = 0; j < block.columns; j++) {
            sums[i][j] = sums[i + up][j + back];
        }
    }
}

#define BLOCK_OF_BYTES(TYPES, LEFT, RIGHT, DOT, INSTRUCTION)                                                           \
    BLOCK(TYPES, LEFT, RIGHT)                                                                                          \
    PARTITA_MULTIPLY_BLOCKS(whole_##TYPES, DOT, INSTRUCTION)                                                           \
    PARTITA_MULTIPLY_ROW(row_##TYPES, DOT, INSTRUCTION)                                                                \
    PARTITA_MULTIPLY_PAIR(pair_##TYPES, DOT, INSTRUCTION)                                                              \
    PARTITA_MULTIPLY_TURNED_BLOCK(turned_4_##TYPES, DOT, INSTRUCTION)                                                 \
    PARTITA_MULTIPLY_TURNED_ROW(turned_1_##TYPES, DOT, INSTRUCTION)                                                    \
                                                                                                                       \
    /* The sums of a block that was moved back. */                                                                     \
    static inline void fast_##TYPES(const struct partita_gemm *gemm, const uint8_t *left, const uint8_t *right,        \
                                    int32_t rows, int32_t first, int32_t count,                                        \
                                    uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                                       \
    {                                                                                                                  \
        const int32_t left_row = gemm->left_row;                                                                       \
        const int32_t stride = gemm->right_column;                                                                     \
        if (gemm->right_row != 1) {                                                                                    \
            for (int32_t i = 0; i < rows; i += rows == PARTITA_BLOCK ? rows : 1) {                                     \
                if (rows == PARTITA_BLOCK) {                                                                           \
                    turned_4_##TYPES(left, left_row, right, gemm->right_row, count, sums);                             \
                } else {                                                                                               \
                    turned_1_##TYPES(left + i * left_row, left_row, right, gemm->right_row, count, sums + i);          \
                }                                                                                                      \
            }                                                                                                          \
        } else if (rows == PARTITA_BLOCK && left_row == stride) {                                                      \
            const int32_t zeros[PARTITA_BLOCK] = {0};                                                                  \
            whole_##TYPES(left, right, stride, count, zeros, (int32_t *)sums[0], PARTITA_BLOCK, 1);                    \
        } else {                                                                                                       \
            for (int32_t i = 0; i < rows; i++) {                                                                       \
                row_##TYPES(left, right, stride, first, count, 0, sums[i], PARTITA_BLOCK);                             \
                left += left_row;                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* The sums of any block. */                                                                                       \
    static __attribute__((noinline)) void block_##TYPES(const struct partita_gemm *gemm, const struct walk *walk,      \
                                                        uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                   \
    {                                                                                                                  \
        struct partita_block block = walk->block;                                                                      \
        const int32_t count = gemm->k / 4;                                                                             \
        if (gemm->left_column != 1 || (gemm->right_row != 1 && gemm->right_column != 1) || gemm->n < PARTITA_BLOCK ||  \
            count == 0) {                                                                                              \
            rest_##TYPES(gemm, block, 0, sums);                                                                        \
        } else {                                                                                                       \
            const int32_t up = missing(block.rows, gemm->m);                                                           \
            const int32_t back = missing(block.columns, gemm->n);                                                      \
            const uint8_t *left = (const uint8_t *)gemm->left + walk->left - up * gemm->left_row;                      \
            const uint8_t *right = (const uint8_t *)gemm->right + walk->right - back * gemm->right_column;             \
            fast_##TYPES(gemm, left, right, block.rows + up, walk->first, count, sums);                                \
            if (count * 4 < gemm->k) {                                                                                 \
                block.row -= up;                                                                                       \
                block.rows += up;                                                                                      \
                block.column -= back;                                                                                  \
                block.columns = PARTITA_BLOCK;                                                                         \
                rest_##TYPES(gemm, block, count * 4, sums);                                                            \
            }                                                                                                          \
            if ((up | back) != 0) {                                                                                    \
                narrow(walk->block, up, back, sums);                                                                   \
            }                                                                                                          \
        }                                                                                                              \
        add_bias(gemm, &walk->block, sums[0]);                                                                         \
    }                                                                                                                  \
                                                                                                                       \
    /* The sums of whole blocks of a column. */                                                                        \
    static inline void whole_blocks_##TYPES(const struct partita_gemm *gemm, const struct walk *walk, int32_t blocks,  \
                                            int32_t *out, int32_t out_row)                                             \
    {                                                                                                                  \
        const int32_t zeros[PARTITA_BLOCK] = {0};                                                                      \
        const int32_t *begin = gemm->bias == 0 ? zeros : (const int32_t *)gemm->bias + walk->block.column;             \
        whole_##TYPES((const uint8_t *)gemm->left + walk->left, (const uint8_t *)gemm->right + walk->right,            \
                      gemm->left_row, gemm->k >> 2, begin, out, out_row, blocks);                                      \
    }                                                                                                                  \
                                                                                                                       \
    /* The sums of two or three rows by columns from `column` on; rows of them are `sums_row` apart. */                \
    static __attribute__((noinline)) void few_rows_##TYPES(const struct partita_gemm *gemm, int32_t column,            \
                                                           int32_t columns, int32_t first, uint32_t *sums,             \
                                                           int32_t sums_row)                                           \
    {                                                                                                                  \
        const uint8_t *left = gemm->left;                                                                              \
        const int32_t stride = gemm->right_column;                                                                     \
        const uint8_t *right = (const uint8_t *)gemm->right + column * stride;                                         \
        const int32_t *begin = gemm->bias != 0 ? (const int32_t *)gemm->bias + column : 0;                             \
        const int32_t count = gemm->k / 4;                                                                             \
        pair_##TYPES(left, gemm->left_row, right, stride, first, count, begin, sums, sums_row, columns);               \
        if (gemm->m > 2) {                                                                                             \
            left += 2 * gemm->left_row;                                                                                \
            row_##TYPES(left, right, stride, first, count, begin, sums + 2 * sums_row, columns);                       \
        }                                                                                                              \
    }

/* Whether rows and columns of a product are whole words, equally far apart. */
static int32_t is_of_words(const struct partita_gemm *gemm)
{
    return gemm->left_column == 1 && gemm->right_row == 1 && gemm->left_row == gemm->right_column && gemm->k > 0 &&
           (gemm->k & 3) == 0;
}

/* Whether a product is of one matrix in whole words of contiguous columns, and in whole blocks of them. */
static inline int32_t is_in_words(const struct partita_gemm *gemm)
{
    return gemm->batch == 1 && gemm->left_column == 1 && gemm->right_row == 1 && gemm->k > 0 &&
           ((gemm->k | gemm->n) & (PARTITA_BLOCK - 1)) == 0;
}

/* Whether it is a row by such a matrix, */
static __attribute__((noinline)) int32_t is_row(const struct partita_gemm *gemm)
{
    return gemm->m == 1 && is_in_words(gemm);
}

/* or two or three rows. */
enum { FEW_ROWS = 3 };

static __attribute__((noinline)) int32_t is_of_few_rows(const struct partita_gemm *gemm)
{
    return gemm->m > 1 && gemm->m <= FEW_ROWS && is_in_words(gemm);
}

/* How many of a core's next blocks are whole and in the same column. */
static inline int32_t whole_blocks(const struct partita_gemm *gemm, const struct walk *walk)
{
    const int32_t left = walk->block.columns < PARTITA_BLOCK ? 0 : (gemm->m - walk->block.row) / PARTITA_BLOCK;
    return left < walk->count ? left : walk->count;
}

#define GEMM_OF_BYTES(TYPES)                                                                                           \
    void partita_gemm_##TYPES(const void *arguments, int32_t core, int32_t cores)                                      \
    {                                                                                                                  \
        const struct partita_gemm *gemm = arguments;                                                                   \
        if (is_of_few_rows(gemm)) {                                                                                    \
            struct partita_range share = partita_share(gemm->n, PARTITA_BLOCK, core, cores);                           \
            const int32_t first = partita_first_word(gemm->k / 4, core);                                               \
            while (gemm->accumulate && share.from < share.to) {                                                        \
                uint32_t sums[FEW_ROWS][TOGETHER * PARTITA_BLOCK];                                                     \
                const int32_t columns = partita_min(share.to - share.from, TOGETHER * PARTITA_BLOCK);                  \
                few_rows_##TYPES(gemm, share.from, columns, first, sums[0], TOGETHER * PARTITA_BLOCK);                 \
                for (int32_t row = 0; row < gemm->m; row++) {                                                          \
                    accumulate_row((int32_t *)gemm->out + row * gemm->out_row + share.from, sums[row], columns);       \
                }                                                                                                      \
                share.from += columns;                                                                                 \
            }                                                                                                          \
            few_rows_##TYPES(gemm, share.from, share.to - share.from, first, (uint32_t *)gemm->out + share.from,       \
                             gemm->out_row);                                                                           \
            return;                                                                                                    \
        }                                                                                                              \
        const int32_t fast = is_of_words(gemm);                                                                        \
        struct walk own = walk(gemm, core, cores);                                                                     \
        while (own.count > 0) {                                                                                        \
            const int32_t whole = fast ? whole_blocks(gemm, &own) : 0;                                                 \
            if (whole > 0) {                                                                                           \
                int32_t sums[TOGETHER * PARTITA_BLOCK][PARTITA_BLOCK];                                                 \
                int32_t *out = (int32_t *)gemm->out + own.out;                                                         \
                const int32_t blocks = gemm->accumulate ? partita_min(whole, TOGETHER) : whole;                        \
                whole_blocks_##TYPES(gemm, &own, blocks, gemm->accumulate ? sums[0] : out,                             \
                                     gemm->accumulate ? PARTITA_BLOCK : gemm->out_row);                                \
                if (gemm->accumulate) {                                                                                \
                    accumulate_blocks(out, gemm->out_row, sums, blocks * PARTITA_BLOCK);                               \
                }                                                                                                      \
                advance(gemm, &own, blocks);                                                                           \
            } else {                                                                                                   \
                uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK];                                                           \
                block_##TYPES(gemm, &own, sums);                                                                       \
                store(gemm, &own, sums);                                                                               \
                advance(gemm, &own, 1);                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }

#define GEMM(TYPES)                                                                                                    \
    void partita_gemm_##TYPES(const void *arguments, int32_t core, int32_t cores)                                      \
    {                                                                                                                  \
        const struct partita_gemm *gemm = arguments;                                                                   \
        struct walk own = walk(gemm, core, cores);                                                                     \
        for (; own.count > 0; advance(gemm, &own, 1)) {                                                                \
            uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK];                                                               \
            block_##TYPES(gemm, &own, sums);                                                                           \
            store(gemm, &own, sums);                                                                                   \
        }                                                                                                              \
    }

#define GEMV(TYPES)                                                                                                    \
    void partita_gemv_##TYPES(const void *arguments, int32_t core, int32_t cores)                                      \
    {                                                                                                                  \
        partita_gemm_##TYPES(arguments, core, cores);                                                                  \
    }

/* A row by a matrix has a kernel of its own, as short as its loops are. Sums begin with the bias, or with what out holds. */
#define GEMV_OF_BYTES(TYPES)                                                                                           \
    void partita_gemv_##TYPES(const void *arguments, int32_t core, int32_t cores)                                      \
    {                                                                                                                  \
        const struct partita_gemm *gemm = arguments;                                                                   \
        if (!is_row(gemm)) {                                                                                           \
            partita_gemm_##TYPES(arguments, core, cores);                                                              \
            return;                                                                                                    \
        }                                                                                                              \
        const struct partita_range share = partita_share(gemm->n, PARTITA_BLOCK, core, cores);                         \
        const int32_t words = gemm->k / 4;                                                                             \
        const int32_t first = partita_first_word(words, core);                                                         \
        const int32_t *begin = gemm->bias != 0 ? gemm->bias : gemm->accumulate ? gemm->out : 0;                        \
        const int32_t is_finished = gemm->bias == 0 || !gemm->accumulate;                                              \
        if (is_finished) {                                                                                             \
            row_##TYPES(gemm->left, (const uint8_t *)gemm->right + share.from * gemm->right_column, gemm->right_column,\
                        first, words, begin != 0 ? begin + share.from : 0, (uint32_t *)gemm->out + share.from,         \
                        share.to - share.from);                                                                        \
            return;                                                                                                    \
        }                                                                                                              \
        for (int32_t column = share.from; column < share.to; column += PARTITA_BLOCK) {                                \
            uint32_t sums[PARTITA_BLOCK];                                                                              \
            row_##TYPES(gemm->left, (const uint8_t *)gemm->right + column * gemm->right_column, gemm->right_column,    \
                        first, words, begin + column, sums, PARTITA_BLOCK);                                            \
            accumulate_row((int32_t *)gemm->out + column, sums, PARTITA_BLOCK);                                        \
        }                                                                                                              \
    }

BLOCK_OF_BYTES(i8_i8, int8_t, int8_t, partita_sdotsp_b, "pv.sdotsp.b")
BLOCK_OF_BYTES(i8_u8, int8_t, uint8_t, partita_sdotspu_b, "pv.sdotspu.b")
BLOCK_OF_BYTES(u8_i8, uint8_t, int8_t, partita_sdotusp_b, "pv.sdotusp.b")
BLOCK_OF_BYTES(u8_u8, uint8_t, uint8_t, partita_sdotup_b, "pv.sdotup.b")
BLOCK_OF_WIDE(i16_i8, int16_t, int8_t)
BLOCK_OF_WIDE(i16_i16, int16_t, int16_t)
BLOCK_OF_WIDE(i32_i8, int32_t, int8_t)
BLOCK_OF_WIDE(i32_u8, int32_t, uint8_t)
BLOCK_OF_WIDE(i32_i32, int32_t, int32_t)

GEMM_OF_BYTES(i8_i8)
GEMM_OF_BYTES(i8_u8)
GEMM_OF_BYTES(u8_i8)
GEMM_OF_BYTES(u8_u8)
GEMM(i16_i8)
GEMM(i16_i16)
GEMM(i32_i8)
GEMM(i32_u8)
GEMM(i32_i32)

GEMV_OF_BYTES(i8_i8)
GEMV_OF_BYTES(i8_u8)
GEMV_OF_BYTES(u8_i8)
GEMV_OF_BYTES(u8_u8)
GEMV(i16_i8)
GEMV(i16_i16)
GEMV(i32_i8)
GEMV(i32_u8)
GEMV(i32_i32)

PARTITA_REQUANTIZED(i8, int8_t, "p.sb")
PARTITA_REQUANTIZED(u8, uint8_t, "p.sb")
PARTITA_REQUANTIZED(i32, int32_t, "p.sw")
PARTITA_REQUANTIZED_BYTES(i8, int8_t)
PARTITA_REQUANTIZED_BYTES(u8, uint8_t)

static inline void requantized_i32(const struct partita_gemm_requantize *requantize, const struct partita_block *block,
                                   int32_t *out, int32_t rows, const uint32_t *sums, struct partita_quad *quad)
{
    (void)quad;
    columns_i32(requantize, block, out, rows, sums);
}

/* Products of two or three rows, requantised one by one. A single row has code of its own: this takes 100 cycles more. */
#define FEW_ROWS_REQUANTIZE(TYPES, OUT_TYPE, OUT)                                                                      \
    static __attribute__((noinline)) void few_rows_requantize_##TYPES##_##OUT_TYPE(                                    \
        const struct partita_gemm_requantize *requantize, int32_t core, int32_t cores)                                 \
    {                                                                                                                  \
        const struct partita_gemm *gemm = &requantize->gemm;                                                           \
        const struct partita_range share = partita_share(gemm->n, PARTITA_BLOCK, core, cores);                         \
        const int32_t first = partita_first_word(gemm->k / 4, core);                                                   \
        const int32_t by_columns =                                                                                     \
            requantize->shift > 32 && requantize->multiplier_column == 1 && requantize->addend_column == 1;            \
        struct partita_block block = {.rows = 1, .column = share.from};                                                \
        while (block.column < share.to) {                                                                              \
            uint32_t sums[FEW_ROWS][TOGETHER * PARTITA_BLOCK];                                                         \
            block.columns = partita_min(share.to - block.column, TOGETHER * PARTITA_BLOCK);                            \
            few_rows_##TYPES(gemm, block.column, block.columns, first, sums[0], TOGETHER * PARTITA_BLOCK);             \
            for (block.row = 0; block.row < gemm->m; block.row++) {                                                    \
                OUT *out = (OUT *)gemm->out + block.row * gemm->out_row + block.column;                                \
                if (by_columns) {                                                                                      \
                    by_columns_##OUT_TYPE(                                                                             \
                        sums[block.row],                                                                               \
                        requantize->multiplier + block.row * requantize->multiplier_row + block.column,                \
                        requantize->addend + block.row * requantize->addend_row + block.column, requantize->shift,     \
                        requantize->low, requantize->high, out, block.columns);                                        \
                } else {                                                                                               \
                    columns_##OUT_TYPE(requantize, &block, out, 1, sums[block.row]);                                   \
                }                                                                                                      \
            }                                                                                                          \
            block.column += block.columns;                                                                             \
        }                                                                                                              \
    }

#define GEMM_REQUANTIZE(TYPES, OUT_TYPE, OUT)                                                                          \
    void partita_gemm_requantize_##TYPES##_##OUT_TYPE(const void *arguments, int32_t core, int32_t cores)              \
    {                                                                                                                  \
        const struct partita_gemm_requantize *requantize = arguments;                                                  \
        const struct partita_gemm *gemm = &requantize->gemm;                                                           \
        if (is_of_few_rows(gemm)) {                                                                                    \
            few_rows_requantize_##TYPES##_##OUT_TYPE(requantize, core, cores);                                         \
            return;                                                                                                    \
        }                                                                                                              \
        const int32_t fast = is_of_words(gemm);                                                                        \
        struct partita_quad quad = {.column = -1};                                                                     \
        struct walk own = walk(gemm, core, cores);                                                                     \
        while (own.count > 0) {                                                                                        \
            uint32_t sums[TOGETHER * PARTITA_BLOCK][PARTITA_BLOCK];                                                    \
            const int32_t whole = fast ? whole_blocks(gemm, &own) : 0;                                                 \
            const int32_t blocks = whole > TOGETHER ? TOGETHER : whole > 0 ? whole : 1;                                \
            if (whole > 0) {                                                                                           \
                whole_blocks_##TYPES(gemm, &own, blocks, (int32_t *)sums[0], PARTITA_BLOCK);                           \
            } else {                                                                                                   \
                block_##TYPES(gemm, &own, sums);                                                                       \
            }                                                                                                          \
            requantized_##OUT_TYPE(requantize, &own.block, (OUT *)gemm->out + own.out,                                 \
                                   whole > 0 ? blocks * PARTITA_BLOCK : own.block.rows, sums[0], &quad);               \
            advance(gemm, &own, blocks);                                                                               \
        }                                                                                                              \
    }

#define GEMV_REQUANTIZE(TYPES, OUT_TYPE, OUT)                                                                          \
    static __attribute__((noinline)) void row_requantize_##TYPES##_##OUT_TYPE(                                         \
        const struct partita_gemm_requantize *requantize, int32_t core, int32_t cores)                                 \
    {                                                                                                                  \
        const struct partita_gemm *gemm = &requantize->gemm;                                                           \
        const struct partita_range share = partita_share(gemm->n, PARTITA_BLOCK, core, cores);                         \
        const int32_t *bias = gemm->bias;                                                                              \
        const int32_t words = gemm->k / 4;                                                                             \
        const int32_t first = partita_first_word(words, core);                                                         \
        const int32_t by_columns =                                                                                     \
            requantize->shift > 32 && requantize->multiplier_column == 1 && requantize->addend_column == 1;            \
        struct partita_block block = {.rows = 1, .column = share.from};                                                \
        while (block.column < share.to) {                                                                              \
            uint32_t sums[TOGETHER][PARTITA_BLOCK];                                                                    \
            block.columns = partita_min(share.to - block.column, TOGETHER * PARTITA_BLOCK);                            \
            row_##TYPES(gemm->left, (const uint8_t *)gemm->right + block.column * gemm->right_column,                  \
                        gemm->right_column, first, words, bias != 0 ? bias + block.column : 0, sums[0],                \
                        block.columns);                                                                                \
            OUT *out = (OUT *)gemm->out + block.column;                                                                \
            if (by_columns) {                                                                                          \
                by_columns_##OUT_TYPE(sums[0], requantize->multiplier + block.column,                                  \
                                      requantize->addend + block.column, requantize->shift, requantize->low,           \
                                      requantize->high, out, block.columns);                                           \
            } else {                                                                                                   \
                columns_##OUT_TYPE(requantize, &block, out, 1, sums[0]);                                               \
            }                                                                                                          \
            block.column += block.columns;                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void partita_gemv_requantize_##TYPES##_##OUT_TYPE(const void *arguments, int32_t core, int32_t cores)              \
    {                                                                                                                  \
        const struct partita_gemm_requantize *requantize = arguments;                                                  \
        if (is_row(&requantize->gemm)) {                                                                               \
            row_requantize_##TYPES##_##OUT_TYPE(requantize, core, cores);                                              \
        } else {                                                                                                       \
            partita_gemm_requantize_##TYPES##_##OUT_TYPE(requantize, core, cores);                                     \
        }                                                                                                              \
    }

#define REQUANTIZE(TYPES, OUT_TYPE, OUT)                                                                               \
    FEW_ROWS_REQUANTIZE(TYPES, OUT_TYPE, OUT)                                                                          \
    GEMM_REQUANTIZE(TYPES, OUT_TYPE, OUT)                                                                              \
    GEMV_REQUANTIZE(TYPES, OUT_TYPE, OUT)

REQUANTIZE(i8_i8, i8, int8_t)
REQUANTIZE(i8_i8, u8, uint8_t)
REQUANTIZE(i8_i8, i32, int32_t)
REQUANTIZE(u8_i8, i8, int8_t)
REQUANTIZE(u8_i8, u8, uint8_t)
REQUANTIZE(u8_i8, i32, int32_t)
