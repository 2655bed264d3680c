package io.partita.backend.java.plan;

import io.partita.ir.graph.InputRange;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * How a program is called.
 *
 * @param decodes whether it keeps state, so that a call is a step
 */
public record Signature(List<Parameter> parameters, List<Result> results, boolean decodes) {
  /**
   * An input that isn't a state.
   *
   * @param name in the model
   * @param identifier of the parameter
   * @param field that holds it while the program runs
   * @param range the values that it may hold; none where it may hold any
   */
  public record Parameter(
      String name, String identifier, String field, TensorType type, Optional<InputRange> range) {}

  /** An output that isn't a state. */
  public record Result(String name, String identifier, String field, TensorType type) {}

  public Signature {
    parameters = List.copyOf(parameters);
    results = List.copyOf(results);
  }
}
