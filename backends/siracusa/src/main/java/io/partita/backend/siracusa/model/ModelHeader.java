package io.partita.backend.siracusa.model;

import java.util.List;

/**
 * The public interface.
 *
 * @param comment lines
 */
public record ModelHeader(List<String> comment, int chips) implements Piece {}
