package io.partita.ir.mesh;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The kind of exchange along a mesh axis that a change of layout needs. */
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
  /** From one place to all. */
  BROADCAST,
  /** From one place to another. */
  SEND,
  /** Split to whole at one place. */
  GATHER,
  /** From one place to split. */
  SCATTER;

  private static final Pattern KIND = Pattern.compile("([a-z_]+)\\(([^()]*)\\)");

  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the kinds as text: {@code reduce_scatter(x) all_gather(y)}. */
  public static String text(SequencedMap<String, SyncKind> kinds) {
    return kinds.entrySet().stream()
        .map(entry -> entry.getValue().text() + '(' + entry.getKey() + ')')
        .collect(Collectors.joining(" "));
  }

  /**
   * Parses the text of {@link #text(SequencedMap)}.
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
