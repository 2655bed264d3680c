package io.partita.ir.factor;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.arbitrary.OpSample;
import io.partita.ir.arbitrary.OpSamples;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.eval.Shards;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.mesh.Split;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the factor rule of each operation: results of parts form the whole result. */
class FactorRulesTest {
  private static final int SAMPLES = 60;

  static List<Class<? extends Op>> kinds() {
    return OpSamples.kinds();
  }

  /** A sample with its whole results. */
  private record Sample(OpSample op, List<Tensor> operands, List<Tensor> results, FactorRule rule) {
    static Optional<Sample> draw(Class<? extends Op> kind, Draw draw) {
      OpSample op = SampleValues.draw(kind, draw);
      List<Tensor> operands = SampleValues.operands(op, draw);
      FactorRule rule = FactorRules.of(op.op(), op.operands());
      try {
        return Optional.of(new Sample(op, operands, OpEvaluator.evaluate(op.op(), operands), rule));
      } catch (PartitaException notThese) {
        return Optional.empty();
      }
    }

    List<TensorType> resultTypes() {
      return results.stream().map(Tensor::type).toList();
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void extentsAreProductsOfFactors(Class<? extends Op> kind) {
    for (int seed = 0; seed < SAMPLES; seed++) {
      OpSample op = SampleValues.draw(kind, new Draw(seed));
      FactorRule rule = FactorRules.of(op.op(), op.operands());
      verifyExtents(rule, rule.operands(), op.operands());
      verifyExtents(rule, rule.results(), op.op().resultTypes(op.operands()));
    }
  }

  private static void verifyExtents(
      FactorRule rule, List<List<List<Integer>>> dims, List<TensorType> types) {
    assertThat(dims).hasSameSizeAs(types);
    for (int i = 0; i < types.size(); i++) {
      assertThat(dims.get(i).stream().map(rule::extent))
          .as(rule.toString())
          .containsExactlyElementsOf(
              types.get(i).shape().dims().stream().map(dim -> dim.value()).toList());
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void anySplitFactorGivesTheWhole(Class<? extends Op> kind) {
    // An extent has no dimension and nothing to split.
    int least = kind == Source.Extent.class ? 0 : 50;
    int checked = 0;
    for (int seed = 0; seed < SAMPLES || checked < least && seed < 20 * SAMPLES; seed++) {
      Draw draw = new Draw(seed);
      Optional<Sample> drawn = Sample.draw(kind, draw);
      if (drawn.isEmpty()) {
        continue;
      }
      Sample sample = drawn.get();
      Mesh mesh = Mesh.line("x", draw.from(1, 6));
      for (int factor = 0; factor < sample.rule().factors().size(); factor++) {
        FactorSplits none = FactorSplits.none(mesh, sample.rule());
        Optional<FactorSplits> splits =
            none.with(factor, split(mesh, sample.rule(), factor, draw, "x"));
        if (splits.isPresent()) {
          verify(sample, splits.get(), noneGiven(sample, mesh));
          checked++;
        }
      }
    }
    assertThat(checked).as("splits of " + kind.getSimpleName()).isGreaterThanOrEqualTo(least);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void twoSplitFactorsGiveTheWhole(Class<? extends Op> kind) {
    for (int seed = 1000; seed < 1000 + SAMPLES; seed++) {
      Draw draw = new Draw(seed);
      Optional<Sample> drawn = Sample.draw(kind, draw);
      if (drawn.isEmpty() || drawn.get().rule().factors().isEmpty()) {
        continue;
      }
      FactorRule rule = drawn.get().rule();
      Mesh mesh = Mesh.of(new MeshAxis("x", draw.from(2, 3)), new MeshAxis("y", draw.from(2, 4)));
      FactorSplits splits = FactorSplits.none(mesh, rule);
      for (List<String> axes : List.of(List.of("x"), List.of("y"))) {
        int factor = draw.from(0, rule.factors().size() - 1);
        Split split = split(mesh, rule, factor, draw, axes.toArray(new String[0]));
        splits = splits.with(factor, split).orElse(splits);
      }
      verify(drawn.get(), splits, noneGiven(drawn.get(), mesh));
    }
  }

  /** Tests that partial operands give a partial result if the rule says so. */
  @ParameterizedTest
  @MethodSource("kinds")
  void partialOperandsGiveTheWhole(Class<? extends Op> kind) {
    for (int seed = 2000; seed < 2000 + SAMPLES; seed++) {
      Draw draw = new Draw(seed);
      Optional<Sample> drawn = Sample.draw(kind, draw);
      Mesh mesh = Mesh.of(new MeshAxis("x", draw.from(1, 4)), new MeshAxis("y", 2));
      if (drawn.isEmpty() || drawn.get().rule().linearity().terms().isEmpty()) {
        continue;
      }
      Sample sample = drawn.get();
      FactorRule rule = sample.rule();
      FactorSplits splits = FactorSplits.none(mesh, rule);
      if (!rule.factors().isEmpty()) {
        int factor = draw.from(0, rule.factors().size() - 1);
        splits = splits.with(factor, split(mesh, rule, factor, draw, "y")).orElse(splits);
      }
      ReductionKind reduction = draw.one(List.copyOf(rule.linearity().kinds()));
      List<Layout> given = new ArrayList<>(noneGiven(sample, mesh));
      for (int i = 0; i < given.size(); i++) {
        if (draw.flag() && sample.operands().get(i).element() != ElementType.BOOL) {
          given.set(i, given.get(i).withPartial("x", reduction));
        }
      }
      verify(sample, splits, given);
    }
  }

  /** Tests that an operand at one place moves all operands and results there. */
  @ParameterizedTest
  @MethodSource("kinds")
  void operandsAtOnePlaceGiveTheWholeResultThere(Class<? extends Op> kind) {
    for (int seed = 3000; seed < 3000 + SAMPLES; seed++) {
      Draw draw = new Draw(seed);
      Optional<Sample> drawn = Sample.draw(kind, draw);
      Mesh mesh = Mesh.of(new MeshAxis("x", draw.from(1, 4)), new MeshAxis("y", 3));
      if (drawn.isEmpty() || drawn.get().operands().isEmpty()) {
        continue;
      }
      Sample sample = drawn.get();
      FactorRule rule = sample.rule();
      FactorSplits splits = FactorSplits.none(mesh, rule);
      for (String axis : List.of("x", "y")) {
        if (!rule.factors().isEmpty()) {
          int factor = draw.from(0, rule.factors().size() - 1);
          splits = splits.with(factor, split(mesh, rule, factor, draw, axis)).orElse(splits);
        }
      }
      int place = draw.from(0, mesh.size("x") - 1);
      List<Layout> given = new ArrayList<>(noneGiven(sample, mesh));
      int first = draw.from(0, given.size() - 1);
      for (int i = first + 1; i < given.size(); i++) {
        boolean isSum = draw.flag() && sample.operands().get(i).element() != ElementType.BOOL;
        given.set(
            i,
            isSum
                ? given.get(i).withPartial("x", ReductionKind.SUM)
                : given.get(i).withAt("x", draw.from(0, mesh.size("x") - 1)));
      }
      given.set(first, given.get(first).withAt("x", place));
      NodeLayouts layouts = NodeLayouts.resolve(splits, given);
      assertThat(layouts.splits().axes()).doesNotContain("x");
      assertThat(layouts.operands()).allMatch(layout -> layout.at().equals(Map.of("x", place)));
      assertThat(layouts.results()).allMatch(layout -> layout.at().equals(Map.of("x", place)));
      verify(sample, splits, given);
    }
  }

  @Test
  void varyingValuesAreNotAtOnePlace() {
    Mesh mesh = Mesh.line("x", 2);
    TensorType type = TensorType.of(ElementType.F32, 3);
    FactorRule rule =
        FactorRules.of(new Elementwise.Binary(BinaryFunction.ADD), List.of(type, type));
    Layout whole = Layout.replicated(mesh, 1);
    Layout varies = whole.withVarying(List.of("x"));
    NodeLayouts layouts =
        NodeLayouts.resolve(FactorSplits.none(mesh, rule), List.of(whole.withAt("x", 1), varies));
    assertThat(layouts.operands()).containsExactly(whole, varies);
    assertThat(layouts.results()).containsExactly(varies);
  }

  @Test
  void anAxisAtOnePlaceCoarsensSplits() {
    Mesh mesh = Mesh.of(new MeshAxis("x", 2), new MeshAxis("y", 3));
    TensorType type = TensorType.of(ElementType.F32, 12);
    FactorRule rule =
        FactorRules.of(new Elementwise.Binary(BinaryFunction.ADD), List.of(type, type));
    FactorSplits splits =
        FactorSplits.none(mesh, rule).with(0, Split.even(mesh, 12, "x", "y")).orElseThrow();
    assertThat(splits.without(Set.of("y")).result(0)).hasToString("[*{x}]");
    assertThat(splits.without(Set.of("x")).result(0)).hasToString("[*]");
    assertThat(splits.without(Set.of("z")).result(0)).hasToString("[*{x,y}]");
  }

  private static List<Layout> noneGiven(Sample sample, Mesh mesh) {
    return sample.operands().stream()
        .map(operand -> Layout.replicated(mesh, operand.shape().rank()))
        .toList();
  }

  /** Splits evenly or at random; parts may be empty. */
  private static Split split(Mesh mesh, FactorRule rule, int factor, Draw draw, String... axes) {
    long extent = rule.factors().get(factor).extent();
    if (draw.flag()) {
      return Split.even(mesh, extent, axes);
    }
    List<Long> cuts = new ArrayList<>(List.of(0L, extent));
    for (int i = mesh.size(List.of(axes)); i > 1; i--) {
      cuts.add((long) draw.from(0, (int) extent));
    }
    cuts.sort(null);
    return new Split(List.of(axes), cuts);
  }

  private static void verify(Sample sample, FactorSplits splits, List<Layout> given) {
    NodeLayouts layouts = NodeLayouts.resolve(splits, given);
    List<SortedMap<Integer, Tensor>> operands = new ArrayList<>();
    for (int i = 0; i < sample.operands().size(); i++) {
      operands.add(scatter(sample.operands().get(i), layouts.operands().get(i), i));
    }
    SortedMap<Integer, List<Tensor>> parts = new TreeMap<>();
    for (int device : layouts.devices()) {
      List<Tensor> own = operands.stream().map(all -> all.get(device)).toList();
      parts.put(device, local(sample, layouts.splits(), device, own));
    }
    for (int i = 0; i < sample.results().size(); i++) {
      int at = i;
      SortedMap<Integer, Tensor> result = new TreeMap<>();
      parts.forEach((device, all) -> result.put(device, all.get(at)));
      Layout layout = layouts.results().get(i);
      Tensor whole = Shards.assemble(result, sample.resultTypes().get(i), layout);
      String what = sample.op().op() + " " + sample.rule() + " as " + layouts;
      verifyClose(whole, sample.results().get(i), layout, result.values(), what);
    }
  }

  /** Like {@link Shards#scatter}, but distributes a partial sum over all devices. */
  private static SortedMap<Integer, Tensor> scatter(Tensor whole, Layout layout, int seed) {
    if (!layout.partial().containsValue(ReductionKind.SUM)) {
      return Shards.scatter(whole, layout);
    }
    Tensor rest = whole;
    SortedMap<Integer, Tensor> parts = Shards.scatter(whole, layout);
    // What the last device along an axis gets is taken from what the first had.
    String axis = layout.partial().keySet().iterator().next();
    Mesh mesh = layout.mesh();
    if (mesh.size(axis) > 1) {
      Tensor share = SampleValues.value(whole.type(), new Draw(seed));
      rest = minus(whole, share);
      SortedMap<Integer, Tensor> first = Shards.scatter(rest, layout);
      SortedMap<Integer, Tensor> last = Shards.scatter(share, layout);
      for (int device : layout.holders()) {
        int[] coordinates = mesh.coordinates(device);
        boolean isLast = coordinates[mesh.index(axis)] == mesh.size(axis) - 1;
        coordinates[mesh.index(axis)] = 0;
        parts.put(device, isLast ? last.get(mesh.device(coordinates)) : first.get(device));
      }
    }
    return parts;
  }

  private static Tensor minus(Tensor left, Tensor right) {
    return OpEvaluator.evaluate(new Elementwise.Binary(BinaryFunction.SUB), List.of(left, right))
        .getFirst();
  }

  private static List<Tensor> local(
      Sample sample, FactorSplits splits, int device, List<Tensor> operands) {
    GraphBuilder builder = new GraphBuilder("device" + device);
    List<Value> inputs = new ArrayList<>();
    for (Tensor operand : operands) {
      inputs.add(builder.input("x" + inputs.size(), operand.type()));
    }
    List<Value> results =
        LocalForm.add(builder, sample.op().op(), splits, sample.op().operands(), device, inputs);
    results.forEach(result -> builder.output("y", result));
    return Evaluator.run(builder.finish(), operands);
  }

  /**
   * Without partial results, bit for bit. A sum of n parts of k products differs from the whole one
   * by at most (n + k) roundings of the sum of magnitudes, which here is below k (the samples'
   * lines have at most 64 products of numbers up to 25: a hidden feature of a gated network);
   * narrower results are rounded once more for each part.
   */
  private static void verifyClose(
      Tensor actual, Tensor expected, Layout layout, Collection<Tensor> parts, String what) {
    assertThat(actual.type()).as(what).isEqualTo(expected.type());
    boolean exact = layout.partial().isEmpty() || !expected.element().isFloat();
    if (exact) {
      assertThat(actual).as(what).isEqualTo(expected);
      return;
    }
    double unit =
        switch (expected.element()) {
          case F64, F32 -> 0x1p-24;
          case F16 -> 0x1p-11;
          default -> 0x1p-8;
        };
    double magnitude = 1;
    for (Tensor part : parts) {
      double largest = 0;
      for (double value : part.doubles()) {
        largest = Math.max(largest, Double.isFinite(value) ? Math.abs(value) : 0);
      }
      magnitude += largest;
    }
    double bound = 2 * unit * (parts.size() + 2) * magnitude + 0x1p-24 * 64 * 64;
    for (int i = 0; i < expected.size(); i++) {
      double a = actual.getDouble(i);
      double b = expected.getDouble(i);
      if (Double.compare(a, b) != 0 && a != b) {
        assertThat(Math.abs(a - b)).as(what + " at " + i).isLessThanOrEqualTo(bound);
      }
    }
  }
}
