/* Elementwise operations with a broadcast operand. */
#pragma once

#include "api/kernel.h"

/* The second operand is row 0 of its tile for all rows, column 0 for all columns, or the first element for all. */
void add_bcast_rows_init(uint32_t a, uint32_t b);
void sub_bcast_rows_init(uint32_t a, uint32_t b);
void mul_bcast_rows_init(uint32_t a, uint32_t b);
void add_bcast_cols_init(uint32_t a, uint32_t b);
void sub_bcast_cols_init(uint32_t a, uint32_t b);
void mul_bcast_cols_init(uint32_t a, uint32_t b);
void add_bcast_scalar_init(uint32_t a, uint32_t b);
void sub_bcast_scalar_init(uint32_t a, uint32_t b);
void mul_bcast_scalar_init(uint32_t a, uint32_t b);
void add_tiles_bcast_rows(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
void sub_tiles_bcast_rows(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
void mul_tiles_bcast_rows(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
void add_tiles_bcast_cols(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
void sub_tiles_bcast_cols(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
void mul_tiles_bcast_cols(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
void add_tiles_bcast_scalar(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
void sub_tiles_bcast_scalar(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
void mul_tiles_bcast_scalar(uint32_t a, uint32_t b, uint32_t tile_a, uint32_t tile_b, uint32_t dst);
