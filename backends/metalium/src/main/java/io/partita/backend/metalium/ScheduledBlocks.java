package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.schedule.AttentionBlocks;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.CoreBlocks;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.ProductBlocks;
import io.partita.ir.schedule.RowBlocks;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.StepMeaning;
import io.partita.ir.schedule.TileBlocks;
import io.partita.ir.schedule.TiledKernel;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The blocks in which cores compute results, as their schedule says. */
final class ScheduledBlocks {
  private final Map<Value, CoreBlocks> blocks = new IdentityHashMap<>();
  private final Map<Value, List<Node>> readers;
  private final CoreGrid cores;

  /** The results of all steps. */
  private final Set<Value> complete = Collections.newSetFromMap(new IdentityHashMap<>());

  ScheduledBlocks(ChipSchedule role, Graph graph) {
    readers = graph.readers();
    cores = role.cores();
    for (StepMeaning.Result result : role.meaning().orElseThrow().results()) {
      Value value = graph.nodes().get(result.node()).results().get(result.index());
      complete.add(value);
      if (role.steps().get(result.step()) instanceof ScheduleStep.RunTiles run) {
        TiledKernel loop = role.kernels().get(run.kernel());
        CoreBlocks.of(loop, role.cores()).ifPresent(each -> blocks.put(value, each));
      }
    }
  }

  /**
   * Returns the blocks of a product. If the schedule computes it in one loop with what follows its
   * last function here, they are those of that loop.
   *
   * @param last the last function that follows the product in its step
   * @throws PartitaException if no loop computes it
   */
  ProductBlocks product(Node last, Node product) {
    Value value = last.result();
    while (!complete.contains(value) && readers.getOrDefault(value, List.of()).size() == 1) {
      value = readers.get(value).getFirst().results().getFirst();
    }
    if (blocks.get(value) instanceof ProductBlocks found) {
      return found;
    }
    throw ModelSteps.unsupported(product);
  }

  /**
   * Returns the blocks of a norm or softmax.
   *
   * @throws PartitaException if no loop computes it
   */
  RowBlocks rows(Node node) {
    if (blocks.get(node.result()) instanceof RowBlocks found) {
      return found;
    }
    throw ModelSteps.unsupported(node);
  }

  /**
   * Returns the blocks of a value that is computed tile by tile.
   *
   * @param tiles the matrix of these tiles
   */
  TileBlocks tiles(Value value, Matrix tiles) {
    return blocks.get(value) instanceof TileBlocks found && isOf(found, tiles)
        ? found
        : tiles(tiles);
  }

  /** Returns the blocks of a matrix that no loop of the schedule computes. */
  TileBlocks tiles(Matrix matrix) {
    return TileBlocks.of(matrix.tileRows(), matrix.tileColumns(), cores);
  }

  /** Returns the blocks of a value of which a core computes whole rows of tiles. */
  TileBlocks wholeRows(Value value, Matrix tiles) {
    return blocks.get(value) instanceof TileBlocks found
            && isOf(found, tiles)
            && found.columns().block() == tiles.tileColumns()
        ? found
        : TileBlocks.ofRows(tiles.tileRows(), tiles.tileColumns(), cores);
  }

  /**
   * Returns the blocks of an attention.
   *
   * @param heads the heads of keys
   * @param queries the queries that attend to the keys of a head
   * @param keys those that take part
   */
  AttentionBlocks attention(Value value, long heads, long queries, long keys) {
    AttentionBlocks own = AttentionBlocks.of(heads, queries, keys, cores);
    return blocks.get(value) instanceof AttentionBlocks found && found.rows().equals(own.rows())
        ? found
        : own;
  }

  private static boolean isOf(TileBlocks blocks, Matrix matrix) {
    return blocks.rows().pages() == matrix.tileRows()
        && blocks.columns().pages() == matrix.tileColumns();
  }
}
