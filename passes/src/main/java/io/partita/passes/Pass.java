package io.partita.passes;

import io.partita.ir.stage.Stage;
import java.util.Set;
import java.util.function.Function;

/**
 * A step of compilation from a model at one stage to the same or a later stage.
 *
 * @param <I> the input
 * @param <O> the output
 */
public interface Pass<I, O> {
  /** The name in pipelines, such as {@code raise}. */
  String name();

  /** The purpose, in one line. */
  String purpose();

  /** The stage of the input. */
  Stage<I> takes();

  /** The stage of the output. */
  Stage<O> gives();

  /** The required properties of the input, which other passes establish. */
  default Set<Property> requires() {
    return Set.of();
  }

  default Set<Property> establishes() {
    return Set.of();
  }

  O run(I model);

  /** Creates a pass without options or conditions. */
  static <I, O> Pass<I, O> of(
      String name, String purpose, Stage<I> takes, Stage<O> gives, Function<I, O> function) {
    return new FunctionPass<>(name, purpose, takes, gives, function);
  }

  /** A property of models that a pass establishes and others require. */
  enum Property {
    /** Subgraphs of transformers are structured operations. */
    RAISED,
    /** No type holds a symbol. */
    STATIC,
    /** KV caches are state of fixed capacity. */
    STATEFUL
  }
}
