package io.partita.passes.schedule;

import io.partita.ir.graph.Origin;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.view.Region;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Regions that the entry points of a program share: constants, each once, and states by name. */
final class SharedRegions {
  private final Map<List<Object>, Region> constants = new LinkedHashMap<>();
  private final Map<String, Region> states = new LinkedHashMap<>();
  private final Map<List<Object>, List<Tensor>> folded = new HashMap<>();

  /**
   * @param tensors the tensor of each device, compared by identity
   */
  Region constant(Origin origin, List<Tensor> tensors) {
    return constants.computeIfAbsent(identities(tensors), key -> Region.constant(origin, tensors));
  }

  Region state(String name, long bytes) {
    return states.computeIfAbsent(name, key -> Region.state(Origin.named(name), bytes));
  }

  /**
   * Returns the results of an operation on constants; the same tensors for the same operands.
   *
   * @param operands the tensors of each device, by operand
   */
  List<Tensor> folded(
      Object op, List<List<Tensor>> operands, TensorType type, Supplier<List<Tensor>> made) {
    List<Object> key = new ArrayList<>(List.of(op, type));
    operands.forEach(each -> key.addAll(identities(each)));
    return folded.computeIfAbsent(key, each -> made.get());
  }

  private static List<Object> identities(List<Tensor> tensors) {
    return tensors.stream().<Object>map(TensorIdentity::new).toList();
  }
}
