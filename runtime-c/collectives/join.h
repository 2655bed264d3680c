/*
 * Joins what other chips sent with a chip's own elements: own[i] = (own[i] OP first[i]) OP second[i] ..., in this order,
 * for OP add, max or min. Cores divide the elements into parts of 8. All are exact: integers wrap, halves are
 * rounded after each operation, and a maximum or minimum is NaN if either operand is.
 */
#ifndef PARTITA_JOIN_H
#define PARTITA_JOIN_H

#include "../kernels/kernel.h"

struct partita_join {
    void *own;
    const void *received; /* the elements of each message after those of the one before */
    int32_t count;        /* of messages */
    int32_t elements;     /* of each */
};

#define PARTITA_DECLARE_JOIN(TYPE) partita_kernel partita_join_add_##TYPE, partita_join_max_##TYPE, partita_join_min_##TYPE
PARTITA_DECLARE_JOIN(f64);
PARTITA_DECLARE_JOIN(f32);
PARTITA_DECLARE_JOIN(f16);
PARTITA_DECLARE_JOIN(bf16);
PARTITA_DECLARE_JOIN(i64);
PARTITA_DECLARE_JOIN(u64);
PARTITA_DECLARE_JOIN(i32);
PARTITA_DECLARE_JOIN(i8);
PARTITA_DECLARE_JOIN(u8);

#endif
