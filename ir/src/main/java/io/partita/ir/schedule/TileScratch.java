package io.partita.ir.schedule;

/**
 * Working memory of a kernel beside its tiles, kept from tile to tile.
 *
 * @param name a short C identifier, one of its own in the loop
 * @param offset in bytes
 */
public record TileScratch(String name, long offset, long bytes) {}
