package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Window;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that integer products are fused with the requantization of their sums. */
class FusedKernelsTest {
  private static final long ROOM = 100_000;

  private static final String ONE = "[gemm_requantize_i8_i8_i8]";
  private static final String TWO = "[gemm_i8_i8, requantize_i32_i8]";

  private final Random random = new Random(7);

  private Tensor random(ElementType element, long... extents) {
    return random(TensorType.of(element, extents));
  }

  private Tensor random(TensorType type) {
    long[] values = random.longs(type.shape().elements(), -100, 100).toArray();
    return Tensor.ofLongs(type, values);
  }

  private Program product(boolean bias, long batch, long depth, long... parameters) {
    return SmallPrograms.of(
        graph -> {
          Value x = graph.input("x", TensorType.of(ElementType.I8, batch, 5, depth));
          Value weight = graph.constant(random(ElementType.I8, depth, 9));
          Value sums = graph.add(new Contraction.MatMul(ElementType.I32), x, weight);
          if (bias) {
            Value vector = graph.constant(random(ElementType.I32, 9));
            sums = graph.add(new Elementwise.Binary(BinaryFunction.ADD), sums, vector);
          }
          Value multiplier = graph.constant(random(ElementType.I32, parameters));
          Value addend = graph.constant(random(ElementType.I32));
          graph.output(
              "y",
              graph.add(
                  new IntegerNetwork.Requantize(9, -128, 127, ElementType.I8),
                  sums,
                  multiplier,
                  addend));
        });
  }

  private void requireCalls(Program program, long l1, String expected) {
    Schedule schedule =
        Scheduler.schedule(
            program,
            TargetLibrary.find("siracusa"),
            new SchedulerOptions(OptionalLong.of(l1), true, true));
    List<String> calls =
        schedule.roles().getFirst().kernels().getLast().calls().stream()
            .map(KernelCall::kernel)
            .map(kernel -> kernel.name())
            .toList();
    assertThat(calls.toString()).isEqualTo(expected);
    Map<String, Tensor> inputs = Map.of("x", random(program.inputs().get("x").type()));
    assertThat(new ScheduleEvaluator(schedule).run(inputs).get("y").longs())
        .isEqualTo(new ProgramEvaluator(program, 1).run(inputs).get("y").longs());
  }

  @ParameterizedTest
  @CsvSource({"false, 1, 24", "true, 1, 23", "true, 3, 23"})
  void parametersOfColumnsAreFused(boolean bias, long batch, long depth) {
    requireCalls(product(bias, batch, depth, 9), ROOM, ONE);
  }

  /** By the figures, a run of elements takes less for many of them than the fused kernel. */
  @Test
  void scalarParametersAreFusedForFewElements() {
    requireCalls(product(false, 1, 24), ROOM, ONE);
    requireCalls(product(false, 40, 24), ROOM, TWO);
  }

  @Test
  void parametersPerElementAreNotFused() {
    requireCalls(product(true, 1, 23, 5, 9), ROOM, TWO);
    requireCalls(product(true, 3, 23, 3, 1, 1), ROOM, TWO);
  }

  /** Tests that sums over several tiles are in memory. */
  @Test
  void productsWithTiledDepthAreNotFused() {
    requireCalls(product(false, 1, 23, 9), 180, TWO);
  }

  @Test
  void convolutionsAreFused() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.I8, 1, 5, 23));
              Value weight = graph.constant(random(ElementType.I8, 4, 5, 3));
              Value sums =
                  graph.add(
                      new Contraction.Convolution(
                          new Window(
                              List.of(3L), List.of(1L), List.of(1L), List.of(1L), List.of(1L)),
                          1,
                          false,
                          ElementType.I32),
                      x,
                      weight);
              graph.output(
                  "y",
                  graph.add(
                      new IntegerNetwork.Requantize(9, -128, 127, ElementType.I8),
                      sums,
                      graph.constant(random(ElementType.I32, 4, 1)),
                      graph.constant(random(ElementType.I32))));
            });
    requireCalls(program, ROOM, "[convolution_requantize_i8_i8_i8]");
  }
}
