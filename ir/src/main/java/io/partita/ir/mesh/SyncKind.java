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
  /** Nothing: each device has what it needs, and cuts or forgets the rest. */
  LOCAL;

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
