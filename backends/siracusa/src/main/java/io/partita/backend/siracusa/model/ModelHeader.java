package io.partita.backend.siracusa.model;

import java.util.List;

/**
 * The public interface.
 *
 * @param comment lines
 * @param hasChunk whether there is an entry point for several tokens at once
 */
public record ModelHeader(List<String> comment, int chips, boolean hasChunk) implements Piece {}
