package io.partita.backend.siracusa.model;

/**
 * The program around the model, which reads inputs and writes outputs.
 *
 * @param hasChunk whether it also runs for several tokens at once
 */
public record ProgramMain(boolean hasChunk) implements Piece {}
