package io.partita.passes.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.schedule.kernel.KernelCall;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.ScheduleParser;
import io.partita.ir.text.SchedulePrinter;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.function.Function;

/**
 * Schedules of small programs on a chip with a given working memory, whose results are compared bit
 * for bit with the reference.
 */
abstract class EvaluatedLoops {
  /** A working memory that no tile fills. */
  static final long ROOM = 100_000;

  private final Random random = new Random(11);
  private int weights;

  private Tensor random(TensorType type) {
    int elements = (int) type.shape().elements();
    if (type.element().isFloat()) {
      float[] values = new float[elements];
      for (int i = 0; i < elements; i++) {
        values[i] = random.nextFloat(-2, 2);
      }
      return Tensor.of(type, values);
    }
    return Tensor.ofLongs(type, random.longs(elements, -100, 100).toArray());
  }

  /** Uses an input, so that the text of the schedule has no weights file. */
  final Value weight(GraphBuilder graph, ElementType element, long... extents) {
    return graph.input("weight" + weights++, TensorType.of(element, extents));
  }

  /** Returns the calls of each loop, in order. */
  final List<String> loops(Function<GraphBuilder, Value> body, long l1) {
    return kernels(body, l1).stream().map(EvaluatedLoops::calls).toList();
  }

  final List<String> loops(Program program, long l1) {
    return kernels(program, l1).stream().map(EvaluatedLoops::calls).toList();
  }

  private static String calls(TiledKernel kernel) {
    return kernel.calls().stream()
        .map(KernelCall::kernel)
        .map(each -> each.name())
        .toList()
        .toString();
  }

  final List<TiledKernel> kernels(Function<GraphBuilder, Value> body, long l1) {
    return kernels(SmallPrograms.of(graph -> graph.output("y", body.apply(graph))), l1);
  }

  private List<TiledKernel> kernels(Program program, long l1) {
    Schedule schedule =
        Scheduler.schedule(
            program,
            TargetLibrary.find("siracusa"),
            new SchedulerOptions(OptionalLong.of(l1), true, true));
    ScheduleVerifier.verify(schedule);
    Schedule read = ScheduleParser.parse(SchedulePrinter.print(schedule));
    assertThat(SchedulePrinter.print(read)).isEqualTo(SchedulePrinter.print(schedule));
    Map<String, Tensor> inputs = new LinkedHashMap<>();
    program.inputs().forEach((name, type) -> inputs.put(name, random(type.type())));
    Map<String, Tensor> expected = new ProgramEvaluator(program, 1).run(inputs);
    Map<String, Tensor> found = new ScheduleEvaluator(schedule).run(inputs);
    assertThat(found).containsOnlyKeys(expected.keySet());
    for (String name : expected.keySet()) {
      if (expected.get(name).type().element().isFloat()) {
        assertThat(found.get(name).floats()).isEqualTo(expected.get(name).floats());
      } else {
        assertThat(found.get(name).longs()).isEqualTo(expected.get(name).longs());
      }
    }
    return schedule.roles().getFirst().kernels();
  }
}
