package io.partita.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.Combine;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.message.Action;
import io.partita.ir.message.Actions;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.collective.Collective;
import io.partita.passes.program.collective.CollectiveKind;
import io.partita.passes.program.collective.LockStep;
import io.partita.passes.program.collective.Schedule;
import io.partita.passes.program.collective.Schedules;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that collectives between chips as processes, ranks and simulated chips have the bits of the
 * reference, which runs devices in lock step.
 */
@ExtendWith(WithCompiler.class)
class ExchangeTest {
  /** In the order of the tables of kernels in {@code exchange_device.c}. */
  private static final List<Combine> COMBINATIONS =
      List.of(Combine.REPLACE, Combine.ADD, Combine.MAX, Combine.MIN);

  /** Each algorithm has six kinds, so every fifth case is another kind. */
  private static final int SAMPLED = 5;

  private final Samples samples = new Samples(10);

  @TempDir private Path folder;

  private static Stream<Arguments> allCollectives() {
    List<CollectiveKind> kinds = List.of(CollectiveKind.values());
    return Stream.of(
            new Algorithm.Tree(4),
            new Algorithm.Tree(2, 5),
            new Algorithm.Hierarchical(2),
            new Algorithm.Ring(),
            new Algorithm.Direct())
        .flatMap(
            algorithm ->
                IntStream.range(0, kinds.size())
                    .mapToObj(i -> Arguments.of(kinds.get(i), algorithm, i % 2 == 0 ? 3 : 6)));
  }

  /** Each kind, and each algorithm. */
  static Stream<Arguments> collectives() {
    return chosen(number -> number % SAMPLED == 0);
  }

  static Stream<Arguments> otherCollectives() {
    return chosen(number -> number % SAMPLED != 0);
  }

  private static Stream<Arguments> chosen(IntPredicate which) {
    List<Arguments> all = allCollectives().toList();
    return IntStream.range(0, all.size()).filter(which).mapToObj(all::get);
  }

  @ParameterizedTest(name = "{0} by {1} on {2}")
  @MethodSource("collectives")
  void exchanges(CollectiveKind kind, Algorithm algorithm, int devices, CCompiler compiler) {
    List<Path> sources = new ArrayList<>(CCompiler.port("emulated", "host", "posix"));
    sources.addAll(sources());
    Path program =
        compiler.executable("exchange-device", CCompiler.Build.SANITISED, sources, "-lpthread");
    for (ElementType element : List.of(ElementType.F32, ElementType.BF16, ElementType.I8)) {
      Run run = prepare(schedule(kind, algorithm, devices, element));
      List<byte[]> replies = new Chips(program, folder).run(run.requests);
      run.verify(replies.stream().map(ByteBuffer::wrap).toList());
    }
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} by {1} on {2}")
  @MethodSource("otherCollectives")
  void otherExchanges(CollectiveKind kind, Algorithm algorithm, int devices, CCompiler compiler) {
    exchanges(kind, algorithm, devices, compiler);
  }

  @ParameterizedTest(name = "on {0} ranks")
  @ValueSource(ints = 2)
  @ExtendWith(WithMpi.class)
  void exchangesOverRanks(int ranks, Mpi mpi) {
    Path program = mpi.executable("exchange-device", sources());
    exchangeAll(ranks, inputs -> mpi.run(program, folder, inputs));
  }

  @Tag("thorough")
  @ParameterizedTest(name = "on {0} ranks")
  @ValueSource(ints = 8)
  @ExtendWith(WithMpi.class)
  void exchangesOverEightRanks(int ranks, Mpi mpi) {
    exchangesOverRanks(ranks, mpi);
  }

  @ParameterizedTest(name = "on {0} chips")
  @ValueSource(ints = {2, 3, 4, 8})
  @ExtendWith(WithGvsoc.class)
  void exchangesOverSimulatedLinks(int chips, Gvsoc gvsoc) {
    Path program = gvsoc.executable("exchange-device", CCompiler.Build.SIRACUSA, sources());
    exchangeAll(chips, inputs -> gvsoc.run(program, folder, inputs).outputs());
  }

  /** Runs all collectives in sequence on devices. */
  private void exchangeAll(int devices, UnaryOperator<List<byte[]>> machine) {
    List<Run> runs =
        collectives()
            .map(
                arguments ->
                    schedule(
                        (CollectiveKind) arguments.get()[0],
                        (Algorithm) arguments.get()[1],
                        devices,
                        samples.one(ElementType.F32, ElementType.BF16, ElementType.I8)))
            .map(this::prepare)
            .toList();
    List<byte[]> inputs = new ArrayList<>();
    for (int device = 0; device < devices; device++) {
      ByteArrayOutputStream input = new ByteArrayOutputStream();
      for (Run run : runs) {
        input.writeBytes(run.requests.get(device));
      }
      inputs.add(input.toByteArray());
    }
    List<ByteBuffer> left = machine.apply(inputs).stream().map(ByteBuffer::wrap).toList();
    for (Run run : runs) {
      run.verify(left);
    }
    assertThat(left).noneMatch(ByteBuffer::hasRemaining);
  }

  private static List<Path> sources() {
    List<Path> sources = new ArrayList<>(CCompiler.sources("collectives"));
    // The joins of floats are the only part of the kernels that exchanges use.
    for (String each :
        List.of(
            "kernels/float_functions.c",
            "kernels/double_functions.c",
            "tiles/box.c",
            "tiles/preload.c",
            "src/test/c/exchange_device.c")) {
      sources.add(CCompiler.MODULE.resolve(each));
    }
    return sources;
  }

  private Schedule schedule(
      CollectiveKind kind, Algorithm algorithm, int devices, ElementType element) {
    // Batches of long messages are shorter, as they would need much room.
    int elements =
        samples.one(samples.from(1, 300), samples.from(1, 300), samples.from(2000, 4000));
    Combine combine =
        kind.reduces()
            ? samples.one(Combine.ADD, Combine.ADD, Combine.MAX, Combine.MIN)
            : Combine.REPLACE;
    Collective even = Collective.of(kind, devices, elements, element);
    return Schedules.of(
        new Collective(kind, devices, even.root(), even.parts(), element, combine), algorithm, 1);
  }

  /** A collective, the steps of each device, and the results of the reference. */
  private record Run(Collective collective, List<byte[]> requests, List<Tensor> expected) {
    /** Parses the outputs of each device. */
    void verify(List<ByteBuffer> written) {
      for (int device = 0; device < collective.devices(); device++) {
        TensorType type = expected.get(device).type();
        byte[] bytes = new byte[Math.toIntExact(type.bytes())];
        written.get(device).get(bytes);
        Tensor found = Tensor.of(type, MemorySegment.ofArray(bytes));
        Same.verify(collective + ", device " + device, found, expected.get(device));
      }
    }
  }

  private Run prepare(Schedule schedule) {
    Collective collective = schedule.collective();
    List<Tensor> operands = new ArrayList<>();
    List<byte[]> requests = new ArrayList<>();
    for (int device = 0; device < collective.devices(); device++) {
      Shape shape = Shape.of(Slice.elements(collective.before(device)));
      operands.add(
          collective.element().isFloat()
              ? OpEvaluator.evaluate(
                      new Elementwise.Cast(collective.element()), List.of(samples.floats(shape, 9)))
                  .getFirst()
              : samples.integers(collective.element(), shape));
      requests.add(request(schedule, device, operands.get(device)));
    }
    return new Run(collective, requests, LockStep.run(schedule, 1, operands));
  }

  /** Writes the format of {@code exchange_device.c}. */
  private byte[] request(Schedule schedule, int device, Tensor operand) {
    Collective collective = schedule.collective();
    int elementBytes = collective.element().bits() / 8;
    List<Integer> numbers = new ArrayList<>();
    numbers.add((int) collective.elements());
    numbers.add(elementBytes);
    // From four elements, for the smallest tiles, to all at once.
    numbers.add(samples.one(4 * elementBytes, 48, 4096));
    // None, less than an exchange begins with, and more.
    numbers.add(samples.one(0, 1000, Actions.PRELOADED, Actions.PRELOADED + 5004));
    add(numbers, collective.before(device));
    add(numbers, collective.after(device));
    Actions actions = Actions.of(schedule.steps().get(device));
    numbers.add(actions.list().size());
    numbers.add(actions.copying());
    numbers.add(actions.beginning());
    int keeping = actions.keeping(collective.before(device));
    numbers.add(keeping);
    for (int i = 0; i < actions.list().size(); i++) {
      add(numbers, actions.list().get(i), i < keeping ? collective.before(device) : List.of());
    }
    byte[] data = operand.bytes().toArray(ValueLayout.JAVA_BYTE);
    ByteBuffer request =
        ByteBuffer.allocate(4 * numbers.size() + data.length).order(ByteOrder.LITTLE_ENDIAN);
    numbers.forEach(request::putInt);
    return request.put(data).array();
  }

  /**
   * @param operand the elements of the operand, if messages of these are sent from there
   */
  private static void add(List<Integer> numbers, Action action, List<Slice> operand) {
    Step step = action.message();
    // In the order of partita_action_kind.
    numbers.add(
        switch (action) {
          case Action.Send send -> 0;
          case Action.Post post -> 1;
          case Action.Load load -> 2;
          case Action.Finish finish -> 3;
        });
    numbers.add(action.ended());
    numbers.add(step.peer());
    numbers.add(step instanceof Step.Receive receive ? COMBINATIONS.indexOf(receive.combine()) : 0);
    numbers.add(action instanceof Action.Joining joining ? joining.messages().size() : 1);
    addPlace(numbers, action, operand);
    add(numbers, step.slices());
  }

  /** In the order of partita_place: in elements, or bytes of the buffers. */
  private static void addPlace(List<Integer> numbers, Action action, List<Slice> operand) {
    Step step = action.message();
    if (!step.isInPlace()) {
      numbers.add(1);
      numbers.add((int) action.place());
    } else if (action instanceof Action.Send && !operand.isEmpty()) {
      numbers.add(2);
      numbers.add((int) Slice.offset(step.slices().getFirst(), operand));
    } else {
      numbers.add(0);
      numbers.add((int) step.slices().getFirst().start());
    }
  }

  private static void add(List<Integer> numbers, List<Slice> slices) {
    numbers.add(slices.size());
    for (Slice slice : slices) {
      numbers.add((int) slice.start());
      numbers.add((int) slice.size());
    }
  }
}
