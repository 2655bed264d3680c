/*
 * Vectors of the vector engine (SFPU) of Wormhole for a stock RISC-V GCC, in place of the header that comes with
 * Tenstorrent's compiler. It has what the functions of ttnn's headers that Partita emits use.
 *
 * A vector is a float in one of the registers ft0 to ft7, which stand for LREG0 to LREG7 (instructions.s). Each
 * operation is one statement of assembly, volatile so that none moves into or out of a part that conditions mask.
 */
#pragma once

#include <limits>

#include "sfpi_arithmetic.h"
#include "sfpi_conditions.h"
#include "sfpi_functions.h"
#include "sfpi_instructions.h"
#include "sfpi_registers.h"
#include "sfpi_vectors.h"
