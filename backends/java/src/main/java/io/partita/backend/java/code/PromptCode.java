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
 * The last chunk is filled up with any tokens: what they leave in the cache is behind the position,
 * so that no token sees it, and the next tokens overwrite it. A chunk that would reach beyond the
 * cache is fed token by token.
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
   * None for a model that has no {@link TokenStep} with a position, or other results than scores
   * {@code [1, n, v]}.
   *
   * @param states types of the caches, {@code [.., positions, d]}
   */
  static Optional<PromptCode> of(Signature step, Signature chunk, List<TensorType> states) {
    Optional<TokenStep> one = TokenStep.of(step);
    boolean fits =
        one.flatMap(TokenStep::position).isPresent()
            && chunk.parameters().size() == step.parameters().size()
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

  /** How many tokens a chunk takes, and how many the cache has room for. */
  List<FieldSpec> constants() {
    return List.of(
        constant("CHUNK", "Tokens that {@link #chunk} takes.", count(token)),
        constant("CAPACITY", "Positions that the cache has.", capacity));
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
    body.open("if (count == 1 || position + CHUNK > CAPACITY)");
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
            "Feeds the next tokens, as many at once as {@link #chunk} takes; as {@link #step}\n"
                + "with one after the other. The result is that of the last one.\n")
        .addParameter(Types.of("long[]"), "tokens")
        .varargs()
        .returns(SignatureCode.arrayOf(result.type()))
        .addCode(body.build())
        .build();
  }
}
