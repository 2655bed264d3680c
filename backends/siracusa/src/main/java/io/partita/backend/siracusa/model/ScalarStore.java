package io.partita.backend.siracusa.model;

/**
 * A function of two integers, computed by the control core.
 *
 * @param type of the integers
 * @param function a function of the runtime
 * @param out an address; {@code left} and {@code right} are, too
 */
public record ScalarStore(String type, String function, String left, String right, String out)
    implements Piece {}
