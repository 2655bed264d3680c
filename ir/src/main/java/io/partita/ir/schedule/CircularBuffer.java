package io.partita.ir.schedule;

/**
 * The slots of an operand as a queue of pages that the processors of a core share.
 *
 * @param id the number on the core; loaded tiles have the lowest
 * @param pageBytes the bytes of a page, the unit of pushing and popping; a slot is a whole number
 *     of pages
 */
public record CircularBuffer(int id, long pageBytes) {}
