package io.partita.ir.graph;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a node comes from: its place in the model that was imported, and its part in a transformer.
 * What replaces a node takes its origin.
 *
 * @param name of the ONNX node or of its first output, or of the initializer; may be empty
 * @param block number of the transformer block, from 0 in the whole model; none outside of blocks
 *     and where blocks haven't been looked for
 * @param role what it does there, such as {@code query} or {@code embedding}: a word; may be empty
 */
public record Origin(String name, OptionalInt block, String role) {
  public static final Origin NONE = named("");

  private static final Pattern PART =
      Pattern.compile("(?:block(0|[1-9][0-9]{0,8})(?:\\.([a-z]+))?|([a-z]+))");

  public static Origin named(String name) {
    return new Origin(name, OptionalInt.empty(), "");
  }

  /** The same part of the transformer under another name. */
  public Origin withName(String other) {
    return new Origin(other, block, role);
  }

  /** The same name with another part of the transformer. */
  public Origin with(OptionalInt block, String role) {
    return new Origin(name, block, role);
  }

  /** {@code block0.query}, {@code block0} or {@code embedding}; empty where nothing is known. */
  public String part() {
    if (block.isEmpty()) {
      return role;
    }
    return "block" + block.getAsInt() + (role.isEmpty() ? "" : "." + role);
  }

  /** {@code q_proj @block0.query}: the name and the part; either may be missing. */
  public String text() {
    String part = part();
    return part.isEmpty() ? name : name + (name.isEmpty() ? "@" : " @") + part;
  }

  /** With the part that {@link #part} gave as a text; empty for another text. */
  public Optional<Origin> withPart(String text) {
    Matcher matcher = PART.matcher(text);
    if (!matcher.matches()) {
      return Optional.empty();
    }
    if (matcher.group(1) == null) {
      return Optional.of(with(OptionalInt.empty(), matcher.group(3)));
    }
    String role = matcher.group(2) == null ? "" : matcher.group(2);
    return Optional.of(with(OptionalInt.of(Integer.parseInt(matcher.group(1))), role));
  }
}
