package io.partita.ir.target;

/**
 * The source of a figure.
 *
 * @param source the name of a source that the target description defines
 * @param place a place in the source, such as a section, or how the figure was derived; may be
 *     empty
 */
public record Origin(String source, String place) {}
