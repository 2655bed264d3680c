package io.partita.passes.program.collective;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.mesh.Algorithm;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that schedules compute their collectives. */
class LockStepTest {
  @Property(seed = "1", tries = 600, shrinking = ShrinkingMode.OFF)
  void everyScheduleMatchesTheDefinition(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 24) int n) {
    SplittableRandom random = new SplittableRandom(seed);
    requireDefinition(
        RandomCollectives.draw(random, n, ElementType.I32),
        RandomCollectives.algorithm(random, n),
        random);
  }

  @Tag("thorough")
  @Test
  void everyKindByEveryAlgorithmOnUpTo64Devices() {
    SplittableRandom random = new SplittableRandom(7);
    List<Algorithm> algorithms =
        List.of(
            new Algorithm.Tree(2),
            new Algorithm.Tree(3),
            new Algorithm.Tree(4),
            new Algorithm.Tree(64),
            new Algorithm.Hierarchical(2),
            new Algorithm.Hierarchical(4),
            new Algorithm.Ring(),
            new Algorithm.Direct());
    int[] counts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 48, 63, 64};
    for (int devices : counts) {
      for (CollectiveKind kind : CollectiveKind.values()) {
        if (kind == CollectiveKind.ALL_TO_ALL && devices > 33) {
          continue; // its blocks are devices squared
        }
        Collective collective = Collective.of(kind, devices, 100, ElementType.I32);
        for (Algorithm algorithm : algorithms) {
          requireDefinition(collective, algorithm, random);
        }
      }
    }
  }

  private static void requireDefinition(
      Collective collective, Algorithm algorithm, SplittableRandom random) {
    List<long[]> vectors = new ArrayList<>();
    List<Tensor> inputs = new ArrayList<>();
    for (int device = 0; device < collective.devices(); device++) {
      // What a device doesn't hold is never read, as the outcome shows.
      long[] vector = random.ints(collective.elements()).asLongStream().toArray();
      vectors.add(vector);
      inputs.add(vector(collective.before(device), vector));
    }
    int capacity = random.nextInt(2);
    Schedule schedule = Schedules.of(collective, algorithm, capacity);
    List<Tensor> results = LockStep.run(schedule, capacity, inputs);
    long[] expected = definition(collective, vectors);
    for (int device = 0; device < collective.devices(); device++) {
      assertThat(results.get(device))
          .as("%s by %s, device %d", collective, algorithm, device)
          .isEqualTo(vector(collective.after(device), expected));
    }
  }

  /** Returns the correct vector of the devices that have it at the end. */
  private static long[] definition(Collective collective, List<long[]> vectors) {
    long[] expected = new long[(int) collective.elements()];
    boolean[] written = new boolean[expected.length];
    for (int device = 0; device < collective.devices(); device++) {
      for (Slice slice : collective.before(device)) {
        for (int i = (int) slice.start(); i < slice.end(); i++) {
          long value = vectors.get(device)[i];
          expected[i] =
              !written[i]
                  ? value
                  : switch (collective.reduction()) {
                    case REPLACE, MUL -> throw new AssertionError("two devices hold element " + i);
                    case ADD -> (int) (expected[i] + value);
                    case MAX -> Math.max(expected[i], value);
                    case MIN -> Math.min(expected[i], value);
                  };
          written[i] = true;
        }
      }
    }
    return expected;
  }

  private static Tensor vector(List<Slice> slices, long[] values) {
    long[] held =
        slices.stream()
            .flatMapToLong(s -> java.util.Arrays.stream(values, (int) s.start(), (int) s.end()))
            .toArray();
    return Tensor.ofLongs(TensorType.of(ElementType.I32, held.length), held);
  }

  /** 2^24 + 1 rounds to 2^24, so that the order of additions shows. */
  private static float sum(Algorithm algorithm, float... terms) {
    Collective collective =
        Collective.of(CollectiveKind.ALL_REDUCE, terms.length, 1, ElementType.F32);
    List<Tensor> inputs = new ArrayList<>();
    for (float term : terms) {
      inputs.add(Tensor.of(TensorType.of(ElementType.F32, 1), new float[] {term}));
    }
    List<Tensor> results = LockStep.run(Schedules.of(collective, algorithm), 0, inputs);
    assertThat(results).isEqualTo(LockStep.run(Schedules.of(collective, algorithm, 1), 1, inputs));
    assertThat(results).isNotEmpty().allMatch(results.getFirst()::equals);
    return results.getFirst().floats()[0];
  }

  @Test
  void sumsHaveTheStatedOrder() {
    float big = 1 << 24;
    // ((big + 1) + 1) + 1 loses each 1; (1 + 1) and then big keeps them.
    assertThat(sum(new Algorithm.Tree(4), big, 1, 1, 1)).isEqualTo(big);
    // (big + 1) + (1 + 1)
    assertThat(sum(new Algorithm.Tree(2), big, 1, 1, 1)).isEqualTo(big + 2);
    // The one element is part 3: x[3] + (x[2] + (x[1] + x[0]))
    assertThat(sum(new Algorithm.Ring(), big, 1, 1, 1)).isEqualTo(big);
    assertThat(sum(new Algorithm.Ring(), 1, 1, 1, big)).isEqualTo(big + 4);
    // ((x[3] + x[1]) + x[2]) + x[0]: rounds 0, 1, 3 of device 3, which is its own partner in 2
    assertThat(sum(new Algorithm.Direct(), 1, 1, 1, big)).isEqualTo(big);
    assertThat(sum(new Algorithm.Direct(), big, 1, 1, 1)).isEqualTo(big + 4);
    // The one element is that of device 3: (x[3] + x[2]) + (x[1] + x[0])
    assertThat(sum(new Algorithm.Hierarchical(2), big, 1, 1, 1)).isEqualTo(big + 2);
    assertThat(sum(new Algorithm.Hierarchical(2), 1, 1, big, 1)).isEqualTo(big + 2);
  }

  @Test
  void fewerBytesTravelBetweenGroups() {
    Collective sync = Collective.of(CollectiveKind.ALL_REDUCE, 8, 512, ElementType.I32);
    Schedule schedule = Schedules.of(sync, new Algorithm.Hierarchical(4), 1);
    // Three others of the group, and one of the other group, in either direction.
    assertThat(schedule.messages()).isEqualTo(8 * 2 * (3 + 1));
    assertThat(schedule.bytes(1, 2)).isEqualTo(2 * 2048 / 4);
    assertThat(schedule.bytes(1, 5)).isEqualTo(2 * 2048 / 8);
    assertThat(schedule.bytes(1, 6)).isZero();
    assertThat(schedule.steps().get(1))
        .allMatch(step -> step.slices().size() == 1)
        .extracting(Step::toString)
        .containsExactly(
            "send 512 B to 3",
            "send 512 B to 0",
            "send 512 B to 2",
            "receive 512 B from 3",
            "receive 512 B from 0",
            "receive 512 B from 2",
            "send 256 B to 5",
            "receive 256 B from 5",
            "send 256 B to 5",
            "receive 256 B from 5",
            "send 512 B to 3",
            "send 512 B to 0",
            "send 512 B to 2",
            "receive 512 B from 3",
            "receive 512 B from 0",
            "receive 512 B from 2");
  }

  @Test
  void thePapersStepsForEightChipsInGroupsOfFour() {
    // 512 features of 4 bytes, MCU paper section IV and figure 1.
    Collective sync = Collective.of(CollectiveKind.ALL_REDUCE, 8, 512, ElementType.I32);
    Algorithm.Tree tree = new Algorithm.Tree(4);
    Schedule schedule = Schedules.of(sync, tree);
    assertThat(tree.levels(8)).isEqualTo(2);
    // Up: three members to each head, then one head to the other. Down: the same back.
    assertThat(schedule.messages()).isEqualTo(2 * (3 + 3 + 1));
    assertThat(schedule.bytes()).isEqualTo(14 * 2048L);
    for (int member : new int[] {1, 2, 3}) {
      assertThat(schedule.bytes(member, 0)).isEqualTo(2048);
      assertThat(schedule.bytes(0, member)).isEqualTo(2048);
      assertThat(schedule.bytes(4 + member, 4)).isEqualTo(2048);
      assertThat(schedule.bytes(4 + member, 0)).isZero();
    }
    assertThat(schedule.bytes(4, 0)).isEqualTo(2048);
    assertThat(schedule.steps().get(0))
        .extracting(Step::toString)
        .containsExactly(
            "receive 2048 B from 1",
            "receive 2048 B from 2",
            "receive 2048 B from 3",
            "receive 2048 B from 4",
            "send 2048 B to 4",
            "send 2048 B to 3",
            "send 2048 B to 2",
            "send 2048 B to 1");
  }

  @Test
  void ringsMoveTheFewestBytes() {
    Collective sync = Collective.of(CollectiveKind.ALL_REDUCE, 8, 512, ElementType.I8);
    Schedule ring = Schedules.of(sync, new Algorithm.Ring());
    // Each device sends 2 (n - 1) / n of the vector.
    assertThat(ring.bytes(3, 4)).isEqualTo(2 * 7 * 512 / 8);
    assertThat(ring.bytes()).isEqualTo(8 * 2 * 7 * 512 / 8);
  }
}
