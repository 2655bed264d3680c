package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests that products with large weights are split together with the functions that follow them.
 */
class SplitWeightsTest {
  private final Random random = new Random(11);

  private Tensor integers(ElementType element, long... extents) {
    TensorType type = TensorType.of(element, extents);
    return Tensor.ofLongs(type, random.longs(type.shape().elements(), -100, 100).toArray());
  }

  private Tensor floats(long... extents) {
    TensorType type = TensorType.of(ElementType.F32, extents);
    return Tensor.ofDoubles(type, random.doubles(type.shape().elements(), -1, 1).toArray());
  }

  /** Columns are as many as entries of the table, which isn't split. */
  private Program bytes(long inner) {
    return SmallPrograms.of(
        graph -> {
          Value x = graph.input("x", TensorType.of(ElementType.I8, 1, 256));
          Value y = requantized(graph, product(graph, x, 256, inner), inner);
          y =
              graph.add(
                  new IntegerNetwork.Lookup(), y, graph.constant(integers(ElementType.I8, 256)));
          graph.output("y", requantized(graph, product(graph, y, inner, 256), 256));
        });
  }

  private Value product(GraphBuilder graph, Value x, long rows, long columns) {
    Value weight = graph.constant(integers(ElementType.I8, rows, columns));
    return graph.at("product of " + rows).add(new Contraction.MatMul(ElementType.I32), x, weight);
  }

  private Value requantized(GraphBuilder graph, Value sums, long columns) {
    return graph.add(
        new IntegerNetwork.Requantize(20, -128, 127, ElementType.I8),
        sums,
        graph.constant(integers(ElementType.I32, columns)),
        graph.constant(integers(ElementType.I32)));
  }

  /** Returns a program with parts of at most 64 KiB. */
  private static Program cut(Program program) {
    return SplitWeights.cut(List.of(program), List.of(0), 64 << 10).getFirst();
  }

  private static List<String> operations(Program program) {
    return program.devices().getFirst().graph().nodes().stream()
        .map(node -> node.op().mnemonic())
        .filter(name -> !name.equals("constant"))
        .toList();
  }

  @Test
  void requantizationsAndTablesAreSplitWithTheirProduct() {
    Program program = bytes(1024);
    Program cut = cut(program);
    List<String> part = List.of("matmul", "requantize", "lookup");
    List<String> last = List.of("matmul", "requantize");
    List<String> expected = new ArrayList<>();
    Stream.of(part, part, part, part, List.of("concat"), last, last, last, last, List.of("concat"))
        .forEach(expected::addAll);
    assertThat(operations(cut)).isEqualTo(expected);
    Map<String, Tensor> inputs = Map.of("x", integers(ElementType.I8, 1, 256));
    assertThat(new ProgramEvaluator(cut, 1).run(inputs).get("y").longs())
        .isEqualTo(new ProgramEvaluator(program, 1).run(inputs).get("y").longs());
  }

  @Test
  void operandsThatArentConstantAreSplitToo() {
    for (long columns : new long[] {512, 1}) {
      Program program = residual(columns);
      Program cut = cut(program);
      List<String> expected =
          columns == 1
              ? List.of("linear", "add", "relu")
              : List.of("linear", "slice", "add", "relu");
      assertThat(operations(cut).subList(0, expected.size())).isEqualTo(expected);
      Map<String, Tensor> inputs = Map.of("x", floats(1, 256), "residual", floats(1, columns));
      assertThat(new ProgramEvaluator(cut, 1).run(inputs).get("y").doubles())
          .isEqualTo(new ProgramEvaluator(program, 1).run(inputs).get("y").doubles());
    }
  }

  @Test
  void functionsOfSumsThatOthersReadAreNotSplit() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.F32, 1, 256));
              Value weight = graph.constant(floats(256, 512));
              Value sums = graph.add(new Structured.Linear(false, false), x, weight);
              graph.output("sums", sums);
              graph.output("y", graph.add(new Elementwise.Unary(UnaryFunction.RELU), sums));
            });
    assertThat(operations(cut(program))).endsWith("linear", "concat", "relu");
  }

  /** Loops before the product take long enough to copy parts of its weight meanwhile. */
  @Test
  void partsAreCopiedAheadWhereThatIsFaster() {
    Program program =
        SmallPrograms.of(
            graph -> {
              Value x = graph.input("x", TensorType.of(ElementType.F32, 1, 512));
              for (int i = 0; i < 4; i++) {
                x = graph.add(new Elementwise.Unary(UnaryFunction.TANH), x);
              }
              Value weight = graph.constant(floats(512, 128));
              graph.output(
                  "y", graph.at("product").add(new Structured.Linear(false, false), x, weight));
            });
    Schedule schedule = SmallPrograms.schedule(program);
    List<ScheduleStep> steps = schedule.roles().getFirst().steps();
    assertThat(steps).filteredOn(ScheduleStep.Preload.class::isInstance).hasSizeGreaterThan(1);
    assertThat(steps)
        .filteredOn(
            step -> step instanceof ScheduleStep.RunTiles && step.origin().name().equals("product"))
        .hasSizeGreaterThan(1);
    Map<String, Tensor> inputs = Map.of("x", floats(1, 512));
    assertThat(new ScheduleEvaluator(schedule).run(inputs).get("y").doubles())
        .isEqualTo(new ProgramEvaluator(program, 1).run(inputs).get("y").doubles());
  }

  private Program residual(long columns) {
    return SmallPrograms.of(
        graph -> {
          Value x = graph.input("x", TensorType.of(ElementType.F32, 1, 256));
          Value residual = graph.input("residual", TensorType.of(ElementType.F32, 1, columns));
          Value weight = graph.constant(floats(256, 512));
          Value bias = graph.constant(floats(512));
          Value y = graph.at("linear").add(new Structured.Linear(false, true), x, weight, bias);
          y = graph.add(new Elementwise.Binary(BinaryFunction.ADD), y, residual);
          y = graph.add(new Elementwise.Unary(UnaryFunction.RELU), y);
          Value second = graph.constant(floats(512, 256));
          graph.output("y", graph.at("second").add(new Structured.Linear(false, false), y, second));
        });
  }
}
