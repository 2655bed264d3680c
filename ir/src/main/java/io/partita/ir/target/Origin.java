package io.partita.ir.target;

/**
 * Where a figure is from.
 *
 * @param source a name that the target description defines
 * @param place in the source, such as a section; or how the figure follows from it; may be empty
 */
public record Origin(String source, String place) {}
