package io.partita.passes.mesh.sync;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Adds outputs with the least and the largest value in a sequence of each feature of the devices'
 * terms of sums, of the sums, and of the partial sums that devices pass on.
 */
public final class RangeStatistics {
  private static final String OUTPUT = "partita.sum.";

  /** The most tokens of a run on which errors are measured. */
  private static final long TOKENS = 32;

  private RangeStatistics() {}

  /**
   * The measuring module.
   *
   * @param sums the sums in the order of the outputs
   */
  public record Measuring(Module module, List<SumSync> sums) implements Statistics {
    /**
     * Returns the ranges of a run.
     *
     * @param outputs the outputs by name
     */
    public List<FeatureRanges> ranges(Map<String, Tensor> outputs) {
      return IntStream.range(0, sums.size())
          .mapToObj(
              i ->
                  new FeatureRanges(
                      lines(outputs.get(name(i, "min")), sums.get(i)),
                      lines(outputs.get(name(i, "max")), sums.get(i)),
                      outputs.get(name(i, "least_sum")).doubles(),
                      outputs.get(name(i, "largest_sum")).doubles(),
                      partial(outputs.get(name(i, "least_partial")), sums.get(i)),
                      partial(outputs.get(name(i, "largest_partial")), sums.get(i))))
          .toList();
    }

    @Override
    public int outputs() {
      return sums.stream().mapToInt(sum -> PartialSums.of(sum.places()).isEmpty() ? 5 : 7).sum();
    }

    /**
     * Returns the errors of the encodings of each sum, over some tokens of a run.
     *
     * @param outputs the outputs by name
     * @param ranges the ranges of each sum
     */
    public List<SumErrors> errors(Map<String, Tensor> outputs, List<FeatureRanges> ranges) {
      return IntStream.range(0, sums.size())
          .mapToObj(
              i -> SumErrors.of(terms(outputs.get(name(i, "terms")), sums.get(i)), ranges.get(i)))
          .toList();
    }

    private static float[][][] terms(Tensor tensor, SumSync sync) {
      int places = sync.places();
      int features = sync.features();
      float[][][] terms = new float[tensor.size() / (places * features)][places][features];
      for (int i = 0; i < tensor.size(); i++) {
        int line = i / features;
        terms[line / places][line % places][i % features] = (float) tensor.getDouble(i);
      }
      return terms;
    }

    private static double[][] partial(Tensor tensor, SumSync sync) {
      return tensor == null ? new double[0][] : lines(tensor, sync);
    }

    private static double[][] lines(Tensor tensor, SumSync sync) {
      double[][] lines = new double[tensor.size() / sync.features()][sync.features()];
      for (int i = 0; i < tensor.size(); i++) {
        lines[i / sync.features()][i % sync.features()] = tensor.getDouble(i);
      }
      return lines;
    }
  }

  /**
   * @param module a module of the mesh dialect
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#LOW_BIT} if it has no
   *     sums to measure
   */
  public static Measuring of(Module module) {
    LayoutInference layouts = LayoutInference.of(module);
    List<SumSync> syncs = SumSync.of(module, layouts);
    if (syncs.isEmpty()) {
      throw SyncCode.LOW_BIT.at(
          "module " + module.graph().name(),
          "all-reduces of sums in blocks",
          "none",
          "calibrate a transformer on several devices, with --strategy tensor=N");
    }
    GraphEditor graph = new GraphEditor(module.graph());
    for (int i = 0; i < syncs.size(); i++) {
      SumSync sync = syncs.get(i);
      graph.before(sync.node());
      Value term = SumTerms.of(sync, layouts, graph).term().orElseThrow();
      Value stacked = SumTerms.stacked(term, sync, graph);
      Function<ReductionKind, Value> reduced =
          kind -> reduce(stacked, sync.sizes().size(), kind, sync, graph);
      graph.addOutput(name(i, "min"), reduced.apply(ReductionKind.MIN));
      graph.addOutput(name(i, "max"), reduced.apply(ReductionKind.MAX));
      Value sum = graph.add(sync.node().op(), term);
      graph.addOutput(name(i, "least_sum"), reduce(sum, 0, ReductionKind.MIN, sync, graph));
      graph.addOutput(name(i, "largest_sum"), reduce(sum, 0, ReductionKind.MAX, sync, graph));
      Value terms = byToken(stacked, sync, layouts, graph);
      graph.addOutput(name(i, "terms"), someTokens(terms, graph));
      List<PartialSums> partial = PartialSums.of(sync.places());
      if (!partial.isEmpty()) {
        Value sums = partialSums(terms, partial, sync, graph);
        List<Integer> tokens = List.of(0);
        graph.addOutput(
            name(i, "least_partial"),
            graph.add(new Reduction.Reduce(ReductionKind.MIN, tokens, false), sums));
        graph.addOutput(
            name(i, "largest_partial"),
            graph.add(new Reduction.Reduce(ReductionKind.MAX, tokens, false), sums));
      }
    }
    return new Measuring(module.with(graph.freeze()), syncs);
  }

  /** Returns all terms on all devices, {@code [tokens, places features]}. */
  private static Value byToken(
      Value stacked, SumSync sync, LayoutInference layouts, GraphEditor graph) {
    Layout base = layouts.layout(sync.node().operand(0));
    int rank = stacked.type().rank();
    Layout from = SumTerms.layout(sync, base, rank);
    Layout to = Layout.replicated(base.mesh(), rank).withAt(base.at());
    Value all = graph.add(Communication.Relayout.of(from, to), stacked);
    long places = sync.places();
    long features = sync.features();
    long tokens = sync.type().shape().elements() / features;
    Value lines = graph.add(new Movement.Reshape(Shape.of(places, tokens, features)), all);
    Value byToken = graph.add(new Movement.Transpose(List.of(1, 0, 2)), lines);
    return graph.add(new Movement.Reshape(Shape.of(tokens, places * features)), byToken);
  }

  /** Returns every so many lines, at most {@link #TOKENS}. */
  private static Value someTokens(Value lines, GraphEditor graph) {
    long tokens = lines.type().shape().extent(0);
    long step = Math.max(1, Math.ceilDiv(tokens, TOKENS));
    long count = Math.ceilDiv(tokens, step);
    List<Dim> starts = List.of(Dim.of(0), Dim.of(0));
    List<Dim> sizes = List.of(Dim.of(count), lines.type().shape().dim(1));
    return graph.add(new Movement.Slice(starts, sizes, List.of(step, 1L)), lines);
  }

  /**
   * Returns {@code [tokens, sums features]}.
   *
   * @param flat all terms, {@code [tokens, places features]}
   */
  private static Value partialSums(
      Value flat, List<PartialSums> partial, SumSync sync, GraphEditor graph) {
    long features = sync.features();
    List<Value> sums = new ArrayList<>();
    for (PartialSums each : partial) {
      Value sum = null;
      for (int i = 0; i < each.count(); i++) {
        int at = i;
        long[] indices =
            IntStream.range(0, sync.features())
                .mapToLong(j -> each.terms(j, sync.places()).get(at) * features + j)
                .toArray();
        Value index = graph.constant(Tensor.longs(Shape.of(features), indices));
        Value term = graph.add(new Movement.Gather(1), flat, index);
        sum = sum == null ? term : graph.add(new Elementwise.Binary(BinaryFunction.ADD), sum, term);
      }
      sums.add(sum);
    }
    return BitPacking.concat(sums, graph);
  }

  /**
   * Reduces over all tokens.
   *
   * @param places the number of dimensions of devices
   */
  private static Value reduce(
      Value value, int places, ReductionKind kind, SumSync sync, GraphEditor graph) {
    List<Dim> dims = new ArrayList<>(value.type().shape().dims().subList(0, places));
    dims.add(Dim.of(sync.type().shape().elements() / sync.features()));
    dims.add(Dim.of(sync.features()));
    Value lines = graph.add(new Movement.Reshape(new Shape(dims)), value);
    return graph.add(new Reduction.Reduce(kind, List.of(places), false), lines);
  }

  private static String name(int sum, String what) {
    return OUTPUT + sum + "." + what;
  }
}
