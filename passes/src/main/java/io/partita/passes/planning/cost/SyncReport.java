package io.partita.passes.planning.cost;

/**
 * One sync of a program.
 *
 * @param sync its number in the program
 * @param name of the value that devices exchange
 * @param block the transformer block in which it is, from 0; -1 before the first one, and as many
 *     as there are after the last
 * @param devices that take part
 * @param messages
 * @param bytes that devices send; a message that others pass on counts once
 * @param seconds from when the last device comes to it until the last one is done
 */
public record SyncReport(
    int sync, String name, int block, int devices, int messages, long bytes, double seconds) {}
