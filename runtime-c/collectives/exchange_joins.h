/*
 * Joins own elements with those that messages bring, in L1, for the files of exchange.h. In a pass over several messages,
 * their slices are joined one after the other, each tile by tile.
 */
#ifndef PARTITA_EXCHANGE_JOINS_H
#define PARTITA_EXCHANGE_JOINS_H

#include "exchange.h"

/* Begins a pass over `count` messages of an action, of which `done` have been joined: starts to load its first tile. */
void partita_join_begin(const struct partita_exchange *exchange, const struct partita_action *action, uint32_t done,
                        uint32_t count);

/* Joins all elements of a pass, which may have begun. */
void partita_join_messages(const struct partita_exchange *exchange, const struct partita_action *action, uint32_t done,
                           uint32_t count);

#endif
