/* Without the name of a type that headers of kernels have, too. */
#pragma once
#define uint picolibc_uint
#include_next <sys/types.h>
#undef uint
