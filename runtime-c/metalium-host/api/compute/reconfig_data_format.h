/* Formats of the source registers. */
#pragma once

#include "api/kernel.h"

void reconfig_data_format(uint32_t a, uint32_t b);
void reconfig_data_format_srca(uint32_t a);
void reconfig_data_format_srcb(uint32_t b);
