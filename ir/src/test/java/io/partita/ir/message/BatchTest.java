package io.partita.ir.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.Combine;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.message.Step.Send;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BatchTest {
  private static final Slice FIRST = new Slice(0, 64);
  private static final Slice SECOND = new Slice(64, 64);

  private static Step receive(int from, Combine combine, Slice... slices) {
    long bytes = List.of(slices).stream().mapToLong(slice -> 4 * slice.size()).sum();
    return new Receive(from, List.of(slices), bytes, combine);
  }

  private static Step send(int to, Slice... slices) {
    long bytes = List.of(slices).stream().mapToLong(slice -> 4 * slice.size()).sum();
    return new Send(to, List.of(slices), bytes);
  }

  private static List<Integer> sizes(Step... steps) {
    return Batch.of(List.of(steps)).stream().map(batch -> batch.steps().size()).toList();
  }

  /** The head of a group in a tree of four. */
  @Test
  void sendsAndReceivesAreTogether() {
    assertThat(
            sizes(
                receive(1, Combine.ADD, FIRST),
                receive(2, Combine.ADD, FIRST),
                receive(3, Combine.ADD, FIRST),
                send(4, FIRST),
                receive(4, Combine.REPLACE, FIRST),
                send(3, FIRST),
                send(2, FIRST),
                send(1, FIRST)))
        .containsExactly(3, 1, 1, 3);
  }

  @Test
  void whatArrivesInPlaceDisturbsNoOther() {
    Step added = receive(1, Combine.ADD, FIRST);
    assertThat(sizes(added, receive(2, Combine.REPLACE, FIRST))).containsExactly(1, 1);
    assertThat(sizes(added, receive(2, Combine.REPLACE, new Slice(63, 2)))).containsExactly(1, 1);
    assertThat(sizes(added, receive(2, Combine.REPLACE, SECOND))).containsExactly(2);
    assertThat(sizes(receive(1, Combine.REPLACE, FIRST), receive(2, Combine.REPLACE, FIRST)))
        .containsExactly(1, 1);
  }

  @Test
  void buffersAreApart() {
    Batch batch =
        Batch.of(
                List.of(
                    receive(1, Combine.ADD, new Slice(0, 3)),
                    receive(2, Combine.REPLACE, SECOND),
                    receive(3, Combine.MAX, new Slice(0, 5))))
            .getFirst();
    assertThat(List.of(batch.place(0), batch.place(2), batch.room())).containsExactly(0L, 16L, 36L);
  }

  @Test
  void equalSumsAreJoined() {
    Batch batch =
        Batch.of(
                List.of(
                    receive(1, Combine.ADD, FIRST),
                    receive(2, Combine.ADD, FIRST),
                    receive(3, Combine.MAX, FIRST),
                    receive(4, Combine.MAX, SECOND)))
            .getFirst();
    assertThat(IntStream.range(0, 4).map(batch::joined).boxed()).containsExactly(2, 1, 1, 1);
  }

  /** Buffers of long messages would need much memory. */
  @Test
  void batchesAreLimited() {
    Slice large = new Slice(0, 5 << 10);
    assertThat(sizes(receive(1, Combine.ADD, large), receive(2, Combine.ADD, large)))
        .containsExactly(1, 1);
    assertThat(Batch.roomFor(List.of(receive(1, Combine.ADD, large)))).isEqualTo(20 << 10);
    Step[] many = IntStream.range(1, 12).mapToObj(i -> send(i, FIRST)).toArray(Step[]::new);
    assertThat(sizes(many)).containsExactly(Batch.STEPS, 3);
  }
}
