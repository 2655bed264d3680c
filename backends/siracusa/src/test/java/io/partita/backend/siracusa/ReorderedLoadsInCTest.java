package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Loops that load the columns of several devices from where each device has its own have the
 * results of the reference, whole and in tiles of some of them.
 */
@ExtendWith(WithCompiler.class)
class ReorderedLoadsInCTest {
  @TempDir private Path folder;

  private final SplittableRandom random = new SplittableRandom(5);
  private final GraphBuilder graph = new GraphBuilder("joined");
  private final SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
  private final SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
  private final Map<String, Tensor> values = new LinkedHashMap<>();

  private Value input(ElementType element, long... extents) {
    TensorType type = TensorType.of(element, extents);
    int elements = Math.toIntExact(type.shape().elements());
    String name = "x" + inputs.size();
    inputs.put(name, whole(type));
    values.put(name, Tensor.ofLongs(type, random.longs(elements, -100, 100).toArray()));
    return graph.input(name, type);
  }

  private static ShardedType whole(TensorType type) {
    return new ShardedType(type, Layout.replicated(Mesh.of(), type.rank()));
  }

  private void output(Value value) {
    String name = "y" + outputs.size();
    graph.output(name, value);
    outputs.put(name, whole(value.type()));
  }

  private Value joined(ElementType element, long parts, long rows, long columns) {
    Value apart = input(element, parts, rows, columns);
    Value turned = graph.add(new Movement.Transpose(List.of(1, 0, 2)), apart);
    return graph.add(new Movement.Reshape(Shape.of(rows, parts * columns)), turned);
  }

  private void product(long parts, long rows, long columns) {
    output(
        graph.add(
            new Contraction.MatMul(ElementType.I32),
            joined(ElementType.I8, parts, rows, columns),
            input(ElementType.I8, parts * columns, 19)));
  }

  private void sum(long parts, long rows, long columns) {
    Value floats =
        graph.add(
            new Elementwise.Cast(ElementType.F32), joined(ElementType.I32, parts, rows, columns));
    Value sum =
        graph.add(
            new Elementwise.Binary(BinaryFunction.ADD),
            floats,
            graph.add(
                new Elementwise.Cast(ElementType.F32), input(ElementType.I32, parts * columns)));
    output(graph.add(new Elementwise.Unary(UnaryFunction.RELU), sum));
  }

  @ParameterizedTest
  @CsvSource({"262144, early, 0", "1500, late, 1"})
  void haveTheResultsOfTheReference(long l1, String transfers, int copies) throws IOException {
    product(3, 5, 16);
    product(7, 9, 13);
    product(2, 33, 40);
    sum(8, 2, 64);
    sum(3, 11, 7);
    sum(5, 6, 50);
    Graph finished = graph.finish();
    Program program = new Program(Mesh.of(), List.of(new Module(finished)), inputs, outputs);
    Schedule schedule =
        Scheduler.schedule(
            program,
            TargetLibrary.find("siracusa:chips=1"),
            new SchedulerOptions(OptionalLong.of(l1), true, true));
    // Parts of 13 columns have no common multiple with the words of a product but the whole.
    assertThat(schedule.roles().getFirst().kernels())
        .filteredOn(kernel -> kernel.name().startsWith("copy"))
        .hasSize(copies);
    Map<String, Tensor> expected = new ProgramEvaluator(program, 1).run(values);
    assertThat(new ScheduleEvaluator(schedule).run(values)).isEqualTo(expected);
    assertThat(SanitisedBuild.run(schedule, values, folder.resolve("out"), transfers))
        .isEqualTo(expected);
  }
}
