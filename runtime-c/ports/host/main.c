/* The program on a host: cores are threads, and each chip is a process. Cycles are nanoseconds. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../emulated/emulated.h"
#include "clock.h"

int32_t partita_file_open(const char *name, int32_t for_writing)
{
    if (name == NULL) {
        return for_writing ? STDOUT_FILENO : STDIN_FILENO;
    }
    return open(name, for_writing ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0666);
}

int64_t partita_file_read(int32_t file, void *to, uint32_t bytes)
{
    uint32_t done = 0;
    ssize_t count = 1;
    partita_clock_yield();
    while (done < bytes && count != 0) {
        count = read(file, (uint8_t *)to + done, bytes - done);
        if (count < 0 && errno != EINTR) {
            return -1;
        }
        done += count > 0 ? (uint32_t)count : 0;
    }
    partita_clock_resume();
    return done;
}

int64_t partita_file_write(int32_t file, const void *from, uint32_t bytes)
{
    uint32_t done = 0;
    partita_clock_yield();
    while (done < bytes) {
        const ssize_t count = write(file, (const uint8_t *)from + done, bytes - done);
        if (count < 0 && errno != EINTR) {
            return -1;
        }
        done += count > 0 ? (uint32_t)count : 0;
    }
    partita_clock_resume();
    return done;
}

int32_t partita_file_close(int32_t file)
{
    return close(file);
}

/* A message that can't be printed is lost. */
void partita_print(const char *text)
{
    partita_file_write(STDERR_FILENO, text, (uint32_t)strlen(text));
}

_Noreturn void partita_exit(int32_t code)
{
    exit(code);
}

int main(int argc, char **argv)
{
    partita_clock_start();
    return partita_run(argc - 1, argv + 1);
}
