package io.partita.backend.java.code;

import com.palantir.javapoet.CodeBlock;
import io.partita.backend.java.JavaOptions;
import io.partita.backend.java.plan.ModulePlan;
import java.util.Optional;

/** The Javadoc of the class: its inputs, outputs and memory. */
final class ClassComment {
  private ClassComment() {}

  static CodeBlock of(
      ModulePlan plan, JavaOptions options, Scratch scratch, Optional<RoleCode> role) {
    CodeBlock.Builder text = CodeBlock.builder();
    String model = plan.module().graph().name();
    String title = (model.isEmpty() ? "without a name" : "\"" + model + "\"");
    line(
        text,
        role.map(code -> code.title() + " in the model ").orElse("The model ")
            + title
            + ", compiled by Partita.");
    text.add("\n<ul>\n");
    text.add(ports(plan));
    for (ModulePlan.StateArray state : plan.states()) {
      item(
          text,
          "state "
              + state.inputName()
              + " to "
              + state.outputName()
              + ": "
              + ClassPrinter.shapeText(state.input().type()));
    }
    item(text, "parameters: " + plan.weights().parameters());
    item(
        text,
        "weights: "
            + plan.weights().bytes()
            + " bytes"
            + (role.isPresent() ? "" : " in " + options.weightsFile()));
    item(
        text,
        "activations: "
            + plan.memory().bytes()
            + " bytes, at most "
            + plan.memory().liveBytes()
            + " live at once; scratch: "
            + scratchBytes(scratch)
            + " bytes");
    text.add(role.isPresent() ? "</ul>\n" : "</ul>\n\n");
    if (role.isPresent()) {
      return text.build();
    }
    text.add(
        "<p>Not thread-safe: all calls share arrays. Use one object per thread; these share the\n");
    text.add("mapped weights through the operating system.\n");
    return text.build();
  }

  /** One line for each input and output. */
  static CodeBlock ports(ModulePlan plan) {
    CodeBlock.Builder text = CodeBlock.builder();
    for (ModulePlan.Parameter parameter : plan.parameters()) {
      item(
          text,
          "input " + parameter.name() + ": " + ClassPrinter.shapeText(parameter.value().type()));
    }
    for (ModulePlan.Result result : plan.results()) {
      item(text, "output " + result.name() + ": " + ClassPrinter.shapeText(result.type()));
    }
    return text.build();
  }

  private static long scratchBytes(Scratch scratch) {
    return scratch.arrays().stream()
        .mapToLong(array -> (long) array.elements() * array.storage().bytes())
        .sum();
  }

  private static void line(CodeBlock.Builder text, String line) {
    text.add("$L\n", Comments.javadoc(line));
  }

  private static void item(CodeBlock.Builder text, String item) {
    text.add("  <li>$L\n", Comments.javadoc(item));
  }
}
