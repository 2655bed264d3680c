package io.partita.ir.mesh;

import java.util.Locale;

/** What devices along a mesh axis exchange when a layout changes. */
public enum SyncKind {
  /** Partial to whole. */
  ALL_REDUCE,
  /** Split to whole. */
  ALL_GATHER,
  /** Partial to split. */
  REDUCE_SCATTER,
  /** Split to another split. */
  ALL_TO_ALL,
  /** Partial to whole at one place. */
  REDUCE,
  /** At one place to everywhere. */
  BROADCAST,
  /** At one place to at another one. */
  SEND,
  /** Split to whole at one place. */
  GATHER,
  /** At one place to split. */
  SCATTER,
  /**
   * Nothing: each device has what it needs, and cuts or forgets the rest. What one device has
   * becomes a partial sum as it is: the others hold zeros.
   */
  LOCAL;

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
