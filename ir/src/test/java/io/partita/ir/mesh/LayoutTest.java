package io.partita.ir.mesh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.ReshardEvaluator;
import io.partita.ir.eval.Shards;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LayoutTest {
  private static final Mesh MESH =
      Mesh.of(new MeshAxis("x", 3), new MeshAxis("y", 2), new MeshAxis("z", 2));

  @Test
  void theLastMeshAxisVariesFastest() {
    assertThat(MESH.devices()).isEqualTo(12);
    assertThat(MESH.coordinates(7)).containsExactly(1, 1, 1);
    for (int device = 0; device < MESH.devices(); device++) {
      assertThat(MESH.device(MESH.coordinates(device))).isEqualTo(device);
    }
    assertThat(MESH.part(7, List.of("z", "x"))).isEqualTo(4);
  }

  @Test
  void wholeHeadsAreDistributedEvenly() {
    Split split = Split.even(Mesh.line("x", 3), 8 * 64, 64, List.of("x"));
    assertThat(split.cuts()).containsExactly(0L, 192L, 384L, 512L);
  }

  @Test
  void someDevicesAreEmptyWithFewHeads() {
    Split split = Split.even(Mesh.line("x", 5), 3, "x");
    assertThat(split.cuts()).containsExactly(0L, 1L, 2L, 3L, 3L, 3L);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 11, 16, 23, 64})
  void partsDifferByAtMostOneUnit(int devices) {
    for (long extent = 0; extent < 70; extent++) {
      Split split = Split.even(Mesh.line("x", devices), extent, "x");
      assertThat(split.extent()).isEqualTo(extent);
      assertThat(split.size(0) - split.size(devices - 1)).isBetween(0L, 1L);
    }
  }

  @Test
  void bytesAndReplication() {
    TensorType type = TensorType.of(ElementType.F32, 7, 4);
    Layout layout =
        Layout.of(MESH, Split.even(MESH, 7, "x"), Split.NONE).withPartial("y", ReductionKind.SUM);
    assertThat(layout.replication()).isEqualTo(2);
    assertThat(layout.localType(type, 0)).isEqualTo(TensorType.of(ElementType.F32, 3, 4));
    assertThat(layout.localType(type, 11)).isEqualTo(TensorType.of(ElementType.F32, 2, 4));
    assertThat(layout.bytes(type)).hasSize(12).startsWith(48L).endsWith(32L);
  }

  @Test
  void valuesAtOnePlaceAreStoredOnlyThere() {
    TensorType type = TensorType.of(ElementType.F32, 7, 4);
    Layout rows = Layout.of(MESH, Split.even(MESH, 7, "x"), Split.NONE);
    Layout layout = rows.withAt("y", 1);
    assertThat(layout.holders()).containsExactly(2, 3, 6, 7, 10, 11);
    assertThat(layout.bytes(type))
        .containsExactly(0L, 0L, 48L, 48L, 0L, 0L, 32L, 32L, 0L, 0L, 32L, 32L);
    assertThat(layout.replication()).isEqualTo(2);
    assertThat(layout.withAt("z", 0).replication()).isEqualTo(1);
    assertThat(layout.withAt("z", 0).holders()).containsExactly(2, 6, 10);
    assertThat(layout.isReplicated()).isFalse();
    assertThatThrownBy(() -> layout.localType(type, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("device 0 holds nothing of [*{x},*] at(y: 1)");
    assertThatThrownBy(() -> rows.withAt("x", 1)).hasMessageContaining("each axis once");
    assertThatThrownBy(() -> rows.withAt("y", 2))
        .hasMessageContaining("expected:  a coordinate on y=2\n  found:     2");
  }

  @Test
  void missingAndExtraPartsAreDiagnosed() {
    Tensor whole = Tensor.longs(Shape.of(2), 1, 2);
    Layout all = Layout.replicated(Mesh.line("x", 2), 1);
    Layout second = all.withAt("x", 1);
    assertThat(Shards.scatter(whole, second)).containsExactly(Map.entry(1, whole));
    assertThatThrownBy(() -> Shards.assemble(Shards.scatter(whole, second), whole.type(), all))
        .hasMessageContaining("P3403")
        .hasMessageContaining("device 0\n  expected:  i64[2]\n  found:     nothing");
    assertThatThrownBy(() -> Shards.assemble(Shards.scatter(whole, all), whole.type(), second))
        .hasMessageContaining("device 0\n  expected:  nothing\n  found:     i64[2]");
  }

  @Test
  void axesAreUsedOnce() {
    Split split = Split.even(MESH, 8, "x");
    assertThatThrownBy(() -> Layout.of(MESH, split, split))
        .hasMessage(
            "error P3402: a layout is invalid\n  where:     layout\n"
                + "  expected:  each axis once\n  found:     x");
    assertThatThrownBy(
            () -> new Layout(MESH, List.of(split), Map.of("x", ReductionKind.SUM), List.of()))
        .hasMessageContaining("each axis once");
    assertThatThrownBy(() -> Layout.replicated(MESH, 1).withAt("y", 1).withVarying("y"))
        .hasMessageContaining("each axis once");
    assertThatThrownBy(() -> Layout.of(MESH, new Split(List.of("y"), List.of(0L, 4L))))
        .hasMessageContaining("2 parts over [y]");
    assertThatThrownBy(() -> new Split(List.of("y"), List.of(0L, 4L, 2L)))
        .hasMessageContaining("cuts that ascend from 0");
  }

  @Test
  void booleansHaveNoSum() {
    Layout layout = Layout.replicated(MESH, 1).withPartial("x", ReductionKind.SUM);
    assertThatThrownBy(() -> layout.verify(TensorType.of(ElementType.BOOL, 3)))
        .hasMessage(
            "error P3403: a layout doesn't fit the type\n  where:     layout [*] partial(sum: x)\n"
                + "  expected:  numbers to sum\n  found:     bool[3]");
  }

  @Test
  void partialMeshesAreRefused() {
    assertThatThrownBy(() -> Mesh.line("x", 0)).hasMessageContaining("at least 1 device");
    assertThatThrownBy(() -> Mesh.line("a b", 2))
        .hasMessageContaining("a name of letters and digits");
    assertThatThrownBy(() -> Mesh.line("x", 5000)).hasMessageContaining("at most 4096 devices");
    assertThatThrownBy(() -> MESH.size("w")).hasMessageContaining("an axis of the mesh");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "f32[1,16,512]",
        "f32[1,16,512{x}] partial(sum: y) varying(z)",
        "f32[1,seq,512{x,y/64}]",
        "i8[10{x: 0,7}] partial(max: y,z)",
        "f32[4{z,x}]",
        "f32[4{z}] partial(sum: x) at(y: 1)",
        "f32[4] varying(x) at(y: 0, z: 1)",
        "f32[4{x}] varying(x)",
        "f32[4] partial(sum: x) varying(x,y)",
        "u4[]"
      })
  void parseUndoesPrint(String text) {
    assertThat(ShardedType.parse(text, MESH)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "f32",
        "f33[1]",
        "f32[1",
        "f32[1}]",
        "f32[4{}]",
        "f32[4{w}]",
        "f32[seq{x}]",
        "f32[4{x/0}]",
        "f32[4{x: 1}]",
        "f32[4{x: 3,1}]",
        "f32[4] partial(mean: x)",
        "f32[4] varying()",
        "f32[4]?",
        "f32[4] varying(x,x)",
        "f32[4] varying(x) at(x: 0)",
        "f32[4{x}] at(x: 0)",
        "f32[4] at(x: 3)",
        "f32[4] at(x)",
        "f32[4] at()",
        "f32[4] at(w: 0)",
        "f32[4] at(x: 0, x: 1)",
        "f32[4] at(x: 0) varying(y)",
        "f32[4] partial(sum: x",
        "f32[99999999999999999999{x}]"
      })
  void invalidTextIsDiagnosed(String text) {
    assertThatThrownBy(() -> ShardedType.parse(text, MESH))
        .isInstanceOf(io.partita.ir.diagnostic.PartitaException.class);
  }

  @Test
  void scatteredTensorsAreReassembled() {
    for (int seed = 0; seed < 300; seed++) {
      Draw draw = new Draw(seed);
      Shape shape = draw.staticShape(draw.from(0, 3));
      Layout layout = layout(draw, shape);
      TensorType type = new TensorType(draw.element(e -> e.bits() > 4 && e.isInteger()), shape);
      Tensor whole = draw.tensor(type);
      ShardedType sharded = new ShardedType(type, layout);
      assertThat(ShardedType.parse(sharded.toString(), MESH)).isEqualTo(sharded);
      SortedMap<Integer, Tensor> parts = Shards.scatter(whole, layout);
      assertThat(parts.keySet()).containsExactlyElementsOf(layout.holders());
      if (layout.varying().isEmpty()) {
        assertThat(Shards.assemble(parts, type, layout)).as(layout.toString()).isEqualTo(whole);
        Layout other = layout(draw, shape).withVarying(List.of()).withPartial(Map.of());
        SortedMap<Integer, Tensor> moved =
            ReshardEvaluator.apply(new Resharding(layout, other), parts, type, 0);
        assertThat(moved).as(layout + " to " + other).isEqualTo(Shards.scatter(whole, other));
      }
    }
  }

  /** Tests that two random changes of layout preserve the whole value. */
  @Test
  void reshardedTensorsAssembleToTheSameValue() {
    Map<SyncKind, Integer> seen = new EnumMap<>(SyncKind.class);
    for (int seed = 0; seed < 1000; seed++) {
      Draw draw = new Draw(seed);
      Shape shape = draw.staticShape(draw.from(1, 3));
      TensorType type = new TensorType(draw.element(e -> e.bits() > 4 && e.isInteger()), shape);
      Tensor whole = draw.tensor(type);
      Layout layout = layout(draw, shape).withVarying(List.of());
      SortedMap<Integer, Tensor> parts = Shards.scatter(whole, layout);
      for (int step = 0; step < 2; step++) {
        Layout to = layout(draw, shape).withVarying(List.of());
        if (!layout.partial().isEmpty() && !to.partial().isEmpty()) {
          to = to.withPartial(Map.of());
        }
        Resharding change = new Resharding(layout, to);
        parts = ReshardEvaluator.apply(change, parts, type, 0);
        assertThat(Shards.assemble(parts, type, to)).as(layout + " to " + to).isEqualTo(whole);
        change.kinds().values().forEach(kind -> seen.merge(kind, 1, Integer::sum));
        layout = to;
      }
    }
    assertThat(seen).containsOnlyKeys(SyncKind.values());
    assertThat(seen.values()).isNotEmpty().allMatch(count -> count > 20);
  }

  /**
   * Tests that local changes don't depend on other devices: with other values there, the result is
   * equal.
   */
  @Tag("thorough")
  @Test
  void localReshardsNeedOnlyTheDevicesPart() {
    int checked = 0;
    int sums = 0;
    for (int seed = 0; seed < 6000; seed++) {
      Draw draw = new Draw(seed);
      Shape shape = draw.staticShape(draw.from(1, 3));
      Layout from = layout(draw, shape).withVarying(List.of());
      Layout to = layout(draw, shape);
      Resharding change;
      try {
        change = new Resharding(from, to);
      } catch (PartitaException impossible) {
        continue;
      }
      if (change.communicates() || from.equals(to)) {
        continue;
      }
      TensorType type = new TensorType(ElementType.I32, shape);
      SortedMap<Integer, Tensor> one = Shards.scatter(draw.tensor(type), from);
      SortedMap<Integer, Tensor> other = Shards.scatter(draw.tensor(type), from);
      SortedMap<Integer, Tensor> results = ReshardEvaluator.apply(change, one, type, 0);
      for (int device : to.holders()) {
        SortedMap<Integer, Tensor> mixed = new TreeMap<>(other);
        // Copies of the device's part are of the same values.
        one.keySet().stream()
            .filter(peer -> place(from, peer).equals(place(from, device)))
            .forEach(peer -> mixed.put(peer, one.get(peer)));
        assertThat(ReshardEvaluator.apply(change, mixed, type, 0).get(device))
            .as(from + " to " + to + " on device " + device)
            .isEqualTo(results.get(device));
      }
      checked++;
      sums += to.partial().keySet().stream().anyMatch(axis -> from.splitBy(axis) >= 0) ? 1 : 0;
    }
    assertThat(checked).isGreaterThan(100);
    assertThat(sums).isGreaterThan(10);
  }

  /** Returns the coordinates of a device along the axes with different values. */
  private static List<Integer> place(Layout layout, int device) {
    return MESH.axes().stream()
        .map(MeshAxis::name)
        .filter(axis -> layout.splitBy(axis) >= 0 || layout.partial().containsKey(axis))
        .map(axis -> MESH.coordinate(device, axis))
        .toList();
  }

  @Test
  void valuesAtOnePlaceBecomePartialSumsThere() {
    Mesh mesh = Mesh.line("x", 3);
    Tensor whole = Tensor.longs(Shape.of(2), 1, 2);
    Tensor zeros = Tensor.longs(Shape.of(2), 0, 0);
    Layout second = Layout.replicated(mesh, 1).withAt("x", 1);
    Layout sum = Layout.replicated(mesh, 1).withPartial("x", ReductionKind.SUM);
    Resharding change = new Resharding(second, sum);
    assertThat(change.communicates()).isFalse();
    assertThat(ReshardEvaluator.apply(change, Shards.scatter(whole, second), whole.type(), 0))
        .containsExactly(Map.entry(0, zeros), Map.entry(1, whole), Map.entry(2, zeros));
  }

  private static Layout layout(Draw draw, Shape shape) {
    List<List<String>> axes = new ArrayList<>();
    shape.forEach(dim -> axes.add(new ArrayList<>()));
    Layout layout = Layout.replicated(MESH, shape.rank());
    ReductionKind kind = draw.one(ReductionKind.SUM, ReductionKind.MAX, ReductionKind.MIN);
    for (String axis : List.of("z", "x", "y")) {
      int use = draw.from(-4, shape.rank() - 1);
      if (use >= 0) {
        axes.get(use).add(axis);
      } else if (use == -1) {
        layout = layout.withPartial(axis, kind);
      } else if (use == -2 && draw.oneIn(3)) {
        List<String> varying = new ArrayList<>(layout.varying());
        varying.add(axis);
        layout = layout.withVarying(varying);
      } else if (use == -3) {
        layout = layout.withAt(axis, draw.from(0, MESH.size(axis) - 1));
      }
    }
    for (int dim = 0; dim < shape.rank(); dim++) {
      if (!axes.get(dim).isEmpty()) {
        layout = layout.with(dim, cuts(draw, shape.extent(dim), axes.get(dim)));
      }
    }
    return layout;
  }

  private static Split cuts(Draw draw, long extent, List<String> axes) {
    if (draw.flag()) {
      return Split.even(MESH, extent, draw.from(1, 3), axes);
    }
    List<Long> cuts = new ArrayList<>(List.of(0L, extent));
    for (int i = MESH.size(axes); i > 1; i--) {
      cuts.add((long) draw.from(0, (int) extent));
    }
    cuts.sort(null);
    return new Split(axes, cuts);
  }

  @Test
  void varyingValuesHaveNoWhole() {
    Layout layout = Layout.replicated(MESH, 1).withVarying(List.of("y"));
    Tensor whole = Tensor.longs(Shape.of(2), 1, 2);
    SortedMap<Integer, Tensor> parts = Shards.scatter(whole, layout);
    assertThatThrownBy(() -> Shards.assemble(parts, whole.type(), layout))
        .hasMessage(
            "error P3405: a varying value has no single value\n  where:     layout [*] varying(y)\n"
                + "  expected:  a value that is whole, split or partial\n"
                + "  found:     one that varies over [y]\n"
                + "  fix:       end the variation first, with settle, and a sync of partial sums");
    assertThatThrownBy(() -> new Resharding(layout, Layout.replicated(MESH, 1)))
        .hasMessage(
            "error P3408: a layout can't be changed to another one\n"
                + "  where:     layout [*] varying(y)\n"
                + "  expected:  a layout that varies over the same axes\n"
                + "  found:     [*]\n"
                + "  fix:       use settle to end a variation, and localize or overlay to begin one");
  }

  @Test
  void replicasMustAgree() {
    Mesh mesh = Mesh.line("x", 2);
    Layout layout = Layout.replicated(mesh, 1);
    SortedMap<Integer, Tensor> parts = new TreeMap<>();
    parts.put(0, Tensor.floats(Shape.of(1), 1f));
    parts.put(1, Tensor.floats(Shape.of(1), 1.5f));
    TensorType type = parts.get(0).type();
    assertThat(Shards.assemble(parts, type, layout, 0.5)).isEqualTo(parts.get(0));
    assertThatThrownBy(() -> Shards.assemble(parts, type, layout, 0.25))
        .hasMessageContaining("P3406")
        .hasMessageContaining("device 1 of mesh(x=2)");
  }

  @Test
  void syncKindsFollowFromTheLayouts() {
    Layout whole = Layout.replicated(MESH, 2);
    Layout rows = whole.with(0, Split.even(MESH, 6, "x"));
    Layout columns = whole.with(1, Split.even(MESH, 6, "x"));
    Layout partial = whole.withPartial("x", ReductionKind.SUM);
    assertThat(kind(partial, whole)).isEqualTo(SyncKind.ALL_REDUCE);
    assertThat(kind(partial, rows)).isEqualTo(SyncKind.REDUCE_SCATTER);
    assertThat(kind(rows, whole)).isEqualTo(SyncKind.ALL_GATHER);
    assertThat(kind(rows, columns)).isEqualTo(SyncKind.ALL_TO_ALL);
    assertThat(kind(whole, rows)).isNull();
    assertThat(kind(whole, partial)).isNull();
    assertThat(new Resharding(rows, rows).kinds()).isEmpty();
    Layout second = whole.withAt("x", 1);
    assertThat(kind(partial, second)).isEqualTo(SyncKind.REDUCE);
    assertThat(kind(second, whole)).isEqualTo(SyncKind.BROADCAST);
    assertThat(kind(second, whole.withAt("x", 2))).isEqualTo(SyncKind.SEND);
    assertThat(kind(rows, second)).isEqualTo(SyncKind.GATHER);
    assertThat(kind(second, rows)).isEqualTo(SyncKind.SCATTER);
    assertThat(kind(whole, second)).isNull();
    assertThat(kind(second, partial)).isNull();
    // The others need something that doesn't change a maximum, and the value itself is known not
    // to.
    assertThat(kind(second, whole.withPartial("x", ReductionKind.MAX)))
        .isEqualTo(SyncKind.BROADCAST);
    assertThat(new Resharding(second, second).kinds()).isEmpty();
    Layout finer = whole.with(0, Split.even(MESH, 6, "x", "y"));
    assertThat(new Resharding(rows, finer).kinds()).isEmpty();
  }

  private static SyncKind kind(Layout from, Layout to) {
    return new Resharding(from, to).kinds().get("x");
  }
}
