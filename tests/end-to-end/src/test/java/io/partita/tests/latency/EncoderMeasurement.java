package io.partita.tests.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.program.Program;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.target.TargetPrinter;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.passes.planning.cost.PlanOptions;
import io.partita.passes.planning.cost.Plans;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures emitted C of the encoder on 4 devices of this host, and writes a table with the
 * timeline's predictions. {@code tests/benchmarks/astra measure} runs it.
 */
@EnabledIfSystemProperty(named = EncoderMeasurement.FOLDER, matches = ".+")
final class EncoderMeasurement {
  /** The property that names the folder for programs and what was measured. */
  static final String FOLDER = "astra.folder";

  private static final int DEVICES = 4;
  private static final int TOKENS = 256;
  private static final int FEATURES = 768;
  private static final List<Integer> MEGABITS = List.of(10, 100, 500);
  private static final List<LatencyMethod> METHODS =
      List.of(
          LatencyMethod.TENSOR,
          LatencyMethod.SEQUENCE,
          LatencyMethod.VECTOR_1,
          LatencyMethod.VECTOR_32);

  /** Of outputs that a norm scales to a deviation of 1. */
  private static final float TOLERANCE = 1e-3f;

  @TempDir private Path model;
  private final Path folder = Path.of(System.getProperty(FOLDER, ""));
  private final Tensor input = input();

  /** What was measured, in seconds by bandwidth, and its program. */
  private record Measured(LatencyMethod method, Program program, Map<Integer, Double> seconds) {}

  @Test
  void measure() throws IOException {
    EncoderLatency latency = new EncoderLatency(model);
    Program whole = latency.program(TOKENS);
    MeasuredEncoder one = encoder("one", whole);
    double alone = one.seconds(input, MEGABITS.getFirst());
    double gigahertz = seconds(whole, host(1, MEGABITS.getFirst(), 1)) / alone;
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "One device takes %.2f s, as one of wifi-laptops at %.1f MHz would.",
            alone,
            1e3 * gigahertz));
    lines.add("");
    List<Measured> measured = new ArrayList<>();
    for (LatencyMethod method : METHODS) {
      measured.add(measured(method, latency.program(method, DEVICES, TOKENS), one.output()));
    }
    Map<Integer, Double> vector = measured.get(METHODS.indexOf(LatencyMethod.VECTOR_1)).seconds();
    lines.add("| method | Mbps | measured, s | timeline, s | difference | times ASTRA, G=1 |");
    lines.add("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (Measured each : measured) {
      for (int megabits : MEGABITS) {
        double found = each.seconds().get(megabits);
        double predicted = seconds(each.program(), host(DEVICES, megabits, gigahertz));
        lines.add(
            String.format(
                Locale.ROOT,
                "| %s | %d | %.2f | %.2f | %+.1f %% | %.2f |",
                each.method().text(),
                megabits,
                found,
                predicted,
                100 * (found / predicted - 1),
                found / vector.get(megabits)));
      }
    }
    Files.write(folder.resolve("table.md"), lines);
  }

  private Measured measured(LatencyMethod method, Program program, float[] exact)
      throws IOException {
    MeasuredEncoder encoder = encoder(method.name().toLowerCase(Locale.ROOT), program);
    Map<Integer, Double> seconds = new TreeMap<>();
    for (int megabits : MEGABITS) {
      seconds.put(megabits, encoder.seconds(input, megabits));
    }
    if (method.groups() == 0) {
      assertThat(encoder.output()).as(method.text()).containsExactly(exact, within(TOLERANCE));
    }
    return new Measured(method, program, seconds);
  }

  private MeasuredEncoder encoder(String name, Program program) throws IOException {
    return new MeasuredEncoder(program, folder.resolve(name), folder.resolve("kernels"));
  }

  /** The target {@code wifi-laptops} with another clock, which all rates depend on. */
  private TargetDescription host(int devices, int megabits, double gigahertz) throws IOException {
    Path file = folder.resolve("host.target");
    Files.writeString(
        file,
        TargetPrinter.print(TargetLibrary.find(EncoderLatency.LAPTOPS))
            .replace("clock = 1590 MHz", "clock = " + gigahertz + " GHz"));
    return EncoderLatency.target(file.toString(), devices, megabits);
  }

  private static double seconds(Program program, TargetDescription target) {
    return Plans.report(program, target, PlanOptions.DEFAULT).seconds();
  }

  private static Tensor input() {
    SplittableRandom random = new SplittableRandom(1);
    float[] features = new float[TOKENS * FEATURES];
    for (int i = 0; i < features.length; i++) {
      features[i] = 2 * random.nextFloat() - 1;
    }
    return Tensor.floats(Shape.of(1, TOKENS, FEATURES), features);
  }
}
