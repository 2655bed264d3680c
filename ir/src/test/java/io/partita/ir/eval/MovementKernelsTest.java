package io.partita.ir.eval;

import static io.partita.ir.eval.Evaluated.integers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.Combine;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Movement.PadMode;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MovementKernelsTest {
  private static final long[] COUNT = {0, 1, 2, 3, 4, 5};

  private static Tensor counted(ElementType element, long... extents) {
    long[] values = new long[(int) Shape.of(extents).elements()];
    java.util.Arrays.setAll(values, i -> i);
    return Tensor.ofLongs(TensorType.of(element, extents), values);
  }

  private static List<Dim> dims(long... values) {
    return Shape.of(values).dims();
  }

  @Property(tries = 100)
  void transposingBackIsTheIdentity(
      @ForAll @IntRange(max = 5) int rank, @ForAll ElementType element, @ForAll long seed) {
    Random random = new Random(seed);
    long[] extents = random.longs(rank, 0, 5).toArray();
    List<Integer> permutation = new ArrayList<>();
    for (int axis = 0; axis < rank; axis++) {
      permutation.add(axis);
    }
    Collections.shuffle(permutation, random);
    List<Integer> inverse = new ArrayList<>(permutation);
    for (int axis = 0; axis < rank; axis++) {
      inverse.set(permutation.get(axis), axis);
    }
    Tensor x = counted(element, extents);
    Tensor turned = Evaluated.of(new Movement.Transpose(permutation), x);
    assertThat(Evaluated.of(new Movement.Transpose(inverse), turned)).isEqualTo(x);
  }

  @Property(tries = 100)
  void slicesConcatenateToTheWhole(
      @ForAll @IntRange(min = 1, max = 9) int extent,
      @ForAll @IntRange(max = 9) int cut,
      @ForAll @IntRange(max = 2) int axis,
      @ForAll ElementType element) {
    long[] extents = {2, 3, 2};
    extents[axis] = extent;
    long first = Math.min(cut, extent);
    Tensor x = counted(element, extents);
    Tensor low = part(x, axis, 0, first);
    Tensor high = part(x, axis, first, extent - first);
    assertThat(Evaluated.of(new Movement.Concat(axis), low, high)).isEqualTo(x);
  }

  private static Tensor part(Tensor x, int axis, long start, long size) {
    long[] starts = new long[3];
    long[] sizes = x.shape().extents();
    starts[axis] = start;
    sizes[axis] = size;
    return Evaluated.of(new Movement.Slice(dims(starts), dims(sizes), List.of(1L, 1L, 1L)), x);
  }

  @ParameterizedTest
  @EnumSource(ElementType.class)
  void movesEveryElementType(ElementType element) {
    Tensor x = counted(element, 2, 2);
    Tensor turned = Evaluated.of(new Movement.Transpose(List.of(1, 0)), x);
    assertThat(turned.longs())
        .containsExactly(x.getLong(0), x.getLong(2), x.getLong(1), x.getLong(3));
    assertThat(turned.element()).isEqualTo(element);
  }

  @Test
  void transposes() {
    Tensor turned =
        Evaluated.of(new Movement.Transpose(List.of(1, 0)), Tensor.longs(Shape.of(2, 3), COUNT));
    assertThat(turned).isEqualTo(Tensor.longs(Shape.of(3, 2), 0, 3, 1, 4, 2, 5));
  }

  @Test
  void slicesBackwards() {
    Movement.Slice slice = new Movement.Slice(dims(1, 2), dims(2, 2), List.of(-1L, -2L));
    assertThat(Evaluated.of(slice, Tensor.longs(Shape.of(2, 3), COUNT)))
        .isEqualTo(Tensor.longs(Shape.of(2, 2), 5, 3, 2, 0));
  }

  @Test
  void broadcasts() {
    assertThat(
            Evaluated.of(
                new Movement.Broadcast(Shape.of(2, 2, 2)), Tensor.longs(Shape.of(2, 1), 5, 6)))
        .isEqualTo(Tensor.longs(Shape.of(2, 2, 2), 5, 5, 6, 6, 5, 5, 6, 6));
  }

  /** Values of numpy.pad, whose periods repeat. */
  @Test
  void padsByRepeating() {
    Tensor x = Tensor.longs(Shape.of(4), 0, 1, 2, 3);
    assertThat(padded(PadMode.REFLECT, x))
        .containsExactly(1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2, 3);
    assertThat(padded(PadMode.EDGE, x))
        .containsExactly(0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3, 3);
    assertThat(padded(PadMode.WRAP, x))
        .containsExactly(3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1);
  }

  private static long[] padded(PadMode mode, Tensor x) {
    return Evaluated.of(new Movement.Pad(mode, List.of(5L), List.of(6L)), x).longs();
  }

  @Test
  void negativePaddingRemoves() {
    Tensor x = Tensor.longs(Shape.of(2, 3), COUNT);
    Movement.Pad pad = new Movement.Pad(PadMode.CONSTANT, List.of(1L, -1L), List.of(0L, 1L));
    assertThat(Evaluated.of(pad, x, Tensor.scalar(ElementType.I64, 9)))
        .isEqualTo(Tensor.longs(Shape.of(3, 3), 9, 9, 9, 1, 2, 9, 4, 5, 9));
    assertThat(Evaluated.of(new Movement.Pad(PadMode.EDGE, List.of(0L, -1L), List.of(0L, 2L)), x))
        .isEqualTo(Tensor.longs(Shape.of(2, 4), 1, 2, 2, 2, 4, 5, 5, 5));
    Tensor empty = Tensor.longs(Shape.of(0));
    assertThatThrownBy(() -> padded(PadMode.EDGE, empty)).hasMessageContaining("P3205");
  }

  @Test
  void gathers() {
    Tensor x = Tensor.longs(Shape.of(2, 3), COUNT);
    Tensor indices = Tensor.longs(Shape.of(2, 1), 2, -3);
    assertThat(Evaluated.of(new Movement.Gather(1), x, indices))
        .isEqualTo(Tensor.longs(Shape.of(2, 2, 1), 2, 0, 5, 3));
    assertThat(Evaluated.of(new Movement.Gather(0), x, Tensor.longs(Shape.SCALAR, -1)))
        .isEqualTo(Tensor.longs(Shape.of(3), 3, 4, 5));
    assertThat(Evaluated.of(new Movement.GatherElements(1), x, indices))
        .isEqualTo(Tensor.longs(Shape.of(2, 1), 2, 3));
    assertThat(Evaluated.of(new Structured.Embedding(), x, integers(ElementType.I32, 1)))
        .isEqualTo(Tensor.longs(Shape.of(1, 3), 3, 4, 5));
  }

  @Test
  void gathersByTuples() {
    Tensor x = Tensor.longs(Shape.of(2, 2, 2), 0, 1, 2, 3, 4, 5, 6, 7);
    assertThat(Evaluated.of(new Movement.GatherNd(0), x, Tensor.longs(Shape.of(2, 2), 0, 1, 1, 0)))
        .isEqualTo(Tensor.longs(Shape.of(2, 2), 2, 3, 4, 5));
    assertThat(Evaluated.of(new Movement.GatherNd(1), x, Tensor.longs(Shape.of(2, 1), 1, 0)))
        .isEqualTo(Tensor.longs(Shape.of(2, 2), 2, 3, 4, 5));
  }

  @Test
  void scattersInOrder() {
    Tensor x = Tensor.longs(Shape.of(4), 1, 2, 3, 4);
    Tensor indices = Tensor.longs(Shape.of(3), 1, -1, 1);
    Tensor updates = Tensor.longs(Shape.of(3), 10, 20, 30);
    assertThat(scattered(Combine.REPLACE, x, indices, updates)).containsExactly(1, 30, 3, 20);
    assertThat(scattered(Combine.ADD, x, indices, updates)).containsExactly(1, 42, 3, 24);
    assertThat(scattered(Combine.MUL, x, indices, updates)).containsExactly(1, 600, 3, 80);
    assertThat(scattered(Combine.MIN, x, indices, updates)).containsExactly(1, 2, 3, 4);
    assertThat(scattered(Combine.MAX, x, indices, updates)).containsExactly(1, 30, 3, 20);
  }

  private static long[] scattered(Combine reduction, Tensor x, Tensor indices, Tensor updates) {
    Tensor elements = Evaluated.of(new Movement.ScatterElements(0, reduction), x, indices, updates);
    Tensor column = indices.reshaped(Shape.of(3, 1));
    assertThat(Evaluated.of(new Movement.ScatterNd(reduction), x, column, updates))
        .isEqualTo(elements);
    return elements.longs();
  }

  @Test
  void cachesAreWrittenFromAPosition() {
    Tensor cache = Tensor.filled(TensorType.of(ElementType.F16, 2, 3, 1), 0);
    Tensor update = Tensor.filled(TensorType.of(ElementType.F16, 2, 2, 1), 1);
    Tensor start = Tensor.longs(Shape.of(2), 0, 2);
    assertThat(Evaluated.of(new Structured.CacheUpdate(1, true), cache, update, start).doubles())
        .containsExactly(1, 1, 0, 1, 0, 1);
    assertThatThrownBy(
            () -> Evaluated.of(new Structured.CacheUpdate(1, false), cache, update, start))
        .hasMessageContaining("P3202");
  }

  @Test
  void indicesOutOfRangeAreReported() {
    Tensor x = Tensor.longs(Shape.of(2, 3), COUNT);
    assertThatThrownBy(() -> Evaluated.of(new Movement.Gather(1), x, Tensor.longs(Shape.SCALAR, 3)))
        .isInstanceOf(PartitaException.class)
        .hasMessage(
            """
            error P3202: an index is out of range
              where:     gather
              expected:  an index below 3
              found:     3
              fix:       check the input values that give the index""");
    assertThatThrownBy(
            () ->
                Evaluated.of(
                    new Movement.ScatterNd(Combine.REPLACE),
                    x,
                    Tensor.longs(Shape.of(1, 1), -3),
                    Tensor.longs(Shape.of(1, 3), 0, 0, 0)))
        .hasMessageContaining("P3202");
  }
}
