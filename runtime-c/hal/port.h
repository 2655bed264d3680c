/* Inputs and outputs of a model, and the check of input values. */
#ifndef PARTITA_PORT_H
#define PARTITA_PORT_H

#include "hal.h"

/*
 * This chip's part of an input or output: row-major, dense, little-endian. If index_bytes is 4 or 8, its
 * elements are signed integers of that size and must be from least to most.
 */
struct partita_port {
    const char *name;
    const char *type;
    uint8_t *l2;
    uint32_t bytes;
    uint32_t index_bytes;
    int64_t least;
    int64_t most;
};

/* Ends the program with a message that names the input, if it holds an integer out of range. */
void partita_port_check(const struct partita_port *port);

#endif
