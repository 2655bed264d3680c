package io.partita.ir.schedule;

/**
 * Scratch memory of a kernel besides its tiles, kept between tiles.
 *
 * @param name a short C identifier, unique in the loop
 * @param offset the offset in bytes
 */
public record TileScratch(String name, long offset, long bytes) {}
