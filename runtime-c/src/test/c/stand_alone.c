/* What a compiler may call although the source doesn't, and an entry: enough to link kernels without a C library. */
#include <stddef.h>

void *memset(void *to, int value, size_t size);
void *memcpy(void *restrict to, const void *restrict from, size_t size);
void _start(void);

void *memset(void *to, int value, size_t size)
{
    volatile unsigned char *bytes = to;
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (unsigned char)value;
    }
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    volatile unsigned char *bytes = to;
    for (size_t i = 0; i < size; i++) {
        bytes[i] = ((const unsigned char *)from)[i];
    }
    return to;
}

void _start(void)
{
    for (;;) {
    }
}
