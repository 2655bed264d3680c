package io.partita.ir.schedule;

/**
 * How the slots of an operand are a queue of pages that processors of a core share.
 *
 * @param id its number on the core; tiles to load have the lowest
 * @param pageBytes what is pushed and popped at a time; a slot is a whole number of pages
 */
public record CircularBuffer(int id, long pageBytes) {}
