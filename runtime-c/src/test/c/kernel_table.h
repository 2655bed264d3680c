/* A kernel by its name, as a test's build generates them for a device. */
#ifndef PARTITA_KERNEL_TABLE_H
#define PARTITA_KERNEL_TABLE_H

#include "../../../kernels/kernel.h"

struct kernel_entry {
    const char *name;
    partita_kernel *kernel;
};

extern const struct kernel_entry kernel_table[];
extern const uint32_t kernel_count;

#endif
