package io.partita.backend.siracusa.model;

import java.util.List;
import java.util.Optional;

/**
 * One step of a chip's program.
 *
 * @param comment the node that it's for, where that isn't the last step's
 */
public record StepCall(Optional<String> comment, String function, List<String> arguments)
    implements Piece {}
