package io.partita.passes.planning.cost;

/**
 * One sync of a program.
 *
 * @param sync the number in the program
 * @param name the name of the exchanged value
 * @param block the number of its transformer block, from 0; -1 before the first block, and the
 *     number of blocks after the last one
 * @param devices the devices that take part
 * @param messages
 * @param bytes the bytes that devices send; forwarded messages count once
 * @param seconds the time from the arrival of the last device to the end of the last one
 */
public record SyncReport(
    int sync, String name, int block, int devices, int messages, long bytes, double seconds) {}
