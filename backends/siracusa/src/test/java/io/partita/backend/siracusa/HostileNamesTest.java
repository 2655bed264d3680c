package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Structured;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Tests names from untrusted files. */
@ExtendWith(WithCompiler.class)
class HostileNamesTest {
  private static final List<String> NAMES =
      List.of(
          "",
          "x",
          "x_",
          "x.2",
          "x/2",
          "x_2",
          "int",
          "main",
          "streams",
          "END_STEP(0)",
          "1",
          "*/ #error /*",
          "/*/",
          "*",
          "//",
          "a\nb",
          "a\r\n#error",
          "back\\",
          "two\\\\",
          "\"",
          "\\\"",
          "\\x41",
          "??/",
          "??)??'",
          "what\u65e5\u672c/",
          "%s%n$(shell false)#",
          "`|<b>|`",
          "\u00e9",
          "\u65e5\u672c",
          "\ud83d\ude00",
          "\0end",
          "a/" + "very/".repeat(60) + "long/name",
          "a/" + "very/".repeat(60) + "long/other");

  @TempDir private Path folder;

  private static Tensor filled(int seed, long... extents) {
    float[] data =
        new float[Math.toIntExact(TensorType.of(ElementType.F32, extents).shape().elements())];
    for (int i = 0; i < data.length; i++) {
      data[i] = (seed * 7 + i * 5) % 11 / 4.0f - 1;
    }
    return Tensor.of(TensorType.of(ElementType.F32, extents), data);
  }

  /**
   * Returns a feed-forward network of two layers whose inputs, nodes, weights and outputs have the
   * names.
   */
  private static Graph networks() {
    GraphBuilder builder = new GraphBuilder("??/ */ \"\n#error \\");
    for (int i = 0; i < NAMES.size(); i++) {
      String name = NAMES.get(i);
      Value x = builder.input(name, TensorType.of(ElementType.F32, 2, 4));
      builder.at(name);
      Structured.Linear linear = new Structured.Linear(false, false);
      Value hidden = builder.add(linear, x, builder.constant(filled(i, 4, 8)));
      Value positive = builder.add(new Elementwise.Unary(UnaryFunction.RELU), hidden);
      Value y = builder.add(linear, positive, builder.constant(filled(i + 3, 8, 4)));
      builder.output(name, y);
    }
    return builder.finish();
  }

  private static final Schedule SCHEDULE = schedule();

  private static Schedule schedule() {
    Module module = new ShardPass(Strategy.parse("tensor=2")).run(new Module(networks()));
    return Scheduler.schedule(
        Localization.of(module, 1),
        TargetLibrary.find("siracusa:chips=2"),
        SchedulerOptions.STANDARD);
  }

  @Test
  void hostileNamesGiveCWithoutWarnings() throws IOException, InterruptedException {
    OutputFolder.write(ProgramPrinter.emit(SCHEDULE, 8).files(), folder, path -> false);
    Process make =
        new ProcessBuilder(
                "make",
                "-s",
                "FLAGS=-O0 -Wtrigraphs",
                "build/host/role_0.o",
                "build/host/chip0_messages.o")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    assertThat(new String(make.getInputStream().readAllBytes(), StandardCharsets.UTF_8)).isEmpty();
    assertThat(make.waitFor()).isZero();
  }

  @Test
  void longNamesLoseTheirBeginning() throws IOException {
    String role = text("role_0.c");
    assertThat(role.lines().filter(line -> line.matches("#define l[12]_.*")))
        .isNotEmpty()
        .allMatch(line -> line.matches("#define l[12]_\\w{1,110} .*"))
        .anyMatch(line -> line.contains("very_long_name "))
        .anyMatch(line -> line.contains("#define l1_unnamed "))
        .doesNotHaveDuplicates();
    assertThat(role).contains("{.name = \"\\303\\251\", ");
    assertThat(text("README.md")).contains("| `'/<b>/'` | `f32[2,4]` | 32 |");
  }

  private static String text(String path) throws IOException {
    for (EmittedFile file : ProgramPrinter.emit(SCHEDULE, 8).files()) {
      if (file.path().equals(path)) {
        return file.text();
      }
    }
    throw new AssertionError("no " + path);
  }

  @Test
  @Tag("thorough")
  void hostileNamesDontChangeOutputs() throws IOException {
    List<Tensor> inputs = new ArrayList<>();
    Map<String, Tensor> named = new LinkedHashMap<>();
    for (int i = 0; i < NAMES.size(); i++) {
      inputs.add(filled(i, 2, 4));
      named.put(NAMES.get(i), inputs.getLast());
    }
    Map<String, Tensor> outputs = SanitisedBuild.run(SCHEDULE, named, folder, "late");
    assertThat(outputs.keySet()).containsExactlyElementsOf(NAMES);
    assertThat(new ArrayList<>(outputs.values())).isEqualTo(Evaluator.run(networks(), inputs));
  }
}
