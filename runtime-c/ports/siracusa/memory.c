/* Functions that a compiler may call although the source doesn't. */
#include <stddef.h>
#include <stdint.h>

void *memset(void *to, int value, size_t size);
void *memcpy(void *restrict to, const void *restrict from, size_t size);

/* Volatile, so that the compiler doesn't replace these loops by calls to the same functions. */
void *memset(void *to, int value, size_t size)
{
    volatile uint8_t *bytes = to;
    size_t i = 0;
    if ((uintptr_t)to % 4 == 0) {
        const uint32_t word = (uint8_t)value * 0x01010101u;
        for (; i + 4 <= size; i += 4) {
            *(volatile uint32_t *)((uint8_t *)to + i) = word;
        }
    }
    for (; i < size; i++) {
        bytes[i] = (uint8_t)value;
    }
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    volatile uint8_t *bytes = to;
    size_t i = 0;
    if (((uintptr_t)to | (uintptr_t)from) % 4 == 0) {
        for (; i + 4 <= size; i += 4) {
            *(volatile uint32_t *)((uint8_t *)to + i) = *(const uint32_t *)((const uint8_t *)from + i);
        }
    }
    for (; i < size; i++) {
        bytes[i] = ((const uint8_t *)from)[i];
    }
    return to;
}
