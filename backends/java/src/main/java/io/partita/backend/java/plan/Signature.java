package io.partita.backend.java.plan;

import io.partita.ir.graph.InputRange;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * The interface of a program.
 *
 * @param decodes whether it keeps state, so that each call is a step
 */
public record Signature(List<Parameter> parameters, List<Result> results, boolean decodes) {
  /**
   * An input that isn't a state.
   *
   * @param name the name in the model
   * @param identifier the parameter's identifier
   * @param field the field that holds it while the program runs
   * @param range the allowed values; empty if all are allowed
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
