/* What the parts of accelerated.c share. */
#ifndef PARTITA_ACCELERATED_H
#define PARTITA_ACCELERATED_H

#include "../../../hal/hal.h"
#include "../../../kernels/kernel.h"

/* A kernel with XpulpV2 instructions and its portable form. */
struct pair {
    partita_kernel *accelerated;
    partita_kernel *portable;
    int32_t is_vector; /* its left operand has one row */
};

/*
 * The largest extents of a matrix and the bytes of an operand, the columns and terms of products of few rows, and the rounds of
 * comparisons, of which few are of long operands.
 */
enum { MOST = 40, OPERAND = MOST * MOST + 4, COLUMNS = 80, DEPTH = 20, ROUNDS = 120, LONG_ROUNDS = 10 };

/* The next of a sequence of random numbers. */
uint32_t next(void);

/* One from 0 to end - 1. */
int32_t below(int32_t end);

/* Bytes of any value, or of the least and greatest ones only. */
void fill(uint8_t *bytes, int32_t count);

/* Both write to where `out` points, `bytes` bytes at `one` and at `other`; fails if these differ. */
void compare(const struct pair *pair, void *arguments, void **out, uint8_t *one, uint8_t *other, int32_t bytes);

/* Copies to `one` and `other`. */
void copy_to_both(const uint8_t *from, int32_t bytes, uint8_t *one, uint8_t *other);

/* Bits of floats from 2^-16 to 2^15, of either sign: of their upper half too. */
void fill_scales(uint32_t *bits, int32_t count);

/* These compare kernels in a round, on operands of their own making, with results at `one` and `other`. */
void compare_products(uint8_t *left, uint8_t *right, int32_t *words, int32_t round, uint8_t *one, uint8_t *other);

void compare_attention(uint8_t *left, uint8_t *right, uint32_t *words, uint8_t *one, uint8_t *other);

void compare_nibble_products(uint8_t *left, uint8_t *right, uint32_t *scales, int32_t round, uint8_t *one,
                             uint8_t *other);

/* The same, with operands and results anywhere in L1. */
void compare_convolutions(int32_t round);

/* Products and attention with as many terms, keys and features as networks have. */
void compare_long_products(int32_t round);

#endif
