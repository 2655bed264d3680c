package io.partita.backend.siracusa.model;

/** A part of a file. */
public sealed interface Piece
    permits ChipFile,
        Loop,
        LoopFunction,
        LoopFunction.BoxCall,
        Makefile,
        ModelHeader,
        ProgramMain,
        Readme,
        RoleFile,
        StepCall,
        Tile,
        Tile.Run,
        Tile.Wait {
  /** The name of the template. */
  default String template() {
    return getClass().getSimpleName();
  }
}
