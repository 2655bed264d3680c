package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.function.Combine;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.passes.program.collective.Collective;
import io.partita.passes.program.collective.CollectiveKind;
import io.partita.passes.program.collective.Schedule;
import io.partita.passes.program.collective.Schedules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares emitted programs for several devices with the reference, bit for bit. */
class DevicesTest {
  private static final JavaOptions OPTIONS = new JavaOptions("emitted", "Model");
  private static ProgramCompiler compiler;

  @BeforeAll
  static void open() {
    compiler = ProgramCompiler.forRelease17();
  }

  @AfterAll
  static void close() {
    compiler.close();
  }

  /**
   * Tests each kind of collective with each algorithm, with uneven parts and several element types.
   */
  private static List<Schedule> schedules(int devices) {
    SplittableRandom random = new SplittableRandom(devices);
    ElementType[] elements = ElementType.values();
    List<Schedule> schedules = new ArrayList<>();
    List<Algorithm> algorithms =
        List.of(new Algorithm.Tree(2), new Algorithm.Ring(), new Algorithm.Direct());
    for (CollectiveKind kind : CollectiveKind.values()) {
      for (Algorithm algorithm : algorithms) {
        int count = kind == CollectiveKind.ALL_TO_ALL ? devices * devices : devices;
        List<Long> parts = new ArrayList<>();
        for (int part = 0; part < count; part++) {
          parts.add(random.nextInt(6) == 0 ? 0L : random.nextLong(1, 9));
        }
        // Booleans have no reductions, so they are used in other collectives.
        ElementType element = elements[(schedules.size() + 3) % elements.length];
        boolean rooted = kind == CollectiveKind.BROADCAST || kind == CollectiveKind.REDUCE;
        Combine[] reductions = {Combine.ADD, Combine.MAX, Combine.MIN};
        int reduction = schedules.size() / 2 % 3;
        Collective collective =
            new Collective(
                kind,
                devices,
                rooted ? devices - 1 : 0,
                parts,
                element,
                kind.reduces() ? reductions[reduction] : Combine.REPLACE);
        schedules.add(Schedules.of(collective, algorithm, 1));
      }
    }
    return schedules;
  }

  private static Map<String, Tensor> inputs(Program program) {
    Random random = new Random(1);
    Map<String, Tensor> inputs = new HashMap<>();
    program
        .inputs()
        .forEach((name, type) -> inputs.put(name, EmittedPrograms.random(random, type.type())));
    return inputs;
  }

  private static void assertSame(Program program, ProgramRunner runner, int runs) {
    ProgramEvaluator evaluator = new ProgramEvaluator(program, 1);
    for (int run = 0; run < runs; run++) {
      Map<String, Tensor> inputs = inputs(program);
      SortedMap<String, Tensor> expected = evaluator.run(inputs);
      List<Tensor> found =
          runner.run(
              runner.description().whole().inputs().stream()
                  .map(port -> inputs.get(port.name()))
                  .toList());
      for (int i = 0; i < found.size(); i++) {
        String name = runner.description().whole().outputs().get(i).name();
        assertThat(found.get(i)).as(name).isEqualTo(expected.get(name));
      }
      assertThat(found).hasSameSizeAs(expected.keySet());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 6})
  void allCollectivesAsThreads(int devices) {
    Program program = HandMadePrograms.of(schedules(devices));
    try (ProgramRunner runner = ProgramRunner.load(compiler, JavaBackend.emit(program, OPTIONS))) {
      assertSame(program, runner, 2);
    }
  }

  /** The JVM limits the code of a method, and so the tables that one method makes. */
  @Test
  void thousandDevicesHaveTheirTables() {
    int devices = 1_000;
    Collective sum =
        new Collective(
            CollectiveKind.ALL_REDUCE,
            devices,
            0,
            Collections.nCopies(devices, 1L),
            ElementType.F32,
            Combine.ADD);
    Program program = HandMadePrograms.of(List.of(Schedules.of(sum, new Algorithm.Tree(4), 1)));
    try (ProgramRunner runner = ProgramRunner.load(compiler, JavaBackend.emit(program, OPTIONS))) {
      assertSame(program, runner, 1);
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = 8)
  void allCollectivesAsMoreThreads(int devices) {
    allCollectivesAsThreads(devices);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @ValueSource(ints = 4)
  void allCollectivesAsManyThreads(int devices) {
    allCollectivesAsMoreThreads(devices);
  }

  @Tag("thorough")
  @Test
  @Timeout(120)
  void allCollectivesAsProcesses() {
    Program program = HandMadePrograms.of(schedules(3));
    try (ProgramRunner runner =
        ProgramRunner.load(
            compiler, JavaBackend.emit(program, OPTIONS), new DeviceHosting.Processes())) {
      assertSame(program, runner, 3);
    }
  }

  @Test
  void deadlocksAreReportedAtOnce() {
    EmittedJava program = JavaBackend.emit(HandMadePrograms.deadlock(), OPTIONS);
    try (ProgramRunner runner = ProgramRunner.load(compiler, program)) {
      assertStalls(runner);
    }
  }

  @Tag("thorough")
  @Test
  @Timeout(60)
  void deadlocksOfProcessesAreReportedWithinSeconds() {
    EmittedJava program = JavaBackend.emit(HandMadePrograms.deadlock(), OPTIONS);
    try (ProgramRunner runner =
        ProgramRunner.load(compiler, program, new DeviceHosting.Processes())) {
      assertStalls(runner);
    }
  }

  private static void assertStalls(ProgramRunner runner) {
    Tensor x = inputs(HandMadePrograms.deadlock()).get("x");
    assertThatThrownBy(() -> runner.run(List.of(x)))
        .isInstanceOf(PartitaException.class)
        .hasMessage(
            """
            error P5014: the devices wait for each other
              expected:  a device that can continue
              found:     device 0 receives from 1 in sync 7; device 1 receives from 0 in sync 7
              fix:       compile the model again; if it still fails, report a bug in Partita""");
  }

  @Tag("thorough")
  @Test
  @Timeout(60)
  void killedProcessesAreReportedWithinSeconds() throws InterruptedException {
    Program program = HandMadePrograms.of(schedules(3));
    try (ProgramRunner runner =
        ProgramRunner.load(
            compiler, JavaBackend.emit(program, OPTIONS), new DeviceHosting.Processes())) {
      assertSame(program, runner, 1);
      runner.processes().getLast().destroyForcibly().waitFor();
      assertThatThrownBy(() -> assertSame(program, runner, 1))
          .isInstanceOf(PartitaException.class)
          .hasMessageContaining("P5012")
          .hasMessageContaining("device 2");
      assertThat(runner.processes().getFirst().waitFor(20, java.util.concurrent.TimeUnit.SECONDS))
          .isTrue();
    }
  }

  @Test
  void emissionIsDeterministic() throws java.io.IOException {
    List<EmittedFile> first = JavaBackend.emit(HandMadePrograms.of(schedules(4)), OPTIONS).files();
    List<EmittedFile> second = JavaBackend.emit(HandMadePrograms.of(schedules(4)), OPTIONS).files();
    for (int i = 0; i < first.size(); i++) {
      assertThat(second.get(i).path()).isEqualTo(first.get(i).path());
      assertThat(second.get(i).text()).isEqualTo(first.get(i).text());
    }
  }
}
