package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.backend.emitted.DescriptionFields;
import io.partita.backend.emitted.run.Build;
import io.partita.driver.OutputFile;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests C programs from the command line. */
@Timeout(300)
class ChipCommandsTest {
  @TempDir Path scratch;

  private Path compiled(int chips) {
    Path folder = scratch.resolve("c" + chips);
    Invocation compile =
        Invocation.of(
            "compile", Invocation.DECODER, "--target=siracusa", "--devices", chips, "-o", folder);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    assertThat(compile.out())
        .contains("role_0.c", "C for " + chips + " chip" + (chips == 1 ? "" : "s"));
    return folder;
  }

  private static String text(Path folder, Object... options) {
    List<Object> arguments = new ArrayList<>(List.of("generate", folder, "--prompt=ROMEO:"));
    arguments.addAll(List.of("--vocab", Invocation.SHAKESPEARE.resolve("vocab.json")));
    arguments.add("--tokens=20");
    arguments.addAll(List.of(options));
    Invocation generate = Invocation.of(arguments.toArray());
    assertThat(generate.exitCode()).as(generate.err()).isEqualTo(ExitCode.DONE);
    return generate.out();
  }

  private static void requireCompiler() {
    if (Build.find("gcc").isEmpty() || Build.find("make").isEmpty()) {
      System.err.println("NO C COMPILER: emitted C is NOT TESTED; apt-get install gcc make");
    }
    assumeThat(Build.find("gcc")).isPresent();
    assumeThat(Build.find("make")).isPresent();
  }

  private String textOfJava() {
    Path java = scratch.resolve("java");
    Invocation compile = Invocation.of("compile", Invocation.DECODER, "--target=java", "-o", java);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    return text(java);
  }

  @Test
  void generatesLikeJava() {
    requireCompiler();
    assertThat(text(compiled(2))).isEqualTo(textOfJava());
  }

  @Tag("thorough")
  @Test
  void generatesOnQemuLikeJava() {
    for (String program : List.of("riscv64-unknown-elf-gcc", "qemu-system-riscv32")) {
      if (Build.find(program).isEmpty()) {
        System.err.println("NO " + program + ": 'partita generate --on qemu' is NOT TESTED");
      }
      assumeThat(Build.find(program)).isPresent();
    }
    assertThat(text(compiled(1), "--on=qemu")).isEqualTo(textOfJava());
  }

  /** Tests that the bytes of each step are as predicted; times on the host aren't. */
  @Tag("thorough")
  @Test
  void printsTheMeasurementBesideThePrediction() throws IOException {
    requireCompiler();
    Path folder = compiled(2);
    Path inputs = token();
    Path outputs = scratch.resolve("out.npz");
    Invocation run =
        Invocation.of("run", folder, "--inputs", inputs, "-o", outputs, "--profile", "--json");
    assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
    DescriptionFields report = new DescriptionFields(JSON.std.mapFrom(run.out()));
    assertThat(report.text("clock")).isEqualTo("nanoseconds");
    assertThat(report.object("measured").names()).containsExactly("cycles");
    assertThat(report.object("predicted").real("joules")).isPositive();
    List<DescriptionFields> chips = report.objects("chips");
    assertThat(chips).hasSize(2);
    for (DescriptionFields chip : chips) {
      List<DescriptionFields> steps = chip.objects("steps");
      assertThat(steps).hasSizeGreaterThan(40);
      assertThat(steps)
          .filteredOn(step -> step.has("role") && step.text("role").equals("gate"))
          .extracting(step -> step.extent("block"))
          .contains(0L, 3L);
      long sum = 0;
      for (DescriptionFields step : steps) {
        assertThat(bytes(step.object("measured")))
            .as(step.text("node"))
            .isEqualTo(bytes(step.object("predicted")));
        sum += step.object("measured").extent("cycles");
      }
      assertThat(chip.object("measured").extent("cycles")).isEqualTo(sum).isPositive();
      assertThat(bytes(chip.object("measured"))).isEqualTo(bytes(chip.object("predicted")));
      assertThat(chip.object("measured").extent("sent")).isPositive();
    }
    Invocation page = Invocation.of("run", folder, "--inputs", inputs, "-o", outputs, "--profile");
    assertThat(page.out())
        .contains("logits: f32[1,1,65]", "bytes between L2 and L1", "energy of all chips")
        .containsPattern("slowest steps of chip [01]")
        .containsPattern(
            "[0-9,]+ +[0-9.]+% +[0-9,]+  (loop \\w+|exchange): /\\S+ @block[0-3]\\.[a-z]+");
  }

  /** Returns the inputs of the last step that fits the cache. */
  private Path token() {
    Path inputs = scratch.resolve("in.npz");
    Map<String, Tensor> token = new LinkedHashMap<>();
    token.put("input_ids", Tensor.ofLongs(TensorType.of(ElementType.I64, 1, 1), new long[] {3}));
    token.put("position", Tensor.ofLongs(TensorType.of(ElementType.I64, 1), new long[] {255}));
    OutputFile.write(inputs, out -> Npz.write(token, out));
    return inputs;
  }

  private static List<Long> bytes(DescriptionFields figures) {
    return Stream.of("l2_l1", "l3_l2", "sent", "received").map(figures::extent).toList();
  }

  @Test
  void reportsAMissingPrediction() throws IOException {
    Path folder = compiled(1);
    Files.writeString(folder.resolve("prediction.json"), "{\"format\":\"another\"}");
    Invocation run =
        Invocation.of(
            "run",
            folder,
            "--inputs",
            token(),
            "-o",
            scratch.resolve("out.npz"),
            "--allow-changes",
            "--json");
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err()).contains("P5032", "P5107", "prediction.json", "another format");
  }

  @Test
  void reportsConflictingOptions() {
    Path folder = compiled(2);
    Path inputs = Invocation.SHAKESPEARE.resolve("greedy.npz");
    Path outputs = scratch.resolve("out.npz");
    Invocation gvsoc =
        Invocation.of("run", folder, "--on=gvsoc", "--inputs", inputs, "-o", outputs);
    assertThat(gvsoc.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(gvsoc.err()).contains("--on gvsoc and --gvsoc PATH go together");
    Invocation tooMany =
        Invocation.of(
            "compile",
            Invocation.DECODER,
            "--target=siracusa:chips=2",
            "--devices=4",
            "-o",
            scratch.resolve("none"));
    assertThat(tooMany.err()).contains("P6017", "at most 2 devices, the number in the target");
    assertThat(Files.exists(scratch.resolve("none"))).isFalse();
  }
}
