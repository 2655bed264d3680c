#include "port.h"

enum { MAX_NAME_LENGTH = 40, MAX_NUMBER_LENGTH = 20 };

/* Reads little-endian bytes; data in L2 needs no alignment here. */
static int64_t element(const uint8_t *l2, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = bytes; i > 0; i--) {
        value = value << 8 | l2[i - 1];
    }
    return bytes == 4 ? (int32_t)(uint32_t)value : (int64_t)value;
}

/* Appends at most that many characters of another text; returns the end. */
static char *append(char *end, const char *text, int32_t most)
{
    for (int32_t i = 0; i < most && text[i] != '\0'; i++) {
        *end++ = text[i];
    }
    *end = '\0';
    return end;
}

static char *append_number(char *end, int64_t number)
{
    char digits[MAX_NUMBER_LENGTH];
    int32_t count = 0;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do {
        digits[count++] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (number < 0) {
        *end++ = '-';
    }
    while (count > 0) {
        *end++ = digits[--count];
    }
    *end = '\0';
    return end;
}

static _Noreturn void refuse(const struct partita_port *port, int64_t found)
{
    static char message[MAX_NAME_LENGTH + 3 * (MAX_NUMBER_LENGTH + 1) + 32];
    char *end = append(append(message, "input ", MAX_NAME_LENGTH), port->name, MAX_NAME_LENGTH);
    end = append_number(append(end, ": expected ", MAX_NAME_LENGTH), port->least);
    end = append_number(append(end, " to ", MAX_NAME_LENGTH), port->most);
    append_number(append(end, ", found ", MAX_NAME_LENGTH), found);
    partita_fail(message);
}

void partita_port_check(const struct partita_port *port)
{
    if (port->index_bytes == 0) {
        return;
    }
    for (uint32_t at = 0; at < port->bytes; at += port->index_bytes) {
        const int64_t value = element(port->l2 + at, port->index_bytes);
        if (value < port->least || value > port->most) {
            refuse(port, value);
        }
    }
}
