package io.partita.passes.rewrite;

import java.util.Optional;

/**
 * What the captures of a pattern hold so far. Immutable, so that a match can go back and try on.
 */
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

  /** This match with one more capture; none when the capture already holds something else. */
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

  /** What the capture holds; it must have taken part in the match. */
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
