package io.partita.driver.cases;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.passes.schedule.legalize.Legalization;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Narrows inputs and outputs of integer networks to 8 bits: inputs whose recorded values fit, and
 * outputs whose values fit for any such inputs. Archives don't state the integer type, and the peer
 * uses the narrowest.
 */
final class NarrowTypes {
  private NarrowTypes() {}

  /**
   * @param recorded integers by the names of inputs; others stay as they are. Outputs stay as they
   *     are if it is empty
   */
  static Module of(Module module, Map<String, Tensor> recorded) {
    return recorded.isEmpty() ? module : withOutputs(withInputs(module, recorded));
  }

  private static Module withInputs(Module module, Map<String, Tensor> recorded) {
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

  private static Module withOutputs(Module module) {
    List<Graph.Output> narrowed = Legalization.narrowed(module).graph().outputs();
    GraphEditor graph = new GraphEditor(module.graph());
    for (int i = 0; i < narrowed.size(); i++) {
      Graph.Output output = module.graph().outputs().get(i);
      widened(narrowed.get(i).value())
          .map(type -> graph.add(new Elementwise.Cast(type), output.value()))
          .ifPresent(narrow -> graph.setOutput(output.name(), narrow));
    }
    return module.with(graph.freeze());
  }

  /** Returns the 8-bit type from which a value is cast to 32 bits. */
  private static Optional<ElementType> widened(Value value) {
    if (value.isInput() || value.type().element() != ElementType.I32) {
      return Optional.empty();
    }
    Node node = value.definition();
    return node.op() instanceof Elementwise.Cast
        ? Optional.of(node.operand(0).type().element()).filter(ElementType::isByte)
        : Optional.empty();
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
