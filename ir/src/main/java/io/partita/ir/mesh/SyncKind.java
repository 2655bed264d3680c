package io.partita.ir.mesh;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

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
  SCATTER;

  private static final Pattern KIND = Pattern.compile("([a-z_]+)\\(([^()]*)\\)");

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** {@code reduce_scatter(x) all_gather(y)}: what is exchanged along each mesh axis. */
  public static String text(SequencedMap<String, SyncKind> kinds) {
    return kinds.entrySet().stream()
        .map(entry -> entry.getValue().text() + '(' + entry.getKey() + ')')
        .collect(Collectors.joining(" "));
  }

  /**
   * Reads what {@link #text(SequencedMap)} writes.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MeshCode#LAYOUT_TEXT}
   */
  public static SequencedMap<String, SyncKind> parse(String text) {
    SequencedMap<String, SyncKind> kinds = new LinkedHashMap<>();
    for (String part : text.split(" ", -1)) {
      Matcher matcher = KIND.matcher(part);
      if (!matcher.matches() || kinds.put(matcher.group(2), named(matcher.group(1))) != null) {
        throw MeshCode.LAYOUT_TEXT.at("kind", "kinds such as all_reduce(x)", text, "");
      }
    }
    return kinds;
  }

  private static SyncKind named(String text) {
    for (SyncKind kind : values()) {
      if (kind.text().equals(text)) {
        return kind;
      }
    }
    throw MeshCode.LAYOUT_TEXT.at("kind", "kinds such as all_reduce(x)", text, "");
  }
}
