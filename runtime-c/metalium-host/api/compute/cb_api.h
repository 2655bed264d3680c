/* Circular buffers in compute kernels. */
#pragma once

#include "api/kernel.h"

/* cb_reserve_back, cb_push_back, cb_wait_front and cb_pop_front. */
