package io.partita.zoo;

import java.util.Optional;

/**
 * A dimension of a graph input or output.
 *
 * @param size ignored when there is a symbol
 */
record Dim(long size, Optional<String> symbol) {
  static Dim of(long size) {
    return new Dim(size, Optional.empty());
  }

  static Dim symbol(String name) {
    return new Dim(0, Optional.of(name));
  }
}
