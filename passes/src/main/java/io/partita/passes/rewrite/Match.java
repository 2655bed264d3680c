package io.partita.passes.rewrite;

import java.util.Optional;

/** The captures of a partial match. Immutable, so that matching can backtrack. */
public final class Match {
  static final Match EMPTY = new Match(null, null, null);

  private final Match before;
  private final Capture<?> capture;
  private final Object held;

  private Match(Match before, Capture<?> capture, Object held) {
    this.before = before;
    this.capture = capture;
    this.held = held;
  }

  /** Returns this match with another capture; empty if the capture already has another match. */
  <T> Optional<Match> with(Capture<T> capture, T value) {
    for (Match match = this; match != EMPTY; match = match.before) {
      if (match.capture == capture) {
        return match.held == value ? Optional.of(this) : Optional.empty();
      }
    }
    return Optional.of(new Match(this, capture, value));
  }

  public boolean has(Capture<?> capture) {
    for (Match match = this; match != EMPTY; match = match.before) {
      if (match.capture == capture) {
        return true;
      }
    }
    return false;
  }

  /** Returns the match of a capture, which must be part of this match. */
  @SuppressWarnings("unchecked")
  public <T> T get(Capture<T> capture) {
    for (Match match = this; match != EMPTY; match = match.before) {
      if (match.capture == capture) {
        return (T) match.held;
      }
    }
    throw new IllegalStateException("capture " + capture + " didn't take part in the match");
  }

  public <T> Optional<T> find(Capture<T> capture) {
    return has(capture) ? Optional.of(get(capture)) : Optional.empty();
  }
}
