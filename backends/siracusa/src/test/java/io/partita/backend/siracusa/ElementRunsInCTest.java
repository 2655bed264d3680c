package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured.NormKind;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.schedule.kernel.ElementRun;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random chains of functions of integers and floats have the results of the reference in the
 * evaluated schedule and in C, where runs of them are one kernel.
 */
@ExtendWith(WithCompiler.class)
class ElementRunsInCTest {
  private static final int CHAINS = 24;

  @TempDir private Path folder;

  /** One program of several chains. */
  private static final class Chains {
    private final SplittableRandom random;
    private final GraphBuilder graph = new GraphBuilder("chains");
    private final SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
    private final SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    private final Map<String, Tensor> values = new LinkedHashMap<>();

    Chains(long seed) {
      random = new SplittableRandom(seed);
    }

    private Tensor tensor(ElementType element, long most, long... extents) {
      TensorType type = TensorType.of(element, extents);
      int elements = Math.toIntExact(type.shape().elements());
      return Tensor.ofLongs(type, random.longs(elements, -most, most).toArray());
    }

    private Value input(ElementType element, long most, long... extents) {
      Tensor value = tensor(element, most, extents);
      String name = "x" + inputs.size();
      inputs.put(name, whole(value.type()));
      values.put(name, value);
      return graph.input(name, value.type());
    }

    private static ShardedType whole(TensorType type) {
      return new ShardedType(type, Layout.replicated(Mesh.of(), type.rank()));
    }

    private Value constant(long value) {
      return graph.constant(Tensor.filled(TensorType.of(ElementType.I32), value));
    }

    private Value requantize(Value x, ElementType to) {
      int shift = random.nextInt(0, 20);
      boolean isUsual = random.nextInt(4) > 0;
      long multiplier = isUsual ? random.nextLong(-400, 400) : random.nextInt();
      long addend = isUsual ? random.nextLong(-1000, 1000) : random.nextInt();
      long low = to == ElementType.U8 ? 0 : -128;
      return graph.add(
          new IntegerNetwork.Requantize(shift, low, to == ElementType.U8 ? 255 : 127, to),
          x,
          constant(multiplier),
          random.nextBoolean() ? constant(addend) : constant(0));
    }

    /** A scalar, a row, a column, or as many elements, of i32. */
    private Value other(Value x) {
      long[] extents = x.type().shape().extents();
      long last = extents[extents.length - 1];
      long[] other =
          switch (random.nextInt(5)) {
            case 0 -> new long[] {};
            case 1 -> new long[] {last};
            case 2 -> new long[] {1};
            case 3 -> new long[] {extents[0], 1};
            default -> extents;
          };
      if (extents.length != 2 && other.length == 2 && other[1] == 1) {
        other = new long[] {};
      }
      return input(ElementType.I32, 1 << random.nextInt(1, 31), other);
    }

    private Value binary(Value x) {
      Value operand = random.nextInt(6) == 0 ? x : other(x);
      BinaryFunction function =
          List.of(
                  BinaryFunction.ADD,
                  BinaryFunction.SUB,
                  BinaryFunction.MUL,
                  BinaryFunction.MIN,
                  BinaryFunction.MAX)
              .get(random.nextInt(5));
      return random.nextBoolean()
          ? graph.add(new Elementwise.Binary(function), x, operand)
          : graph.add(new Elementwise.Binary(function), operand, x);
    }

    private Value head() {
      long rows = List.of(1L, 2L, 5L, 16L).get(random.nextInt(4));
      long columns = List.of(1L, 3L, 4L, 12L, 33L, 64L).get(random.nextInt(6));
      return switch (random.nextInt(6)) {
        case 0 -> input(ElementType.I8, 128, rows, columns);
        case 1 -> input(ElementType.I32, 1 << 30, rows, columns);
        case 2 ->
            graph.add(
                new IntegerNetwork.IntegerNorm(NormKind.RMS, 8, -128, 127),
                input(ElementType.I8, 128, rows, columns),
                input(ElementType.I32, 1000, columns));
        case 3 ->
            graph.add(
                new IntegerNetwork.IntegerSoftmax(1, 86, 3888, 64, 256),
                input(ElementType.I32, 128, rows, columns));
        case 4 -> {
          long batch = random.nextInt(1, 4);
          long depth = random.nextInt(1, 12);
          yield graph.add(
              new Contraction.MatMul(ElementType.I32),
              input(ElementType.I8, 128, batch, rows, depth),
              input(ElementType.I8, 128, random.nextBoolean() ? batch : 1, depth, columns));
        }
        default -> {
          long depth = List.of(4L, 7L, 8L).get(random.nextInt(3));
          yield graph.add(
              new Contraction.MatMul(ElementType.I32),
              input(ElementType.I8, 128, rows, depth),
              graph.constant(tensor(ElementType.I8, 128, depth, columns)));
        }
      };
    }

    private Value reshaped(Value x) {
      long[] extents = x.type().shape().extents();
      long elements = Arrays.stream(extents).reduce(1, (product, each) -> product * each);
      List<Dim> to =
          List.of(
              Dim.of(1),
              Dim.of(elements / extents[extents.length - 1]),
              x.type().shape().fromEnd(0));
      return graph.add(new Movement.Reshape(new Shape(to)), x);
    }

    private Value next(Value last, int kind) {
      boolean isWide = last.type().element() == ElementType.I32;
      if (kind < 2 && isWide) {
        return binary(last);
      }
      if (kind == 2) {
        return reshaped(last);
      }
      if (kind == 4 && !isWide) {
        ElementType to = random.nextBoolean() ? ElementType.I8 : ElementType.U8;
        Value table = graph.constant(tensor(to, 128, IntegerNetwork.Lookup.ENTRIES));
        return graph.add(new IntegerNetwork.Lookup(), last, table);
      }
      return kind == 3 && !isWide
          ? graph.add(new Elementwise.Cast(ElementType.I32), last)
          : requantize(
              last,
              List.of(ElementType.I8, ElementType.U8, ElementType.I32).get(random.nextInt(3)));
    }

    /** Converts integers, and adds functions of floats. */
    private Value floats(Value x) {
      Value last = graph.add(new Elementwise.Cast(ElementType.F32), x);
      for (int steps = random.nextInt(1, 5); steps > 0; steps--) {
        Value operand =
            random.nextInt(6) == 0
                ? last
                : graph.add(new Elementwise.Cast(ElementType.F32), other(last));
        Elementwise.Binary function =
            new Elementwise.Binary(
                List.of(
                        BinaryFunction.ADD,
                        BinaryFunction.SUB,
                        BinaryFunction.MUL,
                        BinaryFunction.MAX)
                    .get(random.nextInt(4)));
        last =
            random.nextBoolean()
                ? graph.add(function, last, operand)
                : graph.add(function, operand, last);
      }
      return random.nextInt(3) == 0 ? last : quantize(last);
    }

    /** With one scale, such that levels are of all magnitudes. */
    private Value quantize(Value x) {
      ElementType to = random.nextBoolean() ? ElementType.I8 : ElementType.U8;
      double scale = Math.scalb(random.nextDouble(0.5, 1), random.nextInt(0, 40));
      Tensor zero = Tensor.filled(TensorType.of(to), random.nextInt(0, 100));
      return graph.add(
          new Quantized.Quantize(0, 0, to),
          x,
          graph.constant(Tensor.filled(TensorType.of(ElementType.F32), scale)),
          graph.constant(zero));
    }

    private void add(int number) {
      Value last = head();
      for (int steps = random.nextInt(1, 8); steps > 0; steps--) {
        last = next(last, random.nextInt(5));
      }
      if (number % 3 == 0) {
        last = floats(last);
      }
      String name = "y" + number;
      graph.output(name, last);
      outputs.put(name, whole(last.type()));
    }

    /** Adds a cast, a multiplication by a row, an addition of another one, and a quantization. */
    void addScaledRows(long columns) {
      Value x = input(ElementType.I32, 1000, 19, columns);
      Value factors = row(columns);
      Value addends = row(columns);
      Value scaled =
          graph.add(
              new Elementwise.Binary(BinaryFunction.MUL),
              graph.add(new Elementwise.Cast(ElementType.F32), x),
              factors);
      Value sum = graph.add(new Elementwise.Binary(BinaryFunction.ADD), scaled, addends);
      Value levels =
          graph.add(
              new Quantized.Quantize(0, 0, ElementType.I8),
              sum,
              graph.constant(Tensor.filled(TensorType.of(ElementType.F32), 300)),
              graph.constant(Tensor.filled(TensorType.of(ElementType.I8), 3)));
      String name = "y" + columns;
      graph.output(name, levels);
      outputs.put(name, whole(levels.type()));
    }

    private Value row(long columns) {
      TensorType type = TensorType.of(ElementType.F32, columns);
      return graph.constant(Tensor.ofDoubles(type, random.doubles(columns, -20, 20).toArray()));
    }

    Program program() {
      for (int i = 0; i < CHAINS; i++) {
        add(i);
      }
      return finish();
    }

    Program finish() {
      Graph finished = graph.finish();
      return new Program(Mesh.of(), List.of(new Module(finished)), inputs, outputs);
    }
  }

  /** Tests groups of floats with rows that are whole groups or break them, in one run each. */
  @Test
  void rowsOfAllSizesInGroups() throws IOException {
    Chains chains = new Chains(7);
    List<Long> sizes = List.of(2L, 3L, 4L, 5L, 6L, 7L, 12L, 33L);
    sizes.forEach(chains::addScaledRows);
    Program program = chains.finish();
    Schedule schedule =
        Scheduler.schedule(
            program, TargetLibrary.find("siracusa:chips=1"), SchedulerOptions.STANDARD);
    assertThat(
            schedule.roles().getFirst().kernels().stream()
                .flatMap(kernel -> ElementRun.of(kernel.calls()).stream())
                .filter(ElementRun::isGrouped)
                .flatMap(run -> run.steps().stream())
                .flatMap(step -> step.operands().stream())
                .flatMap(operand -> operand.period().stream()))
        .as("sizes of rows")
        .containsAll(sizes);
    Map<String, Tensor> expected = new ProgramEvaluator(program, 1).run(chains.values);
    assertThat(
            wrong(
                expected,
                SanitisedBuild.run(schedule, chains.values, folder.resolve("rows"), "early")))
        .isEmpty();
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource("4, 1500, late")
  void randomChains(long seed, long l1, String transfers) throws IOException {
    Chains chains = new Chains(seed);
    Program program = chains.program();
    Schedule schedule =
        Scheduler.schedule(
            program,
            TargetLibrary.find("siracusa:chips=1"),
            new SchedulerOptions(OptionalLong.of(l1), true, true));
    Map<String, Tensor> expected = new ProgramEvaluator(program, 1).run(chains.values);
    List<TiledKernel> kernels = schedule.roles().getFirst().kernels();
    assertThat(kernels)
        .as("runs of several calls")
        .anyMatch(
            kernel -> ElementRun.of(kernel.calls()).stream().anyMatch(run -> run.calls() > 1));
    assertThat(wrong(expected, new ScheduleEvaluator(schedule).run(chains.values)))
        .as("evaluated schedule")
        .isEmpty();
    assertThat(
            wrong(
                expected,
                SanitisedBuild.run(schedule, chains.values, folder.resolve("out"), transfers)))
        .as("C")
        .isEmpty();
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource({"1, 262144, early", "2, 262144, late", "3, 40000, early", "6, 1500, early"})
  void otherRandomChains(long seed, long l1, String transfers) throws IOException {
    randomChains(seed, l1, transfers);
  }

  private static List<String> wrong(Map<String, Tensor> expected, Map<String, Tensor> found) {
    List<String> wrong = new ArrayList<>();
    expected.forEach(
        (name, value) -> {
          if (value.bytes().mismatch(found.get(name).bytes()) >= 0) {
            wrong.add(name);
          }
        });
    return wrong;
  }
}
