package io.partita.driver.evaluate;

import io.partita.backend.java.EmittedJava;
import io.partita.driver.Distribution;
import io.partita.driver.JavaTarget;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Structured;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.BlockNumbers;
import io.partita.passes.mesh.sync.BlockSelection;
import io.partita.passes.mesh.sync.DropSyncs;
import io.partita.passes.mesh.sync.HeadGroups;
import io.partita.passes.mesh.sync.HeadStatistics;
import io.partita.passes.mesh.sync.NetworkNorms;
import io.partita.passes.mesh.sync.ReorderHeads;
import io.partita.passes.mesh.sync.Statistics;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Chooses the heads that each device has in a block whose sync is dropped, as in "SPD: Sync-Point
 * Drop for Efficient Tensor Parallelism of Large Language Models", section 4.2.4: heads of unlike
 * attention scores come together, and go where the part of the feed-forward network adds most.
 */
final class HeadGrouping {

  private final Evaluation.Request request;
  private final Module module;
  private final Module sharded;
  private final Set<Integer> blocks;
  private final ProgressListener progress;
  private Map<Integer, double[][]> products = Map.of();

  /**
   * @param module of the graph dialect
   * @param blocks the blocks whose heads are grouped
   */
  HeadGrouping(
      Evaluation.Request request,
      Strategy strategy,
      Module module,
      Set<Integer> blocks,
      ProgressListener progress) {
    this.request = request;
    this.module = module;
    this.blocks = Set.copyOf(blocks);
    this.sharded = new ShardPass(strategy).run(module);
    this.progress = progress;
  }

  /** The kv heads of a block, in the order in which devices get them. */
  List<Integer> order(int block) {
    BlockNumbers blocks = BlockNumbers.of(sharded.graph());
    Node attention =
        sharded.graph().nodes().stream()
            .filter(node -> node.op() instanceof Structured.Attention)
            .filter(node -> blocks.of(node) == block)
            .findFirst()
            .orElseThrow();
    int heads = Math.toIntExact(attention.operand(1).type().dim(1).value());
    Split split = LayoutInference.of(sharded).layout(attention.operand(1)).splits().get(1);
    int groups = split.isNone() ? 1 : split.parts();
    if (groups == 1 || heads % groups != 0) {
      return IntStream.range(0, heads).boxed().toList();
    }
    List<List<Integer>> sets = HeadGroups.scattered(distances(block), groups);
    double[][] norms = new double[groups][groups];
    for (int shift = 0; shift < groups; shift++) {
      int by = shift;
      List<Integer> order =
          IntStream.range(0, groups)
              .mapToObj(device -> sets.get((device + by) % groups))
              .flatMap(List::stream)
              .toList();
      progress.step(
          "block %d: matching heads and networks, %d of %d".formatted(block, shift + 1, groups));
      double[] found = norms(block, order, groups);
      for (int device = 0; device < groups; device++) {
        norms[(device + shift) % groups][device] = found[device];
      }
    }
    int[] devices = HeadGroups.matched(norms);
    List<List<Integer>> byDevice = new ArrayList<>(sets);
    for (int set = 0; set < groups; set++) {
      byDevice.set(devices[set], sets.get(set));
    }
    return byDevice.stream().flatMap(List::stream).toList();
  }

  /** Between the attention scores of kv heads. The scores of all blocks are measured at once. */
  private double[][] distances(int block) {
    if (products.isEmpty()) {
      progress.step("attention scores of heads");
      HeadStatistics.Measuring measuring = HeadStatistics.of(module, blocks);
      products =
          measured(
              JavaTarget.USUAL
                  .backend()
                  .emit(Distribution.program(measuring.module()), Optional.empty()),
              measuring,
              measuring::products,
              HeadGrouping::sum);
    }
    return HeadStatistics.distances(products.get(block));
  }

  private static Map<Integer, double[][]> sum(
      Map<Integer, double[][]> one, Map<Integer, double[][]> other) {
    Map<Integer, double[][]> sum = new TreeMap<>();
    one.forEach((block, products) -> sum.put(block, sum(products, other.get(block))));
    return sum;
  }

  private static double[][] sum(double[][] one, double[][] other) {
    double[][] sum = new double[one.length][];
    for (int i = 0; i < one.length; i++) {
      sum[i] = sum(one[i], other[i]);
    }
    return sum;
  }

  private static double[] sum(double[] one, double[] other) {
    return IntStream.range(0, one.length).mapToDouble(i -> one[i] + other[i]).toArray();
  }

  /**
   * The norm of what the network's part of each device adds, of the devices that share heads
   * together.
   */
  private double[] norms(int block, List<Integer> order, int groups) {
    Module reordered = new ReorderHeads(Map.of(block, order)).run(sharded);
    BlockSelection alone = BlockSelection.parse("" + block).orElseThrow();
    Module dropped = new DropSyncs(alone).run(reordered);
    NetworkNorms.Measuring measuring = NetworkNorms.of(dropped, Set.of(block));
    double[] squares =
        measured(
            JavaTarget.USUAL
                .backend()
                .emit(Distribution.program(measuring.module()), Optional.empty()),
            measuring,
            outputs -> measuring.squares(outputs).get(block),
            HeadGrouping::sum);
    double[] norms = new double[groups];
    for (int place = 0; place < squares.length; place++) {
      norms[place * groups / squares.length] += Math.sqrt(squares[place]);
    }
    return norms;
  }

  /** The result over all samples. */
  private <R> R measured(
      EmittedJava emitted,
      Statistics statistics,
      Function<Map<String, Tensor>, R> reader,
      BinaryOperator<R> join) {
    try (Scorers scorers = new Scorers(emitted, request.threads())) {
      Metric metric =
          MetricChoice.of(
              request.model().model(),
              request.data(),
              request.scaling(),
              new MeasuredRun<>(scorers.first(), statistics, reader, join));
      int samples = Math.min(metric.samples(), request.samples().orElse(Integer.MAX_VALUE));
      SampleProgress finished = new SampleProgress("measured", 0, samples, progress);
      return scorers
          .each(
              0,
              samples,
              (program, sample) -> {
                MeasuredRun<R> run = new MeasuredRun<>(program, statistics, reader, join);
                metric.score(run, sample);
                return run.measured();
              },
              finished)
          .stream()
          .reduce(join)
          .orElseThrow();
    }
  }
}
