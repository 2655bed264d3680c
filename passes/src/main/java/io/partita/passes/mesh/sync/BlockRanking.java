package io.partita.passes.mesh.sync;

import io.partita.ir.graph.Module;
import io.partita.ir.propagate.LayoutInference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The sensitivity of each block of a model to dropping the sync after attention, as defined by
 * "SPD: Sync-Point Drop for Efficient Tensor Parallelism of Large Language Models", section 4.2.1.
 *
 * @param source the file, for diagnostics
 * @param mesh the devices on which it was measured
 * @param insensitive tau 1: the largest sensitivity of an insensitive block
 * @param sensitive tau 2: the largest sensitivity of a sensitive block
 * @param blocks the blocks by number
 * @param heads the order of kv heads that scatters them over devices, by block
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
   * @param sensitivity the degradation of the metric when the block's sync is dropped too, while
   *     those of all later blocks are
   */
  public record Block(String weights, double sensitivity) {}

  /** The class of a block by its sensitivity. */
  public enum Kind {
    /** ISB, insensitive: can be dropped without training. */
    INSENSITIVE,
    /** SB, sensitive: needs training. */
    SENSITIVE,
    /** ESB, extremely sensitive: needs head grouping and training. */
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

  /** Returns the blocks in the order in which they are dropped, the least sensitive first. */
  public List<Integer> order() {
    return IntStream.range(0, blocks.size())
        .boxed()
        .sorted(Comparator.comparingDouble(block -> blocks.get(block).sensitivity))
        .toList();
  }

  /** Returns the first blocks of this order. */
  BlockSelection least(int count) {
    return selection(order().subList(0, count));
  }

  /** Returns the insensitive blocks. */
  BlockSelection insensitiveBlocks() {
    return selection(order().stream().filter(block -> kind(block) == Kind.INSENSITIVE).toList());
  }

  private static BlockSelection selection(List<Integer> blocks) {
    return new BlockSelection(
        blocks.stream().sorted().map(block -> new BlockSelection.Range(block, block)).toList(),
        false);
  }

  /**
   * Returns the weights of each block's sum after attention, which identify the block.
   *
   * @param module a module of the mesh dialect with exact sums
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
   * Checks that the ranking is of this model and these devices.
   *
   * @param module a module of the mesh dialect with exact sums
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
