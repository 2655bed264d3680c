#include "siracusa.h"

enum { PEERS = 0x400 };

IN_L1 struct partita_links partita_links;

__attribute__((cold)) _Noreturn void partita_refuse_message(void)
{
    partita_fail("a message to or from a chip that doesn't exist");
}

void partita_start_links(void)
{
    struct partita_link *links = (struct partita_link *)(uintptr_t)(BOARD + PEERS);
    for (int32_t chip = 0; chip < partita_board.chips; chip++) {
        if (chip != partita_board.chip) {
            partita_links.peers[chip].link = &links[chip];
        }
    }
}

void partita_count_links(struct partita_traffic *traffic)
{
    traffic->sent += partita_links.sent;
    traffic->received += partita_links.received;
    partita_links.sent = 0;
    partita_links.received = 0;
}

void partita_print_links(void)
{
    const char *separator = "";
    partita_print("{");
    for (int32_t chip = 0; chip < PARTITA_MAX_CHIPS; chip++) {
        if (partita_links.peers[chip].sent > 0) {
            partita_print(separator);
            partita_print("\"");
            partita_print_number((uint64_t)chip);
            partita_print("\": ");
            partita_print_number(partita_links.peers[chip].sent);
            separator = ", ";
        }
    }
    partita_print("}");
}
