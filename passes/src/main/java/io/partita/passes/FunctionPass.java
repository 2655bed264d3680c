package io.partita.passes;

import io.partita.ir.stage.Stage;
import java.util.function.Function;

/** A pass made of a function and its description. */
record FunctionPass<I, O>(
    String name, String purpose, Stage<I> takes, Stage<O> gives, Function<I, O> function)
    implements Pass<I, O> {
  @Override
  public O run(I model) {
    return function.apply(model);
  }
}
