/* Destination registers: math acquires and commits them, then the packer waits for them and releases them. */
#pragma once

#include "api/kernel.h"

/* Clears them. */
void tile_regs_acquire();
void tile_regs_commit();
void tile_regs_wait();
void tile_regs_release();
