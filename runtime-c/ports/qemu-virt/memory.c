/* Functions that compilers call although the source doesn't; they must not be compiled into calls of themselves. */
#include <stddef.h>
#include <stdint.h>

#define NO_CALLS __attribute__((optimize("no-tree-loop-distribute-patterns")))

void *memset(void *to, int value, size_t size);
void *memcpy(void *restrict to, const void *restrict from, size_t size);
int memcmp(const void *first, const void *second, size_t size);

NO_CALLS void *memset(void *to, int value, size_t size)
{
    uint8_t *bytes = to;
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)value;
    }
    return to;
}

NO_CALLS void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    uint8_t *bytes = to;
    const uint8_t *others = from;
    size_t i = 0;
    if (((uintptr_t)to | (uintptr_t)from) % sizeof(uint32_t) == 0) {
        for (; i + sizeof(uint32_t) <= size; i += sizeof(uint32_t)) {
            *(uint32_t *)(void *)(bytes + i) = *(const uint32_t *)(const void *)(others + i);
        }
    }
    for (; i < size; i++) {
        bytes[i] = others[i];
    }
    return to;
}

NO_CALLS int memcmp(const void *first, const void *second, size_t size)
{
    const uint8_t *left = first;
    const uint8_t *right = second;
    for (size_t i = 0; i < size; i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i] ? -1 : 1;
        }
    }
    return 0;
}
