#include "gemm_blocks.h"
#include "requantized.h"

/*
 * i32 sums of a block over the inner extent from `from` on: with constant rows and columns, the loops unroll and the
 * sums stay in registers, since they are copied to a local that no pointer aliases (a byte pointer may alias anything).
 * Products wrap, as unsigned arithmetic does.
 */
#define MULTIPLY(NAME, LEFT, RIGHT)                                                                                    \
    static inline __attribute__((always_inline)) void NAME(const struct partita_gemm *gemm,                            \
                                                           struct partita_block block, int32_t from, int32_t rows,     \
                                                           int32_t columns,                                            \
                                                           uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                \
    {                                                                                                                  \
        const LEFT *left = (const LEFT *)gemm->left + block.batch * gemm->left_batch + block.row * gemm->left_row +    \
                           from * gemm->left_column;                                                                   \
        const RIGHT *right = (const RIGHT *)gemm->right + block.batch / gemm->group * gemm->right_batch +              \
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

/* Transposes rows of bytes into columns. */
static inline void turn(uint32_t words[PARTITA_BLOCK])
{
    const uint32_t lower = 0x05010400; /* bytes 0 and 1 of both words, in turns */
    const uint32_t upper = 0x07030602;
    const uint32_t halves = 0x07060302; /* the upper halves of both words */
    const uint32_t low_01 = partita_shuffle2_b(words[0], words[1], lower);
    const uint32_t high_01 = partita_shuffle2_b(words[0], words[1], upper);
    const uint32_t low_23 = partita_shuffle2_b(words[2], words[3], lower);
    const uint32_t high_23 = partita_shuffle2_b(words[2], words[3], upper);
    words[0] = partita_pack_h(low_23, low_01);
    words[1] = partita_shuffle2_b(low_01, low_23, halves);
    words[2] = partita_pack_h(high_23, high_01);
    words[3] = partita_shuffle2_b(high_01, high_23, halves);
}

/*
 * The sums of a block of four columns, four products at a time. Rows of left are contiguous; so are columns of
 * right, or its rows, which are then transposed in registers. A separate function has enough registers for 16 sums.
 */
#define MULTIPLY_BYTES(NAME, ROWS, TURNED, DOT)                                                                        \
    static PARTITA_IN_ORDER void NAME(const uint8_t *left, int32_t left_row, const uint8_t *right,                     \
                                      int32_t right_next, int32_t count,                                               \
                                      uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                                     \
    {                                                                                                                  \
        const int32_t left_on = 4 - (ROWS - 1) * left_row;                                                             \
        const int32_t right_on = TURNED ? right_next : 4 - 3 * right_next;                                             \
        uint32_t own[PARTITA_BLOCK][PARTITA_BLOCK];                                                                    \
        _Pragma("GCC unroll 4")                                                                                        \
        for (int32_t i = 0; i < ROWS; i++) {                                                                           \
            _Pragma("GCC unroll 4")                                                                                    \
            for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                              \
                own[i][j] = 0;                                                                                         \
            }                                                                                                          \
        }                                                                                                              \
        _Pragma("GCC unroll 2")                                                                                        \
        for (; count > 0; count--) {                                                                                   \
            uint32_t y[PARTITA_BLOCK];                                                                                 \
            _Pragma("GCC unroll 4")                                                                                    \
            for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                              \
                y[j] = partita_next_word(&right, j + 1 < PARTITA_BLOCK ? right_next : right_on);                       \
            }                                                                                                          \
            uint32_t next = partita_next_word(&left, ROWS > 1 ? left_row : left_on);                                   \
            if (TURNED) {                                                                                              \
                turn(y);                                                                                               \
            }                                                                                                          \
            _Pragma("GCC unroll 4")                                                                                    \
            for (int32_t i = 0; i < ROWS; i++) {                                                                       \
                const uint32_t x = next;                                                                               \
                if (i + 1 < ROWS) {                                                                                    \
                    next = partita_next_word(&left, i + 2 < ROWS ? left_row : left_on);                                \
                }                                                                                                      \
                _Pragma("GCC unroll 4")                                                                                \
                for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                          \
                    own[i][j] = DOT(own[i][j], x, y[j]);                                                               \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        _Pragma("GCC unroll 4")                                                                                        \
        for (int32_t i = 0; i < ROWS; i++) {                                                                           \
            _Pragma("GCC unroll 4")                                                                                    \
            for (int32_t j = 0; j < PARTITA_BLOCK; j++) {                                                              \
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

/* Adds the bias, and what out holds when accumulating: sums wrap, so their order doesn't matter. */
static inline __attribute__((always_inline)) void finish_with(const struct partita_gemm *gemm,
                                                              struct partita_block block, int32_t rows,
                                                              int32_t columns,
                                                              uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])
{
    const int32_t *bias = gemm->bias;
    const int32_t accumulate = gemm->accumulate;
    const int32_t out_row = gemm->out_row;
    int32_t *out = (int32_t *)gemm->out + block.batch * gemm->out_batch + block.row * out_row + block.column;
    uint32_t addends[PARTITA_BLOCK] = {0};
    for (int32_t j = 0; j < columns && bias != 0; j++) {
        addends[j] = (uint32_t)bias[block.column + j];
    }
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < columns; j++) {
            const uint32_t sum = sums[i][j] + addends[j];
            out[j] = (int32_t)(accumulate ? sum + (uint32_t)out[j] : sum);
        }
        out += out_row;
    }
}

static inline void finish(const struct partita_gemm *gemm, struct partita_block block,
                          uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])
{
    if (block.rows == PARTITA_BLOCK && block.columns == PARTITA_BLOCK) {
        finish_with(gemm, block, PARTITA_BLOCK, PARTITA_BLOCK, sums);
    } else {
        finish_with(gemm, block, block.rows, block.columns, sums);
    }
}

#define BLOCK(TYPES, LEFT, RIGHT)                                                                                      \
    MULTIPLY(multiply_##TYPES, LEFT, RIGHT)                                                                            \
                                                                                                                       \
    static inline void rest_##TYPES(const struct partita_gemm *gemm, struct partita_block block, int32_t from,         \
                                    uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                                       \
    {                                                                                                                  \
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
    static void block_##TYPES(const struct partita_gemm *gemm, struct partita_block block,                             \
                              uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                                             \
    {                                                                                                                  \
        clear(sums);                                                                                                   \
        rest_##TYPES(gemm, block, 0, sums);                                                                            \
    }

#define BLOCK_OF_BYTES(TYPES, LEFT, RIGHT, DOT)                                                                        \
    BLOCK(TYPES, LEFT, RIGHT)                                                                                          \
    MULTIPLY_BYTES(bytes_4_##TYPES, 4, 0, DOT)                                                                         \
    MULTIPLY_BYTES(bytes_4_turned_##TYPES, 4, 1, DOT)                                                                  \
    MULTIPLY_BYTES(bytes_1_##TYPES, 1, 0, DOT)                                                                         \
    MULTIPLY_BYTES(bytes_1_turned_##TYPES, 1, 1, DOT)                                                                  \
                                                                                                                       \
    static void block_##TYPES(const struct partita_gemm *gemm, struct partita_block block,                             \
                              uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK])                                             \
    {                                                                                                                  \
        const uint8_t *left = (const uint8_t *)gemm->left + block.batch * gemm->left_batch +                           \
                              block.row * gemm->left_row;                                                              \
        const uint8_t *right = (const uint8_t *)gemm->right + block.batch / gemm->group * gemm->right_batch +          \
                               block.column * gemm->right_column;                                                      \
        const int32_t four = block.rows == PARTITA_BLOCK;                                                              \
        int32_t count = gemm->k / 4;                                                                                   \
        if (gemm->left_column != 1 || block.columns != PARTITA_BLOCK || (!four && block.rows != 1)) {                  \
            count = 0;                                                                                                 \
            clear(sums);                                                                                               \
        } else if (gemm->right_row == 1 && four) {                                                                     \
            bytes_4_##TYPES(left, gemm->left_row, right, gemm->right_column, count, sums);                             \
        } else if (gemm->right_row == 1) {                                                                             \
            bytes_1_##TYPES(left, gemm->left_row, right, gemm->right_column, count, sums);                             \
        } else if (gemm->right_column == 1 && four) {                                                                  \
            bytes_4_turned_##TYPES(left, gemm->left_row, right, gemm->right_row, count, sums);                         \
        } else if (gemm->right_column == 1) {                                                                          \
            bytes_1_turned_##TYPES(left, gemm->left_row, right, gemm->right_row, count, sums);                         \
        } else {                                                                                                       \
            count = 0;                                                                                                 \
            clear(sums);                                                                                               \
        }                                                                                                              \
        if (count * 4 < gemm->k) {                                                                                     \
            rest_##TYPES(gemm, block, count * 4, sums);                                                                \
        }                                                                                                              \
    }

#define GEMM(TYPES)                                                                                                    \
    void partita_gemm_##TYPES(const void *arguments, int32_t core, int32_t cores)                                      \
    {                                                                                                                  \
        const struct partita_gemm *gemm = arguments;                                                                   \
        struct partita_block block = partita_first_block(gemm, core);                                                  \
        for (; block.batch < gemm->batch; partita_advance(gemm, &block, cores)) {                                      \
            uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK];                                                               \
            block_##TYPES(gemm, block, sums);                                                                          \
            finish(gemm, block, sums);                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    void partita_gemv_##TYPES(const void *arguments, int32_t core, int32_t cores)                                      \
    {                                                                                                                  \
        partita_gemm_##TYPES(arguments, core, cores);                                                                  \
    }

BLOCK_OF_BYTES(i8_i8, int8_t, int8_t, partita_sdotsp_b)
BLOCK_OF_BYTES(i8_u8, int8_t, uint8_t, partita_sdotspu_b)
BLOCK_OF_BYTES(u8_i8, uint8_t, int8_t, partita_sdotusp_b)
BLOCK_OF_BYTES(u8_u8, uint8_t, uint8_t, partita_sdotup_b)
BLOCK_OF_WIDE(i16_i8, int16_t, int8_t)
BLOCK_OF_WIDE(i16_i16, int16_t, int16_t)
BLOCK_OF_WIDE(i32_i8, int32_t, int8_t)
BLOCK_OF_WIDE(i32_u8, int32_t, uint8_t)
BLOCK_OF_WIDE(i32_i32, int32_t, int32_t)

GEMM(i8_i8)
GEMM(i8_u8)
GEMM(u8_i8)
GEMM(u8_u8)
GEMM(i16_i8)
GEMM(i16_i16)
GEMM(i32_i8)
GEMM(i32_u8)
GEMM(i32_i32)

/* Writes a row of a block. */
#define REQUANTIZED(OUT_TYPE, OUT)                                                                                     \
    static inline void requantized_##OUT_TYPE(const struct partita_gemm_requantize *requantize,                        \
                                              struct partita_requantized to, struct partita_block block, int32_t row,  \
                                              const uint32_t sums[PARTITA_BLOCK])                                      \
    {                                                                                                                  \
        const struct partita_gemm *gemm = &requantize->gemm;                                                           \
        const int32_t multiplier_step = requantize->multiplier_column;                                                 \
        const int32_t addend_step = requantize->addend_column;                                                         \
        const int32_t columns = block.columns;                                                                         \
        const int32_t *bias = gemm->bias;                                                                              \
        const int32_t *multiplier =                                                                                    \
            requantize->multiplier + row * requantize->multiplier_row + block.column * multiplier_step;                \
        const int32_t *addend = requantize->addend + row * requantize->addend_row + block.column * addend_step;        \
        OUT *out = (OUT *)gemm->out + block.batch * gemm->out_batch + row * gemm->out_row + block.column;              \
        for (int32_t j = 0; j < columns; j++) {                                                                        \
            const uint32_t sum = bias == 0 ? sums[j] : sums[j] + (uint32_t)bias[block.column + j];                     \
            out[j] = (OUT)partita_requantize(to, (int32_t)sum, *multiplier, *addend);                                  \
            multiplier += multiplier_step;                                                                             \
            addend += addend_step;                                                                                     \
        }                                                                                                              \
    }

REQUANTIZED(i8, int8_t)
REQUANTIZED(u8, uint8_t)

#define GEMM_REQUANTIZE(TYPES, OUT_TYPE, OUT)                                                                          \
    void partita_gemm_requantize_##TYPES##_##OUT_TYPE(const void *arguments, int32_t core, int32_t cores)              \
    {                                                                                                                  \
        const struct partita_gemm_requantize *requantize = arguments;                                                  \
        const struct partita_gemm *gemm = &requantize->gemm;                                                           \
        const struct partita_requantized to =                                                                          \
            partita_requantized(requantize->shift, requantize->low, requantize->high);                                 \
        struct partita_block block = partita_first_block(gemm, core);                                                  \
        for (; block.batch < gemm->batch; partita_advance(gemm, &block, cores)) {                                      \
            uint32_t sums[PARTITA_BLOCK][PARTITA_BLOCK];                                                               \
            block_##TYPES(gemm, block, sums);                                                                          \
            for (int32_t i = 0; i < block.rows; i++) {                                                                 \
                requantized_##OUT_TYPE(requantize, to, block, block.row + i, sums[i]);                                 \
            }                                                                                                          \
        }                                                                                                              \
    }

GEMM_REQUANTIZE(i8_i8, i8, int8_t)
GEMM_REQUANTIZE(i8_i8, u8, uint8_t)
GEMM_REQUANTIZE(u8_i8, i8, int8_t)
GEMM_REQUANTIZE(u8_i8, u8, uint8_t)
