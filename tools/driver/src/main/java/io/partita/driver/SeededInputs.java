package io.partita.driver;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Value;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Inputs for a graph that depend only on the seed, on every machine. */
public final class SeededInputs {
  private SeededInputs() {}

  /**
   * Floats are uniform in [-1, 1); integers 0 or 1, which are valid as token ids, positions and
   * lengths; all shapes must be static.
   */
  public static List<Tensor> of(Graph graph, long seed) {
    RandomGenerator random = generator(seed);
    return graph.inputs().stream().map(Value::type).map(type -> tensor(type, random)).toList();
  }

  /** Like {@link #of(Graph, long)}, for inputs with given names and types. */
  public static Map<String, Tensor> of(SequencedMap<String, TensorType> inputs, long seed) {
    RandomGenerator random = generator(seed);
    Map<String, Tensor> tensors = new LinkedHashMap<>();
    inputs.forEach((name, type) -> tensors.put(name, tensor(type, random)));
    return tensors;
  }

  private static RandomGenerator generator(long seed) {
    return RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  private static Tensor tensor(TensorType type, RandomGenerator random) {
    int size = Math.toIntExact(type.shape().elements());
    return type.element().isFloat()
        ? Tensor.ofDoubles(type, random.doubles(size, -1, 1).toArray())
        : Tensor.ofLongs(type, random.longs(size, 0, 2).toArray());
  }
}
