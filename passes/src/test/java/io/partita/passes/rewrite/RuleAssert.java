package io.partita.passes.rewrite;

import io.partita.ir.graph.Module;
import io.partita.ir.text.PirParser;
import java.util.stream.Collectors;

/**
 * States the effect of one rule on a graph: {@code assertThat(rule).on(text).gives(text)}, or
 * {@code assertThat(rule).on(text).doesNotFire()}. The statement is checked when the case runs.
 *
 * <p>A text is a module, or in short its inputs in parentheses and its nodes, of which the last one
 * is the output:
 *
 * <pre>{@code
 * (%x: f32[2,7])
 * %0 = sigmoid(%x) : f32[2,7]
 * %1 = mul(%x, %0) : f32[2,7]
 * }</pre>
 *
 * A last line such as {@code return %1, %0} names other outputs. The expected result has the same
 * form without the inputs.
 */
public final class RuleAssert {
  private static final String INDENT = "    ";

  private final RewriteRule rule;
  private final String title;
  private final Numbers numbers;

  private RuleAssert(RewriteRule rule, String title, Numbers numbers) {
    this.rule = rule;
    this.title = title;
    this.numbers = numbers;
  }

  public static RuleAssert assertThat(RewriteRule rule) {
    return new RuleAssert(rule, "", Numbers.EXACT);
  }

  /** Describes the case, such as why the rule doesn't fire. */
  public RuleAssert as(String particular) {
    return new RuleAssert(rule, particular, numbers);
  }

  /**
   * Sets the tolerance of floats, relative to 1 or to their magnitude; by default they must be
   * equal.
   */
  public RuleAssert within(double tolerance) {
    return new RuleAssert(rule, title, numbers.within(tolerance));
  }

  /** Inputs of i64 are indices: at least 0 and below {@code bound}. */
  public RuleAssert indices(long bound) {
    return new RuleAssert(rule, title, numbers.indices(bound));
  }

  /** The graph has exchanges, which one device can't evaluate alone. */
  public RuleAssert withoutNumbers() {
    return new RuleAssert(rule, title, numbers.none());
  }

  public On on(String text) {
    return new On(text);
  }

  /** A rule and the graph to which it is applied. */
  public final class On {
    private final String text;

    private On(String text) {
      this.text = text;
    }

    /** The rule gives this graph, which has the same results. */
    public RuleCase gives(String expected) {
      return new RuleCase(rule, title, module(text), expected, numbers);
    }

    /** The rule doesn't change the graph. */
    public RuleCase doesNotFire() {
      return new RuleCase(rule, title, module(text), null, numbers);
    }
  }

  private static Module module(String text) {
    return PirParser.parse(text.startsWith("pir") ? text : wrapped(text));
  }

  private static String wrapped(String text) {
    String[] parts = text.strip().split("\n", 2);
    String nodes = parts[1];
    int last = nodes.lastIndexOf("\nreturn ");
    String results =
        last < 0
            ? nodes.substring(nodes.lastIndexOf('\n') + 1).split(" = ", 2)[0]
            : nodes.substring(last).strip().substring("return ".length());
    String statements = last < 0 ? nodes : nodes.substring(0, last);
    StringBuilder outputs = new StringBuilder();
    for (String result : results.split(", ")) {
      outputs
          .append(outputs.isEmpty() ? "\"y" : ", \"y")
          .append(result.substring(1))
          .append("\": ")
          .append(type(result, parts[0], statements));
    }
    return "pir 1\nmodule {\n  graph @main%s -> (%s) {\n%s\n    return %s\n  }\n}\n"
        .formatted(
            parts[0],
            outputs,
            statements.lines().map(line -> INDENT + line).collect(Collectors.joining("\n")),
            results);
  }

  /** Returns the stated type of a value. */
  private static String type(String value, String inputs, String statements) {
    for (String line : statements.split("\n")) {
      String[] sides = line.split(" = ", 2);
      int place = java.util.List.of(sides[0].split(", ")).indexOf(value);
      if (place >= 0) {
        return line.substring(line.lastIndexOf(" : ") + 3).split(", ")[place];
      }
    }
    String from = inputs.substring(inputs.indexOf(value + ": ") + value.length() + 2);
    return from.substring(0, from.indexOf(']') + 1);
  }
}
