package io.partita.backend.siracusa.model;

/** A file or a part of one. */
public sealed interface Piece
    permits ChipFile,
        ElementFunction,
        Loop,
        LoopFunction,
        LoopFunction.BoxCall,
        Makefile,
        ModelHeader,
        ProgramMain,
        Readme,
        RoleFile,
        ScalarStore,
        StepCall,
        Tile,
        Tile.Run,
        Tile.Wait {
  /** The name of its template. */
  default String template() {
    return getClass().getSimpleName();
  }
}
