/* Declarations that the files of this port and start.S share. */
#ifndef PARTITA_VIRT_H
#define PARTITA_VIRT_H

#include "../emulated/emulated.h"

extern const uint32_t partita_harts;
extern const uint32_t partita_stack_bytes;

_Noreturn void partita_begin(void);
_Noreturn void partita_serve(int32_t core);
_Noreturn void partita_trapped(uint32_t cause, uint32_t address);

/* Splits the words after the program's name into at most `most` texts; returns their number. */
int32_t partita_command_line(char **words, int32_t most);

#endif
