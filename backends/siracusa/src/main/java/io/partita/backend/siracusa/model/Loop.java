package io.partita.backend.siracusa.model;

import io.partita.backend.siracusa.model.LoopFunction.Variable;
import java.util.List;

/** A loop around another loop or a tile. */
public record Loop(List<Variable> ends, String variable, String end, long tile, Piece body)
    implements Piece {}
