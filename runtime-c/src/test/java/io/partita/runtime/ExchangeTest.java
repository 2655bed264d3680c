package io.partita.runtime;

import io.partita.ir.mesh.Algorithm;
import io.partita.ir.program.Combine;
import io.partita.ir.program.Slice;
import io.partita.ir.program.Step;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.collective.Collective;
import io.partita.passes.collective.CollectiveKind;
import io.partita.passes.collective.LockStep;
import io.partita.passes.collective.Schedule;
import io.partita.passes.collective.Schedules;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Collectives between processes give the bits of the reference, which runs devices in lock step.
 */
@ExtendWith(WithCompiler.class)
class ExchangeTest {
  private final Samples samples = new Samples(10);

  @TempDir private Path folder;

  static Stream<Arguments> collectives() {
    return Stream.of(new Algorithm.Tree(4), new Algorithm.Ring(), new Algorithm.Direct())
        .flatMap(
            algorithm ->
                Stream.of(CollectiveKind.values())
                    .map(kind -> Arguments.of(kind, algorithm, kind.ordinal() % 2 == 0 ? 3 : 6)));
  }

  @ParameterizedTest(name = "{0} by {1} on {2}")
  @MethodSource("collectives")
  void exchanges(CollectiveKind kind, Algorithm algorithm, int devices, CCompiler compiler) {
    for (ElementType element : List.of(ElementType.F32, ElementType.I8)) {
      int elements = samples.from(1, 300);
      Combine combine =
          kind.reduces()
              ? samples.one(Combine.ADD, Combine.ADD, Combine.MAXIMUM, Combine.MINIMUM)
              : Combine.REPLACE;
      Collective even = Collective.of(kind, devices, elements, element);
      Collective collective =
          new Collective(kind, devices, even.root(), even.parts(), element, combine);
      verify(Schedules.of(collective, algorithm, 1), compiler);
    }
  }

  private void verify(Schedule schedule, CCompiler compiler) {
    Collective collective = schedule.collective();
    List<Tensor> operands = new ArrayList<>();
    List<byte[]> requests = new ArrayList<>();
    for (int device = 0; device < collective.devices(); device++) {
      Shape shape = Shape.of(collective.before(device).stream().mapToLong(Slice::size).sum());
      operands.add(
          collective.element().isFloat()
              ? samples.floats(shape, 9)
              : samples.integers(collective.element(), shape));
      requests.add(request(schedule, device, operands.get(device)));
    }
    List<byte[]> replies = new Chips(program(compiler), folder).run(requests);
    List<Tensor> expected = LockStep.run(schedule, 1, operands);
    for (int device = 0; device < collective.devices(); device++) {
      TensorType type = expected.get(device).type();
      Tensor found = Tensor.of(type, MemorySegment.ofArray(replies.get(device)));
      Same.verify(collective + ", device " + device, found, expected.get(device));
    }
  }

  private static Path program(CCompiler compiler) {
    List<Path> sources =
        new ArrayList<>(CCompiler.sources("kernels", "collectives", "ports/posix"));
    sources.add(CCompiler.MODULE.resolve("src/test/c/exchange_device.c"));
    return compiler.executable("exchange-device", CCompiler.Build.SANITISED, sources, "-lpthread");
  }

  /** As {@code exchange_device.c} reads it. */
  private byte[] request(Schedule schedule, int device, Tensor operand) {
    Collective collective = schedule.collective();
    int elementBytes = collective.element().bits() / 8;
    List<Integer> numbers = new ArrayList<>();
    numbers.add((int) collective.elements());
    numbers.add(elementBytes);
    // From two elements, so that tiles are as small as can be, to all at once.
    numbers.add(samples.one(2 * elementBytes, 24, 4096));
    add(numbers, collective.before(device));
    add(numbers, collective.after(device));
    numbers.add(schedule.steps().get(device).size());
    for (Step step : schedule.steps().get(device)) {
      numbers.add(step instanceof Step.Send ? 1 : 0);
      numbers.add(step.peer());
      numbers.add(
          switch (step) {
            case Step.Send send -> 0;
            case Step.Receive receive -> receive.combine().ordinal();
          });
      add(numbers, step.slices());
    }
    byte[] data = operand.bytes().toArray(ValueLayout.JAVA_BYTE);
    ByteBuffer request =
        ByteBuffer.allocate(4 * numbers.size() + data.length).order(ByteOrder.LITTLE_ENDIAN);
    numbers.forEach(request::putInt);
    return request.put(data).array();
  }

  private static void add(List<Integer> numbers, List<Slice> slices) {
    numbers.add(slices.size());
    for (Slice slice : slices) {
      numbers.add((int) slice.start());
      numbers.add((int) slice.size());
    }
  }
}
