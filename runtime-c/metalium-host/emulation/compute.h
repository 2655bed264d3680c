/* The state of a core's matrix and vector engines, as far as kernels see it. */
#pragma once

#include "format.h"

namespace partita::metalium {

/* What the matrix engine and its unpackers are set up for by an *_init. */
enum class Operation {
    NONE, MATMUL, COPY, TRANSPOSE, REDUCE,
    ADD, SUB, MUL,
    ADD_ROWS, SUB_ROWS, MUL_ROWS, ADD_COLS, SUB_COLS, MUL_COLS, ADD_SCALAR, SUB_SCALAR, MUL_SCALAR,
    ADD_REUSE, SUB_REUSE, MUL_REUSE,
};

/* What a source register, or the way through it to the destination, is set up for. */
struct SourceFormat {
    DataFormat format = DataFormat::Float16_b;
    /* All bits of f32, which only the destination holds. */
    bool is_direct = false;
};

/* Who may use the destination registers. */
enum class Registers { FREE, MATH, COMMITTED, PACK };

struct ComputeState {
    /* Half of the registers: 8 tiles of 16 bits or 4 of 32. */
    float destination[8][TILE_ELEMENTS];
    /* Registers that nothing was written to since they were acquired. */
    bool fresh[8];
    Registers registers = Registers::FREE;
    Operation operation = Operation::NONE;
    /* Of the right tiles of a matmul. */
    bool is_transposed = false;
    /* The function that the vector engine is set up for. */
    const char *function = "nothing";
    bool started = false;
    SourceFormat source_a;
    SourceFormat source_b;
    DataFormat packed = DataFormat::Float16_b;
};

} // namespace partita::metalium
