package io.partita.backend.java.code;

import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.TypeName;
import io.partita.backend.java.plan.Signature;
import io.partita.backend.java.plan.Storage;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.lang.model.element.Modifier;

/**
 * A decoder's {@code prompt(long... tokens)}, which feeds any number of tokens, a chunk at a time.
 * The last chunk is padded with arbitrary tokens: their cache entries are after the position, so no
 * token sees them, and the next tokens overwrite them. A chunk that would exceed the cache is fed
 * token by token.
 */
final class PromptCode {
  private final Signature chunk;
  private final Signature.Parameter token;
  private final long capacity;

  private PromptCode(Signature chunk, Signature.Parameter token, long capacity) {
    this.chunk = chunk;
    this.token = token;
    this.capacity = capacity;
  }

  /**
   * Empty for a model without a {@link TokenStep} with a position, or with results other than
   * scores {@code [1, n, v]}.
   *
   * @param states the types of the caches, {@code [.., positions, d]}
   */
  static Optional<PromptCode> of(Signature step, Signature chunk, List<TensorType> states) {
    Optional<TokenStep> one = TokenStep.of(step);
    boolean fits =
        one.flatMap(TokenStep::position).isPresent()
            && chunk.parameters().size() <= step.parameters().size()
            && chunk.parameters().stream().allMatch(p -> p.type().element() == ElementType.I64)
            && chunk.results().size() == 1
            && step.results().size() == 1;
    return fits
        ? TokenStep.token(chunk.parameters())
            .filter(token -> isRow(step, chunk, count(token)))
            .map(token -> new PromptCode(chunk, token, capacity(states)))
        : Optional.empty();
  }

  private static long count(Signature.Parameter parameter) {
    return parameter.type().shape().elements();
  }

  private static boolean isRow(Signature step, Signature chunk, long tokens) {
    long row = step.results().getFirst().type().shape().elements();
    return chunk.results().getFirst().type().shape().elements() == tokens * row;
  }

  private static long capacity(List<TensorType> states) {
    return states.stream().mapToLong(type -> type.shape().fromEnd(1).value()).min().orElseThrow();
  }

  /** The number of tokens in a chunk, and of positions in the cache. */
  List<FieldSpec> constants() {
    return List.of(
        constant("CHUNK", "The number of tokens that {@link #chunk} takes.", count(token)),
        constant("CAPACITY", "The number of positions in the cache.", capacity));
  }

  private static FieldSpec constant(String name, String comment, long value) {
    return FieldSpec.builder(TypeName.INT, name, Modifier.PUBLIC, Modifier.STATIC, Modifier.FINAL)
        .addJavadoc("$L\n", comment)
        .initializer("$L", value)
        .build();
  }

  MethodSpec method() {
    Signature.Result result = chunk.results().getFirst();
    String primitive = Storage.of(result.type().element()).primitive();
    long row = result.type().shape().elements() / count(token);
    Body body = new Body();
    body.open("if (tokens.length == 0 || tokens.length > CAPACITY - position)");
    body.line(
        "throw new IllegalArgumentException("
            + "\"the cache has room for 1 to \" + (CAPACITY - position)"
            + " + \" more tokens, not \" + tokens.length)");
    body.close();
    body.line(primitive + "[] last = null");
    body.open("for (int done = 0; done < tokens.length; )");
    body.line("int count = Math.min(CHUNK, tokens.length - done)");
    body.open(
        chunk.parameters().size() > 1
            ? "if (count == 1 || position + CHUNK > CAPACITY)"
            : "if (count == 1 || position > 0)");
    body.line("last = step(tokens[done++])");
    body.line("continue");
    body.close();
    body.line("long[] ids = new long[CHUNK]");
    body.line("System.arraycopy(tokens, done, ids, 0, count)");
    List<String> arguments = new ArrayList<>();
    for (Signature.Parameter parameter : chunk.parameters()) {
      if (parameter == token) {
        arguments.add("ids");
      } else {
        arguments.add("positions");
        body.line("long[] positions = new long[%s]".formatted(count(parameter)));
        body.open(LoopNest.loop("i", "positions.length"));
        body.line("positions[i] = position + i");
        body.close();
      }
    }
    body.line("%s[] all = chunk(%s)".formatted(primitive, String.join(", ", arguments)));
    body.line("last = Arrays.copyOfRange(all, (count - 1) * %s, count * %s)".formatted(row, row));
    body.line("position += count");
    body.line("done += count");
    body.close();
    body.line("return last");
    return MethodSpec.methodBuilder("prompt")
        .addModifiers(Modifier.PUBLIC)
        .addJavadoc(
            "Feeds the next tokens, in chunks of the size that {@link #chunk} takes. Equivalent to\n"
                + "{@link #step} for each token; returns the result of the last one.\n")
        .addParameter(Types.of("long[]"), "tokens")
        .varargs()
        .returns(SignatureCode.arrayOf(result.type()))
        .addCode(body.build())
        .build();
  }
}
