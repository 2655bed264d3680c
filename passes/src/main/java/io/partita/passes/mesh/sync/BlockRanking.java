package io.partita.passes.mesh.sync;

import io.partita.ir.graph.Module;
import io.partita.ir.propagate.LayoutInference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * What it costs to drop the sync after attention in each block of a model, as measured by "SPD:
 * Sync-Point Drop for Efficient Tensor Parallelism of Large Language Models", section 4.2.1.
 *
 * @param source the file, for diagnostics
 * @param mesh the devices on which it was measured
 * @param insensitive tau 1: the largest sensitivity of an insensitive block
 * @param sensitive tau 2: the largest sensitivity of a sensitive block
 * @param blocks by number
 * @param heads by block, its kv heads in the order in which devices get them to be scattered
 */
public record BlockRanking(
    String source,
    String mesh,
    double insensitive,
    double sensitive,
    List<Block> blocks,
    Map<Integer, List<Integer>> heads) {
  /** The threshold tau 1 that the paper uses for models of up to 13 billion parameters. */
  public static final double INSENSITIVE = 0.05;

  /** The threshold tau 2 of the paper. */
  public static final double SENSITIVE = 10;

  /**
   * A block.
   *
   * @param weights {@link SumSync#weights} of its sum after attention
   * @param sensitivity by how much the metric gets worse when the block's sync is dropped, while
   *     those of all later blocks are
   */
  public record Block(String weights, double sensitivity) {}

  /** How sensitive a block is. */
  public enum Kind {
    /** ISB: dropped as it is. */
    INSENSITIVE,
    /** SB: needs training for the drop. */
    SENSITIVE,
    /** ESB: needs its heads grouped and training. */
    EXTREMELY_SENSITIVE
  }

  public BlockRanking {
    blocks = List.copyOf(blocks);
    heads = Map.copyOf(heads);
  }

  public Kind kind(int block) {
    double sensitivity = blocks.get(block).sensitivity;
    return sensitivity <= insensitive
        ? Kind.INSENSITIVE
        : sensitivity <= sensitive ? Kind.SENSITIVE : Kind.EXTREMELY_SENSITIVE;
  }

  /** The blocks in the order in which they are dropped: the least sensitive first. */
  public List<Integer> order() {
    return IntStream.range(0, blocks.size())
        .boxed()
        .sorted(Comparator.comparingDouble(block -> blocks.get(block).sensitivity))
        .toList();
  }

  /** The first blocks of the order. */
  BlockSelection least(int count) {
    return selection(order().subList(0, count));
  }

  /** The insensitive blocks. */
  BlockSelection insensitiveBlocks() {
    return selection(order().stream().filter(block -> kind(block) == Kind.INSENSITIVE).toList());
  }

  private static BlockSelection selection(List<Integer> blocks) {
    return new BlockSelection(
        blocks.stream().sorted().map(block -> new BlockSelection.Range(block, block)).toList(),
        false);
  }

  /**
   * The weights of each block's sum after attention; they identify a block.
   *
   * @param module of the mesh dialect, with exact sums
   */
  public static List<String> weights(Module module) {
    List<String> weights = new ArrayList<>();
    for (SumSync sum : SumSync.of(module, LayoutInference.of(module))) {
      if (sum.block() == weights.size()) {
        weights.add(sum.weights());
      }
    }
    return weights;
  }

  /**
   * Refuses a ranking of another model, or of other devices.
   *
   * @param module of the mesh dialect, with exact sums
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#RANKING}
   */
  void require(Module module) {
    String found = module.placement().orElseThrow().mesh().toString();
    String remedy = "rank the blocks of this model on these devices with partita rank";
    if (!found.equals(mesh)) {
      throw SyncCode.RANKING.at(source, "a ranking on " + found, "one on " + mesh, remedy);
    }
    if (!weights(module).equals(blocks.stream().map(Block::weights).toList())) {
      throw SyncCode.RANKING.at(
          source, "a ranking of the blocks of this model", "other weights", remedy);
    }
  }
}
