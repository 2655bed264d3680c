package io.partita.passes.planning.cost;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Communication.Relayout;
import io.partita.ir.op.Communication.Sync;
import io.partita.ir.op.Contraction;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OverlapChoiceTest {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa:chips=8");

  /**
   * Tests a product on eight chips that takes longer than its messages, so that only those of the
   * last tile are waited for: few tiles, of which the last are small, cost fewer messages.
   */
  @Test
  void theLastTilesAreSmaller() {
    Mesh mesh = Mesh.line("x", 8);
    Layout whole = Layout.replicated(mesh, 3);
    GraphBuilder graph = new GraphBuilder("product");
    Value bytes = graph.input("bytes", TensorType.of(ElementType.I8, 1, 16, 2048));
    Value weight = graph.constant(Tensor.filled(TensorType.of(ElementType.I8, 2048, 512), 1));
    Layout matrix = Layout.replicated(mesh, 2);
    Value part =
        graph.add(Relayout.of(matrix, matrix.with(0, Split.even(mesh, 2048, "x"))), weight);
    Value sums = graph.add(new Contraction.MatMul(ElementType.I32), bytes, part);
    Sync sync =
        (Sync)
            Relayout.of(
                whole.withPartial("x", ReductionKind.SUM),
                whole.with(1, Split.even(mesh, 16, "x")));
    graph.output("tokens", graph.add(sync.with(new Algorithm.Direct()), sums));
    Layout split = whole.with(2, Split.even(mesh, 2048, "x"));
    Module module =
        new Module(
            graph.finish(), List.of(), Optional.of(new Placement(mesh, Map.of("bytes", split))));
    Module tiled = OverlapChoice.tiled(module, SIRACUSA, PlanOptions.DEFAULT);
    List<Long> columns = new ArrayList<>();
    tiled.graph().nodes().stream()
        .filter(node -> node.op() instanceof Sync)
        .forEach(node -> columns.add(node.result().type().shape().extent(2)));
    assertThat(columns).startsWith(256L).endsWith(64L, 64L);
  }
}
