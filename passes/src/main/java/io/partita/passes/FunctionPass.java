package io.partita.passes;

import io.partita.ir.stage.Stage;
import java.util.function.Function;

/** A pass that is a function and what is said of it. */
record FunctionPass<I, O>(
    String name, String purpose, Stage<I> takes, Stage<O> gives, Function<I, O> function)
    implements Pass<I, O> {
  @Override
  public O run(I model) {
    return function.apply(model);
  }
}
