package io.partita.backend.siracusa.model;

/** The program around the model, which reads inputs and writes outputs. */
public record ProgramMain() implements Piece {}
