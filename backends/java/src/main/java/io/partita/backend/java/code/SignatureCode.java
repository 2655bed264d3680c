package io.partita.backend.java.code;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.TypeName;
import com.palantir.javapoet.TypeSpec;
import io.partita.backend.java.plan.Signature;
import io.partita.backend.java.plan.Storage;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;

/** The parts that classes with the same interface share. */
final class SignatureCode {
  private final Signature signature;
  private final ClassName self;

  SignatureCode(Signature signature, ClassName self) {
    this.signature = signature;
    this.self = self;
  }

  static TypeName arrayOf(TensorType type) {
    return Types.of(Storage.of(type.element()).primitive() + "[]");
  }

  /** {@code inputIds} becomes {@code INPUT_IDS}. */
  static String constantName(String identifier) {
    return identifier.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toUpperCase(Locale.ROOT);
  }

  /** {@code inputIds} becomes {@code INPUT_IDS_LENGTH}. */
  static String lengthName(String identifier) {
    return constantName(identifier) + "_LENGTH";
  }

  /** The lengths of parameters and results. */
  List<FieldSpec> constants() {
    List<FieldSpec> constants = new ArrayList<>();
    for (Signature.Parameter parameter : signature.parameters()) {
      constants.add(length(parameter.field(), parameter.name(), parameter.type()));
    }
    for (Signature.Result result : signature.results()) {
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

  /** The record of results, where there are several. */
  Optional<TypeSpec> outputs() {
    if (signature.results().size() < 2) {
      return Optional.empty();
    }
    MethodSpec.Builder components = MethodSpec.constructorBuilder();
    TypeSpec.Builder outputs =
        TypeSpec.recordBuilder("Outputs")
            .addModifiers(Modifier.PUBLIC)
            .addJavadoc("The results, row-major.\n\n");
    for (Signature.Result result : signature.results()) {
      components.addParameter(arrayOf(result.type()), result.identifier());
      outputs.addJavadoc(
          "@param $L $L\n", result.identifier(), described(result.name(), result.type()));
    }
    return Optional.of(outputs.recordConstructor(components.build()).build());
  }

  private static String described(String name, TensorType type) {
    return Comments.javadoc(name + ": " + ClassPrinter.shapeText(type));
  }

  TypeName resultType() {
    return switch (signature.results().size()) {
      case 0 -> TypeName.VOID;
      case 1 -> arrayOf(signature.results().getFirst().type());
      default -> self.nestedClass("Outputs");
    };
  }

  /** {@code run}, or {@code step} of a decoder; {@code body} checks the lengths of its arrays. */
  MethodSpec.Builder run(Body body) {
    return run(signature.decodes() ? "step" : "run", body);
  }

  /** A method that takes all inputs; {@code body} checks their lengths. */
  MethodSpec.Builder run(String name, Body body) {
    MethodSpec.Builder method = declared(name);
    for (Signature.Parameter parameter : signature.parameters()) {
      body.line(
          "check(%s.length, %s, \"%s\")"
              .formatted(
                  parameter.identifier(),
                  lengthName(parameter.field()),
                  Comments.clean(parameter.name() + ": " + parameter.type()).replace("\"", "'")));
      parameter
          .range()
          .ifPresent(
              range ->
                  body.line(
                      "checkRange(%s, %dL, %dL, \"%s\")"
                          .formatted(
                              parameter.identifier(),
                              range.least(),
                              range.most(),
                              Comments.clean(parameter.name()).replace("\"", "'"))));
    }
    return method;
  }

  /** A method that takes all inputs and returns all outputs. */
  MethodSpec.Builder declared(String name) {
    MethodSpec.Builder method =
        MethodSpec.methodBuilder(name)
            .addModifiers(Modifier.PUBLIC)
            .returns(resultType())
            .addJavadoc(
                "Computes the outputs from the inputs, all row-major$L.\n\n",
                signature.decodes() ? ", and updates the state" : "");
    for (Signature.Parameter parameter : signature.parameters()) {
      TensorType type = parameter.type();
      method.addParameter(arrayOf(type), parameter.identifier());
      method.addJavadoc(
          "@param $L $L\n", parameter.identifier(), described(parameter.name(), type));
    }
    if (signature.results().size() == 1) {
      Signature.Result result = signature.results().getFirst();
      method.addJavadoc("@return $L\n", described(result.name(), result.type()));
    }
    return method;
  }

  /** Returns values, one for each result. */
  static void returns(Body body, List<String> values) {
    switch (values.size()) {
      case 0 -> {}
      case 1 -> body.line("return " + values.getFirst());
      default -> body.line("return new Outputs(" + String.join(", ", values) + ")");
    }
  }

  /** The checks of {@link #run} for inputs with limited values, by type of array. */
  static List<MethodSpec> rangeChecks(Signature signature, Optional<Signature> chunk) {
    return Stream.concat(Stream.of(signature), chunk.stream())
        .flatMap(each -> each.parameters().stream())
        .filter(parameter -> parameter.range().isPresent())
        .map(parameter -> arrayOf(parameter.type()))
        .distinct()
        .map(SignatureCode::rangeCheck)
        .toList();
  }

  private static MethodSpec rangeCheck(TypeName array) {
    Body body = new Body();
    body.open("for (long value : values)");
    body.open("if (value < least || value > most)");
    body.line(
        "throw new IllegalArgumentException(\"input \" + what"
            + " + \": expected \" + least + \" to \" + most + \", found \" + value)");
    body.close();
    body.close();
    return MethodSpec.methodBuilder("checkRange")
        .addModifiers(Modifier.PRIVATE, Modifier.STATIC)
        .addParameter(array, "values")
        .addParameter(TypeName.LONG, "least")
        .addParameter(TypeName.LONG, "most")
        .addParameter(ClassName.get(String.class), "what")
        .addCode(body.build())
        .build();
  }

  /** The check of lengths that {@link #run} of both entry points calls. */
  static Optional<MethodSpec> check(Signature signature, Optional<Signature> chunk) {
    boolean isCalled =
        Stream.concat(Stream.of(signature), chunk.stream())
            .anyMatch(each -> !each.parameters().isEmpty());
    if (!isCalled) {
      return Optional.empty();
    }
    Body body = new Body();
    body.open("if (length != expected)");
    body.line(
        "throw new IllegalArgumentException("
            + "what + \" takes \" + expected + \" elements, not \" + length)");
    body.close();
    return Optional.of(
        MethodSpec.methodBuilder("check")
            .addModifiers(Modifier.PRIVATE, Modifier.STATIC)
            .addParameter(TypeName.INT, "length")
            .addParameter(TypeName.INT, "expected")
            .addParameter(ClassName.get(String.class), "what")
            .addCode(body.build())
            .build());
  }
}
