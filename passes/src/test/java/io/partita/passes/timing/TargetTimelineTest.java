package io.partita.passes.timing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.op.Structured;
import io.partita.ir.target.KernelClass;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests times on targets against values computed by hand from their figures. */
class TargetTimelineTest {
  private static final TargetDescription SIRACUSA = TargetLibrary.find("siracusa");
  private static final double HERTZ = 500e6;

  /** The instructions of a kernel, which aren't cached when it begins. */
  private static final double COLD = 1216;

  private static double cycles(Outcome outcome) {
    return outcome.seconds() * HERTZ;
  }

  @Test
  void transfersTakeSetupAndBytes() {
    TargetTimeline timeline = new TargetTimeline(SIRACUSA);
    timeline.transfer(0, "l2", "l1", "in", 8000);
    timeline.transfer(0, "l1", "l2", "out", 7750);
    timeline.transfer(1, "l2", "l1", "other chip", 800);
    Outcome outcome = timeline.play();
    // The two directions and the two chips are at work at once.
    assertThat(cycles(outcome)).isCloseTo(23 + 1000, within(1e-6));
    assertThat(outcome.bytes(new Resource.Kind("l2"))).isEqualTo(8000 + 7750 + 800);
    assertThat(outcome.joules()).isCloseTo(16550 * 2e-12, within(1e-18));
  }

  @Test
  void fromL3TheWayIsOverL2() {
    TargetTimeline timeline = new TargetTimeline(SIRACUSA);
    timeline.transfer(0, "l3", "l1", "weights", 8000);
    Outcome outcome = timeline.play();
    assertThat(cycles(outcome)).isCloseTo(140 + 10000 + 23 + 1000, within(1e-6));
    assertThat(outcome.breakdown().keySet()).containsExactly("l2", "l3");
    assertThat(outcome.joules()).isCloseTo(8000 * 102e-12, within(1e-18));
  }

  @Test
  void messagesHopOverTheFirstDevicesOfGroups() {
    TargetTimeline timeline = new TargetTimeline(SIRACUSA);
    timeline.send(5, 2, "far", 1000);
    Outcome outcome = timeline.play();
    // 5 to 4, 4 to 0, 0 to 2: 1000 B at 0.5 GB/s and 200 ns each.
    assertThat(outcome.seconds()).isCloseTo(3 * (2e-6 + 200e-9), within(1e-15));
    assertThat(outcome.bytes(Resource.Kind.LINKS)).isEqualTo(3000);
  }

  private static KernelCost linear(ElementType element, long rows, long in, long out) {
    List<TensorType> operands =
        List.of(TensorType.of(element, rows, in), TensorType.of(element, in, out));
    return KernelCosts.of(
        new Structured.Linear(false, false),
        operands,
        List.of(TensorType.of(element, rows, out)),
        i -> i == 1);
  }

  @Test
  void matrixVectorProductsAreBoundByWeights() {
    KernelCost cost = linear(ElementType.I8, 1, 512, 512);
    assertThat(cost.multiplyAccumulates()).isEqualTo(512 * 512);
    assertThat(cost.weightBytes()).isEqualTo(512 * 512);
    assertThat(cost.inputBytes()).isEqualTo(512);
    assertThat(cost.outputBytes()).isEqualTo(512);
    assertThat(cost.work().getFirst().kernel()).isEqualTo(KernelClass.MATVEC);
    TargetTimeline timeline = new TargetTimeline(SIRACUSA);
    timeline.kernel(0, "project", cost, "l2", "l2");
    Outcome outcome = timeline.play();
    // 257 KiB in three tiles of at most 128 KiB; compute, at 6.8 MAC a cycle, is the slower part:
    // the first tile's loads, then all of compute, then the last tile's store.
    double weights = 23 + Math.ceil(512 * 512 / 3.0) / 8;
    double input = 23 + Math.ceil(512 / 3.0) / 8;
    double compute = COLD + 19 + 512 * 512 / 6.8;
    double output = 23 + 170 / 7.75;
    assertThat(cycles(outcome)).isCloseTo(weights + input + compute + output, within(1e-6));
    assertThat(outcome.bytes(new Resource.Kind("l2"))).isEqualTo(512 * 512 + 1024);
  }

  @Test
  void weightsInL3AreBoundByIt() {
    TargetTimeline timeline = new TargetTimeline(SIRACUSA);
    timeline.kernel(0, "project", linear(ElementType.I8, 1, 512, 512), "l3", "l2");
    Outcome outcome = timeline.play();
    // Three set-ups and all bytes at 0.8 a cycle, then the last tile's way on.
    double l3 = 3 * 140 + 512 * 512 / 0.8;
    assertThat(cycles(outcome)).isBetween(l3, l3 + 25_000);
    assertThat(outcome.breakdown().get("l3")).isCloseTo(l3 / HERTZ, within(l3 / HERTZ * 0.1));
    assertThat(outcome.bytes(new Resource.Kind("l3"))).isEqualTo(512 * 512);
  }

  @Test
  void missingTypesUseTheNextWiderOne() {
    KernelWork bf16 = KernelWork.product(ElementType.BF16, 1, 4, 4, 1000);
    // Siracusa's dot product of bf16 returns 0; it's computed in f32.
    assertThat(bf16.cycles(SIRACUSA.devices().getFirst())).isEqualTo(COLD + (19 + 16000 / 3.35));
    KernelWork f64 = KernelWork.product(ElementType.F64, 1, 4, 4, 1000);
    assertThat(f64.cycles(SIRACUSA.devices().getFirst())).isEqualTo(COLD + (19 + 2 * 16000 / 3.35));
    KernelWork batch = KernelWork.product(ElementType.I8, 8, 4, 4, 100);
    assertThat(batch.cycles(SIRACUSA.devices().getFirst()))
        .isCloseTo(COLD + 19 + 8 * 1600 / 19.9, within(1e-9));
  }

  @Test
  void namesMissingKernels() {
    TargetDescription laptops = TargetLibrary.find("wifi-laptops");
    KernelWork work = new KernelWork(KernelClass.CONVOLUTION, ElementType.I8, 1, 1, 1, 1);
    // There's a product of i8 to stand in for the convolution, but none of i64.
    assertThat(work.cycles(laptops.devices().getFirst())).isGreaterThan(8000);
    TargetDescription n150 = TargetLibrary.find("n150");
    KernelWork norm = KernelWork.elements(KernelClass.NORM, ElementType.I8, 1, 1);
    assertThat(norm.cycles(n150.devices().getFirst())).isGreaterThan(12400);
    var chip = n150.devices().getFirst();
    var bare =
        new io.partita.ir.target.ChipKind(
            "bare", chip.figures(), chip.memories(), chip.channels(), List.of());
    assertThatThrownBy(() -> norm.cycles(bare))
        .isInstanceOf(PartitaException.class)
        .hasMessage(
            """
            error P4151: the target states no speed for a kernel
              where:     target, chip bare
              expected:  kernel norm i8
              found:     none for this kind of elements
              fix:       add it to the target description""");
  }
}
