/* Files of the host, by the semihosting calls that QEMU takes with -semihosting-config enable=on,target=native. */
#include <stddef.h>

#include "virt.h"

enum { OPEN = 1, CLOSE = 2, WRITE = 5, READ = 6, COMMAND_LINE = 0x15, MODE_READ = 1, MODE_WRITE = 5, NO_FILE = 0 };

static int32_t call(uint32_t operation, const void *block)
{
    register uint32_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = block;
    /* Three instructions of four bytes on one page. */
    __asm__ volatile(".option push\n.option norvc\n.balign 16\n"
                     "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return (int32_t)a0;
}

/* There is no standard input or output: input is empty, and output is discarded. */
int32_t partita_file_open(const char *name, int32_t for_writing)
{
    if (name == NULL) {
        return NO_FILE;
    }
    uint32_t length = 0;
    while (name[length] != '\0') {
        length++;
    }
    const uint32_t block[] = {(uint32_t)name, for_writing ? MODE_WRITE : MODE_READ, length};
    const int32_t file = call(OPEN, block);
    return file < 0 ? file : file + 1;
}

/* A call's result is the number of bytes not transferred. */
int64_t partita_file_read(int32_t file, void *to, uint32_t bytes)
{
    uint32_t done = 0;
    while (file != NO_FILE && done < bytes) {
        const uint32_t block[] = {(uint32_t)file - 1, (uint32_t)to + done, bytes - done};
        const uint32_t left = (uint32_t)call(READ, block);
        if (left > bytes - done) {
            return -1;
        }
        if (left == bytes - done) {
            break;
        }
        done = bytes - left;
    }
    return done;
}

int64_t partita_file_write(int32_t file, const void *from, uint32_t bytes)
{
    if (file == NO_FILE) {
        return bytes == 0 ? 0 : -1;
    }
    uint32_t done = 0;
    while (done < bytes) {
        const uint32_t block[] = {(uint32_t)file - 1, (uint32_t)from + done, bytes - done};
        const uint32_t left = (uint32_t)call(WRITE, block);
        if (left >= bytes - done) {
            return -1;
        }
        done = bytes - left;
    }
    return done;
}

int32_t partita_file_close(int32_t file)
{
    if (file == NO_FILE) {
        return 0;
    }
    const uint32_t block[] = {(uint32_t)file - 1};
    return call(CLOSE, block);
}

/* The name of the program comes before the options, and may have spaces. */
int32_t partita_command_line(char **words, int32_t most)
{
    static char text[4096];
    const uint32_t block[] = {(uint32_t)text, sizeof text};
    int32_t count = 0;
    if (call(COMMAND_LINE, block) != 0) {
        partita_fail("the command line is too long");
    }
    for (char *at = text; *at != '\0';) {
        while (*at == ' ') {
            *at++ = '\0';
        }
        if (*at != '\0' && (count > 0 || (at[0] == '-' && at[1] == '-'))) {
            if (count == most) {
                partita_fail("too many options");
            }
            words[count++] = at;
        }
        while (*at != ' ' && *at != '\0') {
            at++;
        }
    }
    return count;
}
