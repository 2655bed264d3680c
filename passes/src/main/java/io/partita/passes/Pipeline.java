package io.partita.passes;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Passes in the order in which they run. As text: {@code simplify,raise,kv-state(capacity=256)};
 * the arguments of a pass are {@code name=value}, or a value alone where there's only one.
 */
public record Pipeline(List<Pass> passes) {
  public Pipeline {
    passes = List.copyOf(passes);
  }

  /** Sees each pass's result, for instance to print it. */
  public interface Observer {
    void after(Pass pass, Module before, Module after);
  }

  /**
   * Reads a pipeline; blank text is the empty one.
   *
   * @throws PartitaException when it isn't well formed, or names a pass or an option that there
   *     isn't
   */
  public static Pipeline parse(String text, PassRegistry registry) {
    List<Pass> passes = new ArrayList<>();
    for (String call : split(text)) {
      passes.add(registry.create(PassCall.parse(call)));
    }
    return new Pipeline(passes);
  }

  /** Cuts at the commas that stand outside parentheses. */
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
        "write passes as in: simplify,raise,kv-state(capacity=256)");
  }

  public Module run(Module module, Observer observer) {
    Set<Pass.Property> established = EnumSet.noneOf(Pass.Property.class);
    Module current = module;
    for (Pass pass : passes) {
      requireOrder(pass, established);
      Module result = pass.run(current);
      established.addAll(pass.establishes());
      observer.after(pass, current, result);
      current = result;
    }
    return current;
  }

  private void requireOrder(Pass pass, Set<Pass.Property> established) {
    for (Pass.Property property : pass.requires()) {
      if (!established.contains(property)) {
        throw new PartitaException(
            PassCode.PASS_ORDER,
            "pass " + pass.name(),
            "a pass before it that makes the module " + property,
            "the pipeline " + passes.stream().map(Pass::name).toList(),
            "put such a pass before " + pass.name());
      }
    }
  }
}
