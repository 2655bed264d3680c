package io.partita.ir.graph;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The provenance of a node: its place in the imported model, and its role in a transformer block. A
 * replacement takes the origin of the node that it replaces.
 *
 * @param name the name of the ONNX node, of its first output, or of the initializer; may be empty
 * @param block the number of the transformer block in the whole model, from 0; empty outside of
 *     blocks and before blocks are identified
 * @param role one word for its role, such as {@code query} or {@code embedding}; may be empty
 */
public record Origin(String name, OptionalInt block, String role) {
  public static final Origin NONE = named("");

  private static final Pattern PART =
      Pattern.compile("(?:block(0|[1-9][0-9]{0,8})(?:\\.([a-z]+))?|([a-z]+))");

  public static Origin named(String name) {
    return new Origin(name, OptionalInt.empty(), "");
  }

  /** Returns the origin with another name. */
  public Origin withName(String other) {
    return new Origin(other, block, role);
  }

  /** Returns the origin with another block and role. */
  public Origin with(OptionalInt block, String role) {
    return new Origin(name, block, role);
  }

  /** {@code block0.query}, {@code block0} or {@code embedding}; empty if neither is known. */
  public String part() {
    if (block.isEmpty()) {
      return role;
    }
    return "block" + block.getAsInt() + (role.isEmpty() ? "" : "." + role);
  }

  /** {@code q_proj @block0.query}: the name, and the block and role; either may be missing. */
  public String text() {
    String part = part();
    return part.isEmpty() ? name : name + (name.isEmpty() ? "@" : " @") + part;
  }

  /**
   * Returns the origin with the block and role of a text of {@link #part}; empty for any other
   * text.
   */
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
