package io.partita.passes.rewrite;

/**
 * A named part of a pattern that records its match.
 *
 * @param <T> the type of the match: a value, a node or an operation
 */
@SuppressWarnings("UnusedTypeParameter") // Match returns a T for it
public final class Capture<T> {
  private final String name;

  private Capture(String name) {
    this.name = name;
  }

  public static <T> Capture<T> of(String name) {
    return new Capture<>(name);
  }

  @Override
  public String toString() {
    return name;
  }
}
