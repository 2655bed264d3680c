package io.partita.passes;

import io.partita.ir.stage.Stage;
import java.util.Set;
import java.util.function.Function;

/**
 * One step of compilation: takes a model at one stage and gives it at the same or a later stage.
 *
 * @param <I> the form that it takes
 * @param <O> the form that it gives
 */
public interface Pass<I, O> {
  /** As it stands in a pipeline, such as {@code raise}. */
  String name();

  /** One line that says what it's for. */
  String purpose();

  /** The stage of what it takes. */
  Stage<I> takes();

  /** The stage of what it gives. */
  Stage<O> gives();

  /** Names of the properties that the model must have, which other passes establish. */
  default Set<Property> requires() {
    return Set.of();
  }

  default Set<Property> establishes() {
    return Set.of();
  }

  O run(I model);

  /** A pass without options or conditions. */
  static <I, O> Pass<I, O> of(
      String name, String purpose, Stage<I> takes, Stage<O> gives, Function<I, O> function) {
    return new FunctionPass<>(name, purpose, takes, gives, function);
  }

  /** What one pass may rely on because another has run. */
  enum Property {
    /** Subgraphs of transformers are structured operations. */
    RAISED,
    /** No type holds a symbol. */
    STATIC,
    /** KV caches are state of fixed capacity. */
    STATEFUL
  }
}
