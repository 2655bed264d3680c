package io.partita.passes.schedule.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Origin;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StorageTest {
  private static Storage whole(long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    return Storage.whole(Region.activation(Origin.named("x"), type.bytes()), type);
  }

  @Test
  void headsAreViewsOfProjections() {
    Storage heads = whole(1, 5, 64).reshaped(List.of(1L, 5L, 4L, 16L)).orElseThrow();
    Storage transposed = heads.transposed(List.of(0, 2, 1, 3));
    assertThat(transposed.shape()).containsExactly(1L, 4L, 5L, 16L);
    assertThat(transposed.strides()).containsExactly(64L, 16L, 64L, 1L);
    assertThat(transposed.isContiguous()).isFalse();
    assertThat(transposed.isRegular()).isTrue();
    assertThat(transposed.reshaped(List.of(1L, 4L, 80L))).isEmpty();
    assertThat(transposed.untransposed(List.of(0, 2, 1, 3))).isEqualTo(heads);
  }

  @Test
  void columnsBeginAtTheirOffset() {
    Storage part = whole(3, 8).part(1, 2, 4);
    assertThat(part.byteOffset()).isEqualTo(8);
    assertThat(part.strides()).containsExactly(8L, 1L);
    assertThat(part.spannedBytes()).isEqualTo((2 * 8 + 4) * 4);
  }

  @Test
  void bytesInWordsAreFewerElements() {
    TensorType type = TensorType.of(ElementType.I8, 16, 65, 4);
    Storage bytes = Storage.whole(Region.activation(Origin.named("x"), type.bytes()), type);
    Storage words = bytes.part(1, 64, 1).inElements(ElementType.I32).orElseThrow();
    assertThat(words.shape()).containsExactly(16L, 1L, 1L);
    assertThat(words.strides()).containsExactly(65L, 1L, 1L);
    assertThat(words.byteOffset()).isEqualTo(256);
    assertThat(bytes.part(2, 0, 2).inElements(ElementType.I32)).as("half words").isEmpty();
    assertThat(bytes.inElements(ElementType.I8)).as("no wider").isEmpty();
    assertThat(bytes.transposed(List.of(2, 1, 0)).inElements(ElementType.I32))
        .as("columns")
        .isEmpty();
    TensorType odd = TensorType.of(ElementType.I8, 2, 6);
    Storage lines = Storage.whole(Region.activation(Origin.named("y"), odd.bytes()), odd);
    assertThat(lines.part(1, 0, 4).inElements(ElementType.I32)).as("lines apart by 6").isEmpty();
    assertThat(lines.part(0, 0, 1).part(1, 2, 4).inElements(ElementType.I32))
        .as("from the third byte on")
        .isEmpty();
  }

  @Test
  void broadcastDimensionsAreReadOnly() {
    Storage expanded = whole(1, 4).broadcast(List.of(3L, 4L));
    assertThat(expanded.isRegular()).isTrue();
    assertThat(expanded.isWritable()).isFalse();
    assertThat(whole(4, 1).broadcast(List.of(4L, 3L)).isRegular()).isFalse();
  }

  @Test
  void nibblesAreReadWhole() {
    TensorType type = TensorType.of(ElementType.I4, 4, 6);
    Storage nibbles = Storage.whole(Region.activation(Origin.named("x"), type.bytes()), type);
    assertThat(nibbles.isRegular()).isTrue();
    assertThat(nibbles.part(1, 2, 2).isRegular()).isFalse();
  }

  @Test
  void emptyTensorsReshape() {
    Storage none = whole(0, 4).reshaped(List.of(2L, 0L, 3L)).orElseThrow();
    assertThat(none.shape()).containsExactly(2L, 0L, 3L);
  }

  /** Tests that reshaped views keep the order of elements, and are found if they exist. */
  @Test
  void reshapedViewsKeepTheOrderOfElements() {
    Random random = new Random(11);
    int found = 0;
    for (int i = 0; i < 2000; i++) {
      Storage view = whole(2, 3, 4, 2);
      List<Integer> permutation = new ArrayList<>(List.of(0, 1, 2, 3));
      Collections.shuffle(permutation, random);
      view = view.transposed(permutation);
      if (random.nextBoolean()) {
        view = view.part(random.nextInt(4), 1, 1);
      }
      List<Long> to = shape(view.elements(), random);
      Optional<Storage> reshaped = view.reshaped(to);
      if (reshaped.isPresent()) {
        found++;
        assertThat(places(reshaped.get())).isEqualTo(places(view));
      } else {
        assertThat(view.isContiguous()).isFalse();
      }
    }
    assertThat(found).isBetween(200, 1900);
  }

  private static List<Long> shape(long elements, Random random) {
    List<Long> shape = new ArrayList<>();
    long left = elements;
    while (left > 1) {
      long extent = 1 + random.nextInt((int) left);
      if (left % extent == 0) {
        shape.add(extent);
        left /= extent;
      }
    }
    return shape;
  }

  private static List<Long> places(Storage storage) {
    List<Long> places = new ArrayList<>(List.of(storage.offset()));
    for (int axis = 0; axis < storage.shape().size(); axis++) {
      List<Long> wider = new ArrayList<>();
      for (long place : places) {
        for (long index = 0; index < storage.shape().get(axis); index++) {
          wider.add(place + index * storage.strides().get(axis));
        }
      }
      places = wider;
    }
    return places;
  }
}
