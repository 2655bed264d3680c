package io.partita.passes.program.localize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TensorPartsTest {
  private static final List<ElementType> ELEMENTS = List.of(ElementType.values());

  @Test
  void partsAreSlices() {
    for (long seed = 0; seed < 2000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      ElementType element = ELEMENTS.get(random.nextInt(ELEMENTS.size()));
      long[] extents = random.longs(random.nextInt(1, 4), 1, 7).toArray();
      TensorType type = TensorType.of(element, extents);
      long[] numbers = random.longs(type.shape().elements(), -8, 8).toArray();
      Tensor whole = Tensor.ofLongs(type, numbers);
      List<Long> from = new ArrayList<>();
      List<Long> to = new ArrayList<>();
      for (long extent : extents) {
        from.add(random.nextLong(extent));
        to.add(random.nextLong(from.getLast() + 1, extent + 1));
      }
      Box box = new Box(from, to);
      Movement.Slice slice =
          new Movement.Slice(
              from.stream().map(Dim::of).toList(),
              box.shape().dims(),
              Collections.nCopies(box.rank(), 1L));
      Tensor expected = OpEvaluator.evaluate(slice, List.of(whole)).getFirst();
      assertThat(new TensorParts().part(whole, box)).as("%s %s", type, box).isEqualTo(expected);
    }
  }

  @Test
  void rowsAreSharedViews() {
    Tensor whole = Tensor.of(TensorType.of(ElementType.F32, 4, 6), new float[24]);
    TensorParts parts = new TensorParts();
    Box rows = new Box(List.of(1L, 0L), List.of(3L, 6L));
    Tensor part = parts.part(whole, rows);
    assertThat(part.bytes().heapBase()).isEqualTo(whole.bytes().heapBase());
    assertThat(parts.part(whole, new Box(List.of(1L, 0L), List.of(3L, 6L)))).isSameAs(part);
    assertThat(parts.part(whole, Box.of(whole.type()))).isSameAs(whole);
  }

  @Test
  void columnsAreCopiedLazily() {
    int[] made = new int[1];
    TensorType type = TensorType.of(ElementType.F32, 4, 6);
    Tensor whole =
        Tensor.deferred(
            type,
            () -> {
              made[0]++;
              return Tensor.filled(type, 3).bytes();
            });
    Box columns = new Box(List.of(0L, 2L), List.of(4L, 5L));
    Tensor part = new TensorParts().part(whole, columns);
    assertThat(part.type()).isEqualTo(TensorType.of(ElementType.F32, 4, 3));
    assertThat(made[0]).isZero();
    assertThat(part.floats()).containsOnly(3);
    assertThat(made[0]).isEqualTo(1);
  }

  @Test
  void rowsOfLazyTensorsAreLazy() {
    int[] made = new int[1];
    TensorType type = TensorType.of(ElementType.F32, 4, 6);
    Tensor whole =
        Tensor.deferred(
            type,
            () -> {
              made[0]++;
              return Tensor.ofLongs(type, java.util.stream.LongStream.range(0, 24).toArray())
                  .bytes();
            });
    Tensor part = new TensorParts().part(whole, new Box(List.of(2L, 0L), List.of(3L, 6L)));
    assertThat(made[0]).isZero();
    assertThat(part.floats()).containsExactly(12, 13, 14, 15, 16, 17);
    assertThat(made[0]).isEqualTo(1);
  }
}
