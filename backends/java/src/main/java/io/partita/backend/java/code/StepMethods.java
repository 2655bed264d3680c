package io.partita.backend.java.code;

import com.palantir.javapoet.MethodSpec;
import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.Names;
import io.partita.backend.java.plan.Step;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import javax.lang.model.element.Modifier;

/**
 * Divides the steps into methods: one for each block of the model, or more if that would be too
 * long for the JIT compiler, which doesn't compile methods of more than 8,000 bytes.
 */
final class StepMethods {
  /** The most characters of a method's body; each takes less than a byte of bytecode. */
  static final int MAX_PART = 4000;

  /** The most calls in a method that only contains calls. */
  private static final int CALLS = 100;

  private final List<MethodSpec> methods = new ArrayList<>();
  private final Names names =
      new Names(Set.of("run", "step", "call", "reset", "open", "position", "check"));
  private final List<String> calls = new ArrayList<>();
  private Body body = new Body();

  /** The local variables of the method. */
  private final Set<String> declared = new HashSet<>();

  private OptionalInt block = OptionalInt.empty();
  private int first = 1;
  private int last;

  static StepMethods of(ModulePlan plan, StepPrinter printer) {
    StepMethods methods = new StepMethods();
    for (Step step : plan.steps()) {
      methods.add(step.node().origin().block(), printer.print(step));
    }
    methods.finish();
    methods.nestCalls();
    return methods;
  }

  private void add(OptionalInt block, List<Body> parts) {
    if (!block.equals(this.block)) {
      finish();
      this.block = block;
    }
    last++;
    for (Body part : parts) {
      if (body.characters() + part.characters() > MAX_PART) {
        finish();
      }
      for (String declaration : part.needed()) {
        if (declared.add(declaration)) {
          body.line(declaration);
        }
      }
      body.append(part);
    }
  }

  private void finish() {
    if (body.characters() > 0) {
      String part = block.isEmpty() ? "" : "block" + block.getAsInt();
      String name = names.identifier(part.isEmpty() ? "steps" : part, "");
      String where = block.isEmpty() ? "" : " of block " + block.getAsInt();
      methods.add(
          MethodSpec.methodBuilder(name)
              .addModifiers(Modifier.PRIVATE)
              .addJavadoc("Steps $L to $L$L.\n", first, last, where)
              .addCode(body.build())
              .build());
      calls.add(name);
    }
    body = new Body();
    declared.clear();
    first = last + 1;
  }

  /** Groups calls into further methods until few are left, so that no method is too long. */
  private void nestCalls() {
    while (calls.size() > CALLS) {
      List<String> all = List.copyOf(calls);
      calls.clear();
      for (int from = 0; from < all.size(); from += CALLS) {
        Body group = new Body();
        all.subList(from, Math.min(all.size(), from + CALLS)).forEach(c -> group.line(c + "()"));
        String name = names.identifier("group", "");
        methods.add(
            MethodSpec.methodBuilder(name)
                .addModifiers(Modifier.PRIVATE)
                .addCode(group.build())
                .build());
        calls.add(name);
      }
    }
  }

  /** The methods for all steps, to be called in this order. */
  List<String> calls() {
    return calls;
  }

  List<MethodSpec> methods() {
    return methods;
  }
}
