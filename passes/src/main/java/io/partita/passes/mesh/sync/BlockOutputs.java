package io.partita.passes.mesh.sync;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.graph.anatomy.BlockRoles;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Adds outputs with the residual stream after blocks. */
public final class BlockOutputs {
  private static final String OUTPUT = "partita.block.";
  private static final Set<String> ENDS = Set.of(BlockRoles.RESIDUAL, BlockRoles.NORM);

  private BlockOutputs() {}

  /**
   * The measuring module.
   *
   * @param blocks the blocks with an additional output, in ascending order
   */
  public record Measuring(Module module, Set<Integer> blocks) implements Statistics {
    @Override
    public int outputs() {
      return blocks.size();
    }

    /** Returns the outputs of blocks of a run. */
    public Map<Integer, Tensor> values(Map<String, Tensor> outputs) {
      Map<Integer, Tensor> values = new TreeMap<>();
      blocks.forEach(block -> values.put(block, outputs.get(OUTPUT + block)));
      return values;
    }
  }

  /**
   * @param module a module of the mesh dialect
   * @param blocks the blocks to measure
   */
  public static Measuring of(Module module, Set<Integer> blocks) {
    LayoutInference layouts = LayoutInference.of(module);
    Map<Integer, Value> last = new TreeMap<>();
    for (Node node : module.graph().nodes()) {
      int block = node.origin().block().orElse(BlockNumbers.NONE);
      boolean isEnd = node.constant().isEmpty() && ENDS.contains(node.origin().role());
      if (isEnd && blocks.contains(block)) {
        Layout layout = layouts.layout(node.result());
        if (layout.partial().isEmpty() && layout.varying().isEmpty()) {
          last.put(block, node.result());
        }
      }
    }
    GraphEditor graph = new GraphEditor(module.graph());
    last.forEach((block, value) -> graph.addOutput(OUTPUT + block, value));
    return new Measuring(module.with(graph.freeze()), last.keySet());
  }
}
