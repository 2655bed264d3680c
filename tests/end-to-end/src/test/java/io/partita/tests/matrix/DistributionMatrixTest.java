package io.partita.tests.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.passes.mesh.shard.Strategy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that every model has the same results on several devices as on one: bit-identical for
 * integers, and within the effect of reassociated sums for floats ({@link ReassociationBound}).
 *
 * <p>By default, some models run once, with numbers of devices and strategies in turn; the thorough
 * tests run some others, of the zoo one. {@code -Dmatrix=all} runs all strategies on all numbers of
 * devices (64 only for models with as many heads), and one strategy per number for single
 * structures and models of the zoo, and writes the tables of {@code docs/distribution.md}. Some
 * models also run as emitted Java, more of them in a full run.
 */
class DistributionMatrixTest {
  private static final Path DOCUMENT = Path.of("../../docs/distribution.md");
  private static final boolean ALL = "all".equals(System.getProperty("matrix"));

  /**
   * One in this many models runs by default. {@code ShardedFixtureTest} splits all fixtures over
   * devices and compares them with recordings.
   */
  private static final int MODELS_EACH = 24;

  /** One in this many runs by default, or in the thorough or exhaustive tests. */
  private static final int EXHAUSTIVE_EACH = 4;

  /** One in this many that don't run by default is among the thorough tests. */
  private static final int THOROUGH_EACH = 16;

  /** One in this many models also runs as emitted Java. */
  private static final int JAVA_EACH = ALL ? 4 : 100;

  private static final int MANY = 64;
  private static final MatrixReport REPORT = new MatrixReport();

  @TempDir static Path scratch;

  @TestFactory
  Stream<DynamicTest> devicesTogetherGiveWhatOneGives() {
    return tests(index -> ALL || index % MODELS_EACH == 0);
  }

  @Tag("thorough")
  @TestFactory
  Stream<DynamicTest> devicesOfOtherModelsTogetherGiveWhatOneGives() {
    return tests(index -> isOther(index) && index % THOROUGH_EACH == 0);
  }

  @Tag("exhaustive")
  @TestFactory
  Stream<DynamicTest> devicesOfMoreModelsTogetherGiveWhatOneGives() {
    return tests(index -> isOther(index) && index % THOROUGH_EACH != 0);
  }

  private static boolean isOther(int index) {
    return !ALL && index % MODELS_EACH != 0 && index % EXHAUSTIVE_EACH == 0;
  }

  /** Returns a test of each family for the subjects with some indices. */
  private static Stream<DynamicTest> tests(IntPredicate chosen) {
    Map<String, List<Subject>> families = new LinkedHashMap<>();
    Map<Subject, Integer> order = new LinkedHashMap<>();
    for (Subject subject : subjects()) {
      if (chosen.test(order.size())) {
        families.computeIfAbsent(subject.family(), key -> new ArrayList<>()).add(subject);
      }
      order.put(subject, order.size());
    }
    return families.entrySet().stream()
        .map(
            family ->
                DynamicTest.dynamicTest(
                    family.getKey(), () -> distribute(family.getValue(), order)));
  }

  private static List<Subject> subjects() {
    List<Subject> subjects = new ArrayList<>(Subjects.fixtures());
    subjects.addAll(Subjects.trained());
    subjects.addAll(Subjects.decoders());
    subjects.addAll(Subjects.peers());
    List<Subject> zoo = Subjects.zoo(scratch);
    subjects.addAll(
        ALL
            ? zoo
            : zoo.stream()
                .filter(subject -> subject.name().equals("tinyllama-42m-64h decode"))
                .toList());
    return subjects;
  }

  private static void distribute(List<Subject> subjects, Map<Subject, Integer> order) {
    List<Matrix.Cell> cells = new ArrayList<>();
    for (Subject subject : subjects) {
      int index = order.get(subject);
      Subject.Loaded loaded = subject.load();
      List<Strategy> drawn = List.of(drawn(index, loaded));
      Map<Engine, List<Strategy>> strategies = new EnumMap<>(Engine.class);
      strategies.put(Engine.EVALUATOR, ALL ? everything(subject, index, loaded) : drawn);
      // Emitted Java keeps state and doesn't take it as input.
      if (index % JAVA_EACH == 0 && loaded.module().states().isEmpty()) {
        strategies.put(Engine.JAVA, drawn);
      }
      Matrix.run(subject, loaded, strategies, cells::add);
    }
    cells.forEach(REPORT::add);
    if (ALL) {
      System.out.printf("%s: %d runs%n", subjects.getFirst().family(), cells.size());
    }
    assertThat(cells).noneMatch(cell -> cell.outcome() instanceof Outcome.Fails);
  }

  private static List<Strategy> everything(Subject subject, int index, Subject.Loaded loaded) {
    int size = Matrix.DEVICES.size();
    return subject.isStructure() || subject.family().equals("zoo")
        ? IntStream.range(0, size).mapToObj(i -> drawn(index + i * (size + 1), loaded)).toList()
        : Matrix.DEVICES.stream()
            .filter(devices -> devices < MANY || loaded.heads() >= devices)
            .map(Matrix::strategies)
            .flatMap(Collection::stream)
            .toList();
  }

  /** Cycles through all numbers of devices and all strategies that the model allows. */
  private static Strategy drawn(int index, Subject.Loaded loaded) {
    List<Integer> devices = Matrix.DEVICES;
    List<Strategy> possible =
        Matrix.strategies(devices.get(index % devices.size())).stream()
            .filter(strategy -> NotDistributable.code(loaded, strategy).isEmpty())
            .toList();
    return possible.get(index / devices.size() % possible.size());
  }

  @AfterAll
  static void report() {
    if (ALL) {
      System.out.print(REPORT.table());
    }
    if (ALL && REPORT.failures().isEmpty()) {
      try {
        Files.writeString(DOCUMENT, REPORT.inside(Files.readString(DOCUMENT)));
      } catch (IOException unwritable) {
        throw new UncheckedIOException(unwritable);
      }
    }
  }
}
