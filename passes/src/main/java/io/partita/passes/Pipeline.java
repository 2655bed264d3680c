package io.partita.passes;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.stage.Stage;
import io.partita.ir.stage.Staged;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A sequence of passes. In text form: {@code simplify,raise,kv-state(capacity=256)}; the arguments
 * of a pass are {@code name=value}, or a value alone if there is only one.
 */
public record Pipeline(List<Pass<?, ?>> passes) {
  private static final String OTHER_STAGE = "partita opt --list-passes lists the options of passes";
  private static final String END = "remove the last passes, or use partita opt";

  public Pipeline {
    passes = List.copyOf(passes);
  }

  /** Observes the result of each pass, for example to print it. */
  public interface Observer {
    void after(Pass<?, ?> pass, Staged<?> before, Staged<?> after);
  }

  /**
   * Parses a pipeline; blank text is the empty one.
   *
   * @throws PartitaException if it is malformed, contains an unknown pass or option, or a pass
   *     doesn't take the output of the previous one
   */
  public static Pipeline parse(String text, PassRegistry registry) {
    List<Pass<?, ?>> passes = new ArrayList<>();
    for (String call : split(text)) {
      passes.add(registry.create(PassCall.parse(call)));
    }
    for (int i = 1; i < passes.size(); i++) {
      registry.requireStage(passes.get(i), passes.get(i - 1).gives());
    }
    return new Pipeline(passes);
  }

  /** Splits at commas outside of parentheses. */
  private static List<String> split(String text) {
    List<String> parts = new ArrayList<>();
    int depth = 0;
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (depth < 0 || depth > 1) {
        throw syntax(text, "single, matching parentheses", "'" + c + "' at column " + (i + 1));
      }
      if (c == ',' && depth == 0) {
        parts.add(text.substring(start, i).strip());
        start = i + 1;
      }
    }
    if (depth != 0) {
      throw syntax(text, "')' for each '('", "the end");
    }
    if (!text.isBlank()) {
      parts.add(text.substring(start).strip());
    }
    return parts;
  }

  static PartitaException syntax(String text, String expected, String found) {
    return new PartitaException(
        PassCode.PIPELINE_SYNTAX,
        "'" + text + "'",
        expected,
        found,
        "write passes such as simplify,raise,kv-state(capacity=256)");
  }

  /**
   * Runs all passes.
   *
   * @throws PartitaException if a pass comes before one that it requires or takes models of another
   *     stage, or as the passes
   */
  public Staged<?> run(Staged<?> model, Observer observer) {
    Set<Pass.Property> established = EnumSet.noneOf(Pass.Property.class);
    Staged<?> current = model;
    for (Pass<?, ?> pass : passes) {
      requireOrder(pass, established);
      Staged<?> result = apply(pass, current);
      established.addAll(pass.establishes());
      observer.after(pass, current, result);
      current = result;
    }
    return current;
  }

  /** Runs all passes, which must give a module. */
  public Module run(Module module, Observer observer) {
    Staged<?> result = run(Staged.of(module), observer);
    return result
        .at(Stage.MODULE)
        .orElseThrow(() -> stage("the end of the passes", Stage.MODULE, result.stage(), END));
  }

  private static <I, O> Staged<O> apply(Pass<I, O> pass, Staged<?> model) {
    I taken =
        model
            .at(pass.takes())
            .orElseThrow(
                () -> stage("pass " + pass.name(), pass.takes(), model.stage(), OTHER_STAGE));
    return new Staged<>(pass.gives(), pass.run(taken));
  }

  static PartitaException stage(String where, Stage<?> expected, Stage<?> found, String remedy) {
    return new PartitaException(
        PassCode.PASS_ORDER, where, "a " + expected.label(), "a " + found.label(), remedy);
  }

  private void requireOrder(Pass<?, ?> pass, Set<Pass.Property> established) {
    for (Pass.Property property : pass.requires()) {
      if (!established.contains(property)) {
        throw new PartitaException(
            PassCode.PASS_ORDER,
            "pass " + pass.name(),
            "an earlier pass that makes the module " + property,
            "the pipeline " + passes.stream().map(Pass::name).toList(),
            "add such a pass before " + pass.name());
      }
    }
  }
}
