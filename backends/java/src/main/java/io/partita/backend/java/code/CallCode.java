package io.partita.backend.java.code;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import io.partita.backend.java.JavaOptions;
import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.Storage;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import javax.lang.model.element.Modifier;

/** What a caller calls: {@code run}, or {@code step} and {@code reset} of a decoder. */
final class CallCode {
  private final ModulePlan plan;
  private final List<String> steps;
  private final ClassName self;
  private final boolean decodes;
  private final Optional<TokenStep> tokenStep;

  CallCode(ModulePlan plan, JavaOptions options, List<String> steps) {
    this.plan = plan;
    this.steps = steps;
    this.self = ClassName.get(options.packageName(), options.className());
    this.decodes = !plan.states().isEmpty();
    this.tokenStep = TokenStep.of(plan);
  }

  private static TypeName arrayOf(TensorType type) {
    return Types.of(Storage.of(type.element()).primitive() + "[]");
  }

  /** {@code inputIds} becomes {@code INPUT_IDS_LENGTH}. */
  private static String lengthName(String identifier) {
    String words = identifier.replaceAll("([a-z0-9])([A-Z])", "$1_$2");
    return words.toUpperCase(Locale.ROOT) + "_LENGTH";
  }

  /** The lengths of parameters and results. */
  List<FieldSpec> constants() {
    List<FieldSpec> constants = new ArrayList<>();
    for (ModulePlan.Parameter parameter : plan.parameters()) {
      constants.add(length(parameter.field(), parameter.name(), parameter.value().type()));
    }
    for (ModulePlan.Result result : plan.results()) {
      constants.add(length(result.field(), result.name(), result.type()));
    }
    return constants;
  }

  private static FieldSpec length(String field, String name, TensorType type) {
    return FieldSpec.builder(
            TypeName.INT, lengthName(field), Modifier.PUBLIC, Modifier.STATIC, Modifier.FINAL)
        .addJavadoc("Elements of $L.\n", Comments.javadoc(name + ": " + type))
        .initializer("$L", type.shape().elements())
        .build();
  }

  /** The caller's arrays, the results and the state. */
  List<FieldSpec> fields() {
    List<FieldSpec> fields = new ArrayList<>();
    for (ModulePlan.Parameter parameter : plan.parameters()) {
      TypeName type = arrayOf(parameter.value().type());
      fields.add(FieldSpec.builder(type, parameter.field(), Modifier.PRIVATE).build());
    }
    for (ModulePlan.Result result : plan.results()) {
      if (result.direct()) {
        TypeName type = arrayOf(result.type());
        fields.add(FieldSpec.builder(type, result.field(), Modifier.PRIVATE).build());
      }
    }
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

  /** The record of results, where there are several. */
  Optional<TypeSpec> outputs() {
    if (plan.results().size() < 2) {
      return Optional.empty();
    }
    MethodSpec.Builder components = MethodSpec.constructorBuilder();
    TypeSpec.Builder outputs =
        TypeSpec.recordBuilder("Outputs")
            .addModifiers(Modifier.PUBLIC)
            .addJavadoc("The results, row-major.\n\n");
    for (ModulePlan.Result result : plan.results()) {
      components.addParameter(arrayOf(result.type()), result.identifier());
      outputs.addJavadoc(
          "@param $L $L\n", result.identifier(), described(result.name(), result.type()));
    }
    return Optional.of(outputs.recordConstructor(components.build()).build());
  }

  private static String described(String name, TensorType type) {
    return Comments.javadoc(name + ": " + ClassPrinter.shapeText(type));
  }

  private TypeName resultType() {
    return switch (plan.results().size()) {
      case 0 -> TypeName.VOID;
      case 1 -> arrayOf(plan.results().getFirst().type());
      default -> self.nestedClass("Outputs");
    };
  }

  List<MethodSpec> methods() {
    List<MethodSpec> methods = new ArrayList<>();
    methods.add(run());
    if (decodes) {
      methods.add(reset());
    }
    if (!plan.parameters().isEmpty()) {
      methods.add(check());
    }
    tokenStep.ifPresent(step -> methods.add(step.method(resultType())));
    return methods;
  }

  private MethodSpec run() {
    MethodSpec.Builder method =
        MethodSpec.methodBuilder(decodes ? "step" : "run")
            .addModifiers(Modifier.PUBLIC)
            .returns(resultType())
            .addJavadoc(
                "Computes the outputs from the inputs, all row-major$L.\n\n",
                decodes ? ", and brings the state forward" : "");
    Body body = new Body();
    for (ModulePlan.Parameter parameter : plan.parameters()) {
      TensorType type = parameter.value().type();
      method.addParameter(arrayOf(type), parameter.identifier());
      method.addJavadoc(
          "@param $L $L\n", parameter.identifier(), described(parameter.name(), type));
      body.line(
          "check(%s.length, %s, \"%s\")"
              .formatted(
                  parameter.identifier(),
                  lengthName(parameter.field()),
                  Comments.clean(parameter.name() + ": " + type).replace("\"", "'")));
      body.line("this.%s = %s".formatted(parameter.field(), parameter.identifier()));
    }
    if (plan.results().size() == 1) {
      ModulePlan.Result result = plan.results().getFirst();
      method.addJavadoc("@return $L\n", described(result.name(), result.type()));
    }
    for (ModulePlan.Result result : plan.results()) {
      if (result.direct()) {
        String primitive = Storage.of(result.type().element()).primitive();
        body.line(
            "this.%s = new %s[%s]"
                .formatted(result.field(), primitive, lengthName(result.field())));
      }
    }
    steps.forEach(step -> body.line(step + "()"));
    keepStates(body);
    returnResults(body);
    return method.addCode(body.build()).build();
  }

  /** Copies the states that the steps didn't write in place; first all, as one may be another's. */
  private void keepStates(Body body) {
    List<ModulePlan.StateArray> copied =
        plan.states().stream().filter(state -> !state.inPlace()).toList();
    for (ModulePlan.StateArray state : copied) {
      String primitive = Storage.of(state.input().type().element()).primitive();
      body.line(
          "%s[] next%s = this.%s.clone()"
              .formatted(primitive, state.field(), plan.field(state.output())));
    }
    for (ModulePlan.StateArray state : copied) {
      body.line(
          "System.arraycopy(next%s, 0, this.%s, 0, %s)"
              .formatted(state.field(), state.field(), state.input().type().shape().elements()));
    }
  }

  private void returnResults(Body body) {
    List<String> values = new ArrayList<>();
    for (ModulePlan.Result result : plan.results()) {
      String field = "this." + plan.field(result.value());
      values.add(
          result.direct()
              ? field
              : "Arrays.copyOf(%s, %s)".formatted(field, lengthName(result.field())));
    }
    switch (values.size()) {
      case 0 -> {}
      case 1 -> body.line("return " + values.getFirst());
      default -> body.line("return new Outputs(" + String.join(", ", values) + ")");
    }
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
        .addJavadoc("Forgets all steps: the next one is the first.\n")
        .addCode(body.build())
        .build();
  }

  private static MethodSpec check() {
    Body body = new Body();
    body.open("if (length != expected)");
    body.line(
        "throw new IllegalArgumentException("
            + "what + \" takes \" + expected + \" elements, not \" + length)");
    body.close();
    return MethodSpec.methodBuilder("check")
        .addModifiers(Modifier.PRIVATE, Modifier.STATIC)
        .addParameter(TypeName.INT, "length")
        .addParameter(TypeName.INT, "expected")
        .addParameter(ClassName.get(String.class), "what")
        .addCode(body.build())
        .build();
  }
}
