package io.partita.ir.schedule;

/**
 * Memory in L1 that a kernel works in, and keeps from tile to tile.
 *
 * @param name a short C identifier, one of its own in the loop
 * @param l1 offset in bytes
 */
public record TileScratch(String name, long l1, long bytes) {}
