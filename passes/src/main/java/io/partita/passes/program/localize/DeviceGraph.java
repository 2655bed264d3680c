package io.partita.passes.program.localize;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.IdentityHashMap;
import java.util.Map;

/** Builds the graph of one device, with the part that it holds of each value. */
final class DeviceGraph {
  private final int device;
  private final GraphBuilder builder;
  private final TensorParts parts;
  private final Map<Value, Local> locals = new IdentityHashMap<>();

  DeviceGraph(String name, int device, TensorParts parts) {
    this.device = device;
    this.builder = new GraphBuilder(name);
    this.parts = parts;
  }

  int device() {
    return device;
  }

  GraphBuilder builder() {
    return builder;
  }

  Packing packing() {
    return new Packing(builder);
  }

  Local local(Value whole) {
    return locals.get(whole);
  }

  void set(Value whole, Local local) {
    locals.put(whole, local);
  }

  /**
   * Returns the part that the device holds, as a value of its graph; an empty part is created
   * empty.
   */
  Value value(Value whole, Layout layout) {
    Local local = locals.get(whole);
    if (local instanceof Local.Held(Value value)) {
      return value;
    }
    Value value =
        local instanceof Local.Data(Tensor data, Box box) && !whole.isInput()
            ? builder.constant(whole.definition().origin(), parts.part(data, box))
            : materialise(local, layout.localType(whole.type(), device));
    locals.put(whole, new Local.Held(value));
    return value;
  }

  Value materialise(Local local, TensorType type) {
    return switch (local) {
      case Local.Held(Value value) -> value;
      case Local.Data(Tensor whole, Box box) -> builder.constant(parts.part(whole, box));
      case Local.Zeros() -> zeros(type);
      case Local.Nothing() -> builder.constant(Tensor.filled(type, 0));
    };
  }

  Value zeros(TensorType type) {
    Value zero = zero(type);
    return type.rank() == 0 ? zero : builder.add(new Movement.Broadcast(type.shape()), zero);
  }

  Value zero(TensorType type) {
    return builder.constant(Tensor.filled(TensorType.scalar(type.element()), 0));
  }
}
