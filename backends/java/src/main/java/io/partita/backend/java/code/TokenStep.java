package io.partita.backend.java.code;

import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.TypeName;
import io.partita.backend.java.plan.Signature;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.Optional;
import javax.lang.model.element.Modifier;

/**
 * A decoder's {@code step(long token)}, for a model whose inputs are a token and at most one
 * position, all i64 with one element.
 */
record TokenStep(
    Signature.Parameter token, Optional<Signature.Parameter> position, List<String> order) {
  static Optional<TokenStep> of(Signature signature) {
    List<Signature.Parameter> parameters = signature.parameters();
    boolean fits =
        signature.decodes()
            && (parameters.size() == 1 || parameters.size() == 2)
            && parameters.stream().allMatch(TokenStep::isOneLong);
    if (!fits) {
      return Optional.empty();
    }
    return token(parameters)
        .map(
            token ->
                new TokenStep(
                    token,
                    parameters.stream().filter(p -> p != token).findFirst(),
                    parameters.stream().map(p -> p == token ? "token" : "position++").toList()));
  }

  /** The index of the tokens among at most two parameters; the other one holds positions. */
  static Optional<Signature.Parameter> token(List<Signature.Parameter> parameters) {
    List<Signature.Parameter> tokens =
        parameters.stream().filter(p -> p.type().rank() == 2).toList();
    if (tokens.size() == 2) {
      tokens = tokens.stream().filter(p -> !p.name().contains("pos")).toList();
    }
    return tokens.size() == 1 ? Optional.of(tokens.getFirst()) : Optional.empty();
  }

  private static boolean isOneLong(Signature.Parameter parameter) {
    return parameter.type().element() == ElementType.I64
        && parameter.type().shape().elements() == 1;
  }

  MethodSpec method(TypeName result) {
    Body body = new Body();
    String arguments =
        String.join(", ", order.stream().map(value -> "new long[] {" + value + "}").toList());
    boolean isVoid = result.equals(TypeName.VOID);
    body.line((isVoid ? "" : "return ") + "step(" + arguments + ")");
    return MethodSpec.methodBuilder("step")
        .addModifiers(Modifier.PUBLIC)
        .addJavadoc(
            position.isPresent()
                ? "Feeds the next token; positions count from 0 after {@link #reset}.\n"
                : "Feeds the next token.\n")
        .addParameter(TypeName.LONG, "token")
        .returns(result)
        .addCode(body.build())
        .build();
  }
}
