package io.partita.driver.cases;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.Map;
import java.util.Optional;

/**
 * Narrows inputs of integer networks to 8 bits, if the recorded values fit: archives don't state
 * the integer type, and the peer uses the narrowest.
 */
final class NarrowInputs {
  private NarrowInputs() {}

  /**
   * @param recorded integers by the names of inputs; others stay as they are
   */
  static Module of(Module module, Map<String, Tensor> recorded) {
    GraphEditor graph = new GraphEditor(module.graph());
    for (Value input : module.graph().inputs()) {
      Tensor data = recorded.get(input.name());
      Optional<ElementType> type = data == null ? Optional.empty() : narrowest(data);
      if (type.isPresent() && input.type().element() == ElementType.I32) {
        Value narrow = graph.retypeInput(input, input.type().with(type.get()));
        graph.replace(input, graph.add(new Elementwise.Cast(ElementType.I32), narrow));
      }
    }
    return module.with(graph.freeze());
  }

  private static Optional<ElementType> narrowest(Tensor data) {
    double low = 0;
    double high = 0;
    for (int i = 0; i < data.size(); i++) {
      low = Math.min(low, data.getDouble(i));
      high = Math.max(high, data.getDouble(i));
    }
    if (low >= ElementType.I8.minimum() && high <= ElementType.I8.maximum()) {
      return Optional.of(ElementType.I8);
    }
    boolean fits = low >= 0 && high <= ElementType.U8.maximum();
    return fits ? Optional.of(ElementType.U8) : Optional.empty();
  }
}
