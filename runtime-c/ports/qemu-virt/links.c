/* One machine is one chip. */
#include "../emulated/emulated.h"

const char partita_link_options[] = "";

int32_t partita_link_option(const char *name, const char *value)
{
    (void)name;
    (void)value;
    return 0;
}

void partita_connect_chips(void)
{
}

void partita_disconnect_chips(void)
{
}

static _Noreturn void fail(void)
{
    partita_fail("a message to another chip, but this port has only one: use another port for several chips");
}

void partita_send_start(struct partita_message *message, int32_t chip, const void *l2, uint32_t bytes)
{
    (void)message;
    (void)chip;
    (void)l2;
    (void)bytes;
    fail();
}

void partita_receive_start(struct partita_message *message, int32_t chip, void *l2, uint32_t bytes)
{
    (void)message;
    (void)chip;
    (void)l2;
    (void)bytes;
    fail();
}

void partita_message_wait(struct partita_message *message)
{
    (void)message;
    fail();
}

int32_t partita_message_ended(struct partita_message *message)
{
    (void)message;
    fail();
}

uint64_t partita_sent_to(int32_t chip)
{
    (void)chip;
    return 0;
}
