package io.partita.backend.java.plan;

import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** All that the emitted class decides: steps, arrays, weights, names. */
public final class ModulePlan {
  /** A parameter of the program: a graph input that isn't a state. */
  public record Parameter(String name, String identifier, String field, Value value) {}

  /**
   * An array kept between runs.
   *
   * @param input the graph input
   * @param output the graph output that becomes the next run's input
   * @param inPlace whether the steps themselves write the array
   */
  public record StateArray(
      String inputName,
      String outputName,
      String field,
      Value input,
      Value output,
      boolean inPlace) {}

  /**
   * A result of the program.
   *
   * @param direct whether the steps write the handed-out array; otherwise it is copied at the end
   */
  public record Result(String name, String identifier, String field, Value value, boolean direct) {
    public TensorType type() {
      return value.type();
    }
  }

  /** A constant that is read from the side file when the program is opened. */
  public record HeapConstant(String field, WeightsPlan.Entry entry) {}

  private final Module module;
  private final List<Parameter> parameters;
  private final List<StateArray> states;
  private final List<Result> results;
  private final List<Step> steps;
  private final MemoryPlan memory;
  private final WeightsPlan weights;
  private final Aliases aliases;
  private final Map<Value, Place> places;
  private final SequencedMap<Value, HeapConstant> constants;

  ModulePlan(ModulePlanner planner) {
    this.module = planner.module;
    this.parameters = List.copyOf(planner.parameters);
    this.states = List.copyOf(planner.states);
    this.results = List.copyOf(planner.results);
    this.steps = List.copyOf(planner.steps);
    this.memory = planner.memory;
    this.weights = planner.weights;
    this.aliases = planner.aliases;
    this.places = planner.places;
    this.constants = planner.constants;
  }

  /** Plans a module whose shapes are all static. */
  public static ModulePlan of(Module module) {
    return new ModulePlan(new ModulePlanner(module).plan());
  }

  public Module module() {
    return module;
  }

  public List<Parameter> parameters() {
    return parameters;
  }

  public List<StateArray> states() {
    return states;
  }

  public List<Result> results() {
    return results;
  }

  public List<Step> steps() {
    return steps;
  }

  public MemoryPlan memory() {
    return memory;
  }

  public WeightsPlan weights() {
    return weights;
  }

  public List<HeapConstant> heapConstants() {
    return List.copyOf(constants.values());
  }

  /** The data of a value that is a constant, under the value's shape; null otherwise. */
  public Tensor constant(Value value) {
    Node definition = aliases.root(value).definition();
    return definition == null
        ? null
        : definition.constant().map(data -> data.reshaped(value.type().shape())).orElse(null);
  }

  /** The field whose array holds the value, row-major from element 0 on. */
  public String field(Value value) {
    Value root = aliases.root(value);
    HeapConstant constant = constants.get(root);
    return constant != null ? constant.field() : places.get(root).field();
  }

  /** Whether two values live in one array. */
  public boolean isSameArray(Value left, Value right) {
    return aliases.root(left) == aliases.root(right);
  }

  /** The name of the node that a constant comes from. */
  public String constantName(Value value) {
    return aliases.root(value).name();
  }
}
