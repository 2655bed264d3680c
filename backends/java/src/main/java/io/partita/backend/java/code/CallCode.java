package io.partita.backend.java.code;

import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.TypeName;
import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.Signature;
import io.partita.backend.java.plan.Storage;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.lang.model.element.Modifier;

/** The entry points: {@code run}, or {@code step} and {@code reset} of a decoder. */
final class CallCode {
  private final ModulePlan plan;
  private final List<String> steps;
  private final SignatureCode signature;
  private final boolean decodes;
  private final Optional<TokenStep> tokenStep;
  private final Optional<PromptCode> prompt;
  private final String around;

  /**
   * @param inRole whether only the class that combines the devices calls it
   */
  CallCode(ModulePlan plan, SignatureCode signature, List<String> steps, boolean inRole) {
    this(
        plan,
        signature,
        steps,
        inRole ? Optional.empty() : TokenStep.of(plan.signature()),
        inRole
            ? Optional.empty()
            : plan.chunk()
                .flatMap(
                    chunk ->
                        PromptCode.of(
                            plan.signature(),
                            chunk.signature(),
                            plan.states().stream().map(state -> state.input().type()).toList())),
        "");
  }

  private CallCode(
      ModulePlan plan,
      SignatureCode signature,
      List<String> steps,
      Optional<TokenStep> tokenStep,
      Optional<PromptCode> prompt,
      String around) {
    this.plan = plan;
    this.steps = steps;
    this.signature = signature;
    this.decodes = !plan.states().isEmpty();
    this.tokenStep = tokenStep;
    this.prompt = prompt;
    this.around = around;
  }

  /**
   * The entry points of a nested class, whose enclosing class has the states.
   *
   * @param around the name of the enclosing class
   */
  static CallCode inside(
      String around, ModulePlan plan, SignatureCode signature, List<String> steps) {
    return new CallCode(plan, signature, steps, Optional.empty(), Optional.empty(), around + ".");
  }

  /** A field of this object or of the enclosing one. */
  private String own(String field) {
    return (plan.isShared(field) ? around : "") + "this." + field;
  }

  /** Constants about prompts for callers. */
  List<FieldSpec> constants() {
    return prompt.map(PromptCode::constants).orElse(List.of());
  }

  /** The caller's arrays and the results. */
  List<FieldSpec> portFields() {
    List<FieldSpec> fields = new ArrayList<>();
    for (ModulePlan.Parameter parameter : plan.parameters()) {
      TypeName type = SignatureCode.arrayOf(parameter.value().type());
      fields.add(FieldSpec.builder(type, parameter.field(), Modifier.PRIVATE).build());
    }
    for (ModulePlan.Result result : plan.results()) {
      if (result.direct()) {
        TypeName type = SignatureCode.arrayOf(result.type());
        fields.add(FieldSpec.builder(type, result.field(), Modifier.PRIVATE).build());
      }
    }
    return fields;
  }

  /** The caller's arrays, the results and the state. */
  List<FieldSpec> fields() {
    List<FieldSpec> fields = portFields();
    for (ModulePlan.StateArray state : plan.states()) {
      TensorType type = state.input().type();
      fields.add(
          ClassPrinter.array(Storage.of(type.element()), state.field(), type.shape().elements())
              .addJavadoc("$L\n", Comments.javadoc(state.inputName() + ": " + type))
              .build());
    }
    if (tokenStep.flatMap(TokenStep::position).isPresent()) {
      fields.add(
          FieldSpec.builder(TypeName.LONG, "position", Modifier.PRIVATE)
              .addJavadoc("Tokens since the last reset.\n")
              .build());
    }
    return fields;
  }

  List<MethodSpec> methods() {
    List<MethodSpec> methods = new ArrayList<>();
    methods.add(run());
    if (decodes) {
      methods.add(reset());
    }
    Optional<Signature> chunk = plan.chunk().map(ModulePlan::signature);
    SignatureCode.check(plan.signature(), chunk).ifPresent(methods::add);
    methods.addAll(SignatureCode.rangeChecks(plan.signature(), chunk));
    tokenStep.ifPresent(step -> methods.add(step.method(signature.resultType())));
    prompt.ifPresent(code -> methods.add(code.method()));
    return methods;
  }

  private MethodSpec run() {
    Body body = new Body();
    return run(signature.run(body), body);
  }

  /** Assigns the inputs, runs all steps and returns the outputs. */
  MethodSpec run(MethodSpec.Builder method, Body body) {
    for (ModulePlan.Parameter parameter : plan.parameters()) {
      body.line("this.%s = %s".formatted(parameter.field(), parameter.identifier()));
    }
    for (ModulePlan.Result result : plan.results()) {
      if (result.direct()) {
        String primitive = Storage.of(result.type().element()).primitive();
        body.line(
            "this.%s = new %s[%s]"
                .formatted(result.field(), primitive, SignatureCode.lengthName(result.field())));
      }
    }
    steps.forEach(step -> body.line(step + "()"));
    keepStates(body);
    SignatureCode.returns(body, plan.results().stream().map(this::returned).toList());
    return method.addCode(body.build()).build();
  }

  /**
   * Copies the states that the steps didn't write in place, after reading all of them, since one
   * may be the input of another.
   */
  private void keepStates(Body body) {
    List<ModulePlan.StateArray> copied =
        plan.states().stream().filter(state -> !state.inPlace()).toList();
    for (ModulePlan.StateArray state : copied) {
      String primitive = Storage.of(state.input().type().element()).primitive();
      body.line(
          "%s[] next%s = %s.clone()"
              .formatted(primitive, state.field(), own(plan.field(state.output()))));
    }
    for (ModulePlan.StateArray state : copied) {
      body.line(
          "System.arraycopy(next%s, 0, %s, 0, %s)"
              .formatted(
                  state.field(), own(state.field()), state.input().type().shape().elements()));
    }
  }

  private String returned(ModulePlan.Result result) {
    String field = own(plan.field(result.value()));
    return result.direct()
        ? field
        : "Arrays.copyOf(%s, %s)".formatted(field, SignatureCode.lengthName(result.field()));
  }

  private MethodSpec reset() {
    Body body = new Body();
    for (ModulePlan.StateArray state : plan.states()) {
      String zero = Storage.of(state.input().type().element()) == Storage.BOOLEANS ? "false" : "0";
      String cast =
          switch (Storage.of(state.input().type().element())) {
            case BYTES -> "(byte) 0";
            case SHORTS -> "(short) 0";
            case FLOATS, DOUBLES, LONGS, INTS, BOOLEANS -> zero;
          };
      body.line("Arrays.fill(this.%s, %s)".formatted(state.field(), cast));
    }
    if (tokenStep.flatMap(TokenStep::position).isPresent()) {
      body.line("position = 0");
    }
    return MethodSpec.methodBuilder("reset")
        .addModifiers(Modifier.PUBLIC)
        .addJavadoc("Resets the state: the next step is the first.\n")
        .addCode(body.build())
        .build();
  }
}
