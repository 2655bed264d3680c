package io.partita.backend.siracusa.model;

/**
 * The main program, which reads inputs, runs the model and writes outputs.
 *
 * @param hasChunk whether there is an entry point for several tokens at once
 */
public record ProgramMain(boolean hasChunk) implements Piece {}
