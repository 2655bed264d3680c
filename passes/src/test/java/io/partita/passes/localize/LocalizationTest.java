package io.partita.passes.localize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Codec;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshCode;
import io.partita.ir.mesh.ReductionKind;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.Split;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Reduction;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What devices compute with messages is what the whole is. */
class LocalizationTest {
  private final Set<SyncKind> seen = EnumSet.noneOf(SyncKind.class);
  private int refused;
  private int multiAxis;

  /** A value that is partial in the end where {@code kind} says so. */
  private record Source(Value value, Layout layout) {}

  @Test
  void changesOfLayoutKeepTheWhole() {
    for (long seed = 0; seed < 3000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Mesh mesh = RandomLayouts.mesh(random);
      List<ReductionKind> kinds = List.of(ReductionKind.values()[random.nextInt(3)]);
      GraphBuilder builder = new GraphBuilder("changes");
      Map<String, Layout> inputs = new TreeMap<>();
      Source source = source(random, mesh, kinds.getFirst(), builder, inputs);
      Value value = source.value();
      Layout layout = source.layout();
      List<Long> extents = extents(value.type());
      for (int i = random.nextInt(1, 4); i > 0; i--) {
        Layout to = RandomLayouts.layout(random, mesh, extents, kinds);
        Optional<Resharding> change = change(layout, to);
        if (change.isPresent()) {
          value = builder.add(sync(random, mesh, to), value);
          layout = to;
          seen.addAll(change.get().kinds().values());
          multiAxis += change.get().kinds().size() > 1 ? 1 : 0;
        }
      }
      builder.output("y", value);
      Module module =
          new Module(builder.finish(), List.of(), Optional.of(new Placement(mesh, inputs)));
      requireWhole(seed, module, random);
    }
    assertThat(seen).containsExactlyInAnyOrder(SyncKind.values());
    assertThat(multiAxis).isGreaterThan(500);
    assertThat(refused).as("parts that would become partial").isLessThan(700);
  }

  private static Optional<Resharding> change(Layout from, Layout to) {
    try {
      return Optional.of(new Resharding(from, to));
    } catch (PartitaException e) {
      return Optional.empty();
    }
  }

  private static Communication.Sync sync(SplittableRandom random, Mesh mesh, Layout to) {
    Optional<Algorithm> algorithm =
        switch (random.nextInt(4)) {
          case 0 -> Optional.of(new Algorithm.Tree(random.nextInt(2, mesh.devices() + 2)));
          case 1 -> Optional.of(new Algorithm.Ring());
          case 2 -> Optional.of(new Algorithm.Direct());
          default -> Optional.empty();
        };
    return new Communication.Sync(to, algorithm, Codec.EXACT);
  }

  private static List<Long> extents(TensorType type) {
    List<Long> extents = new ArrayList<>();
    for (long extent : type.shape().extents()) {
      extents.add(extent);
    }
    return extents;
  }

  /** An input, or a sum or maximum over a dimension that is split, so that it's partial. */
  private static Source source(
      SplittableRandom random,
      Mesh mesh,
      ReductionKind kind,
      GraphBuilder builder,
      Map<String, Layout> inputs) {
    boolean reduces = random.nextInt(3) > 0;
    List<Long> extents = new ArrayList<>();
    for (int rank = random.nextInt(1, 4); rank > 0; rank--) {
      // A dimension of one element is no factor of a reduction.
      extents.add(random.nextLong(reduces ? 2 : 1, 7));
    }
    TensorType type =
        TensorType.of(ElementType.I32, extents.stream().mapToLong(Long::longValue).toArray());
    Layout layout = RandomLayouts.whole(random, mesh, extents);
    inputs.put("x", layout);
    Value x = builder.input("x", type);
    int axis = random.nextInt(extents.size());
    if (!reduces) {
      return new Source(x, layout);
    }
    Reduction.ReduceKind reduce =
        switch (kind) {
          case SUM -> Reduction.ReduceKind.SUM;
          case MAX -> Reduction.ReduceKind.MAX;
          case MIN -> Reduction.ReduceKind.MIN;
        };
    Value reduced = builder.add(new Reduction.Reduce(reduce, List.of(axis), true), x);
    Layout result = layout.with(axis, Split.NONE);
    for (String name : layout.splits().get(axis).axes()) {
      result = result.withPartial(name, kind);
    }
    return new Source(reduced, result);
  }

  private void requireWhole(long seed, Module module, SplittableRandom random) {
    int capacity = random.nextInt(3);
    Program program;
    try {
      program = Localization.of(module, capacity);
    } catch (PartitaException e) {
      assertThat(e.diagnostics().getFirst().code())
          .as("seed %d: %s", seed, e.getMessage())
          .isEqualTo(MeshCode.RESHARD);
      refused++;
      return;
    }
    Graph graph = module.graph();
    List<Tensor> inputs = new ArrayList<>();
    Map<String, Tensor> byName = new TreeMap<>();
    for (Value input : graph.inputs()) {
      long[] data = random.longs(input.type().shape().elements(), -50, 50).toArray();
      inputs.add(Tensor.ofLongs(input.type(), data));
      byName.put(input.name(), inputs.getLast());
    }
    List<Tensor> whole = Evaluator.run(graph, inputs);
    assertThat(new ProgramEvaluator(program, capacity).run(byName).get("y"))
        .as(
            "seed %d: %s %s",
            seed, module.placement(), graph.nodes().stream().map(n -> n.op().toString()).toList())
        .isEqualTo(whole.getFirst());
  }
}
