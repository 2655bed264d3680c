/* CRC-32C of a chip's memories when they are loaded, by the processor's instruction if it has one. */
#include "emulated.h"

/* x^32 + x^28 + x^27 + x^26 + ... + 1, the lowest bit first. */
#define POLYNOMIAL 0x82f63b78u

#if defined(__x86_64__)
#include <string.h>

/* Three clock cycles for eight bytes. */
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *bytes, uint32_t count)
{
    uint64_t wide = crc;
    for (; count >= sizeof wide; count -= sizeof wide, bytes += sizeof wide) {
        uint64_t next;
        memcpy(&next, bytes, sizeof next);
        wide = __builtin_ia32_crc32di(wide, next);
    }
    crc = (uint32_t)wide;
    for (; count > 0; count--) {
        crc = __builtin_ia32_crc32qi(crc, *bytes++);
    }
    return crc;
}
#endif

/* tables[k][b]: the effect of byte b on the remainder when k more bytes follow. */
static uint32_t tables[4][256];

static void make_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int32_t bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1u) != 0 ? POLYNOMIAL : 0u);
        }
        tables[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (int32_t k = 1; k < 4; k++) {
            tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 255u];
        }
    }
}

/* Four bytes at a time. */
static uint32_t by_tables(uint32_t crc, const uint8_t *bytes, uint32_t count)
{
    for (; count >= 4; count -= 4, bytes += 4) {
        crc ^= (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
        crc = tables[3][crc & 255u] ^ tables[2][crc >> 8 & 255u] ^ tables[1][crc >> 16 & 255u] ^ tables[0][crc >> 24];
    }
    for (; count > 0; count--) {
        crc = (crc >> 8) ^ tables[0][(crc ^ *bytes++) & 255u];
    }
    return crc;
}

uint32_t partita_crc32c(const uint8_t *bytes, uint32_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) {
        return ~by_instruction(~0u, bytes, count);
    }
#endif
    make_tables();
    return ~by_tables(~0u, bytes, count);
}
