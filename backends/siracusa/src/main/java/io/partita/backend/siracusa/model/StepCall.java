package io.partita.backend.siracusa.model;

import java.util.List;
import java.util.Optional;

/**
 * One step of a chip's program.
 *
 * @param comment the step's node, unless the previous step has the same
 */
public record StepCall(Optional<String> comment, String function, List<String> arguments)
    implements Piece {}
