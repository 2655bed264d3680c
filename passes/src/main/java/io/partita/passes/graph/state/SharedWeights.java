package io.partita.passes.graph.state;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Source;
import io.partita.ir.program.Program;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Shares the weights of several modules of one model: equal tensors become one object, which
 * backends store once. Mapped tensors are compared by their location in the file, without reading
 * them; others by content.
 */
public final class SharedWeights {
  /** A mapped tensor; equal addresses and types mean equal data. */
  private record Location(TensorType type, long address) {}

  private final Map<Object, Tensor> known = new HashMap<>();
  private final Map<Tensor, Object> keys = new IdentityHashMap<>();

  private SharedWeights() {}

  /** Returns the second module, with equal tensors replaced by those of the first. */
  public static Module share(Module first, Module second) {
    SharedWeights shared = new SharedWeights();
    shared.add(first.graph());
    return second.with(shared.replace(second.graph()));
  }

  /** Does the same for each device; tensors that devices share remain shared. */
  public static Program share(Program first, Program second) {
    SharedWeights shared = new SharedWeights();
    first.devices().forEach(device -> shared.add(device.graph()));
    List<Module> devices = new ArrayList<>();
    for (Module device : second.devices()) {
      devices.add(device.with(shared.replace(device.graph())));
    }
    return new Program(second.mesh(), devices, second.inputs(), second.outputs());
  }

  private void add(Graph graph) {
    for (Node node : graph.nodes()) {
      node.constant().ifPresent(data -> known.putIfAbsent(key(data), data));
    }
  }

  private Object key(Tensor data) {
    return keys.computeIfAbsent(
        data,
        own ->
            own.size() > 0 && own.isMapped()
                ? new Location(own.type(), own.bytes().address())
                : own);
  }

  private Graph replace(Graph graph) {
    GraphEditor editor = new GraphEditor(graph);
    for (Node node : graph.nodes()) {
      Tensor own = node.constant().orElse(null);
      Tensor same = own == null ? null : known.get(key(own));
      if (same != null && same != own) {
        Value constant = editor.before(node).add(new Source.Constant(same));
        editor.replace(node.result(), constant);
      }
    }
    return editor.freeze();
  }
}
