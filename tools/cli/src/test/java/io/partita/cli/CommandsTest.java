package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests each command on the bundled model: outputs, files and exit codes. */
final class CommandsTest {
  private static final Path DECODER = Invocation.DECODER;

  @TempDir Path scratch;

  private Path compiled(Object... options) {
    Path folder = scratch.resolve("compiled");
    Object[] arguments =
        Stream.concat(
                Stream.of("compile", DECODER, "--target", "java", "-o", folder), Stream.of(options))
            .toArray();
    Invocation compile = Invocation.of(arguments);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    return folder;
  }

  private static Map<String, List<Byte>> contents(Path folder) throws IOException {
    Map<String, List<Byte>> contents = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        byte[] bytes = Files.readAllBytes(file);
        Byte[] boxed = new Byte[bytes.length];
        java.util.Arrays.setAll(boxed, i -> bytes[i]);
        contents.put(file.getFileName().toString(), List.of(boxed));
      }
    }
    return contents;
  }

  @Test
  void compileWritesClassWeightsAndDescription() throws IOException {
    Path folder = scratch.resolve("a/b");
    Invocation compile = Invocation.of("compile", DECODER, "--target", "java", "-o", folder);
    assertThat(compile.exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(compile.out().lines())
        .containsExactly(
            folder.resolve("Model.java").toString(),
            folder.resolve("Model.weights").toString(),
            folder.resolve("model.json").toString(),
            folder.resolve("report.json").toString(),
            folder.resolve("checksums.txt").toString(),
            "class Model: a decoder with step(…) and reset(), and a state of 262,144 bytes");
    assertThat(compile.err()).contains("note P6014").contains("--kv-capacity 256");
    assertThat(contents(folder))
        .containsOnlyKeys(
            "Model.java", "Model.weights", "model.json", "report.json", "checksums.txt");
  }

  @Test
  void compileIsDeterministic() throws IOException {
    Map<String, List<Byte>> first = contents(compiled());
    assertThat(contents(compiled())).isEqualTo(first);
  }

  @Test
  void compileReportsInJson() {
    Invocation compile =
        Invocation.of(
            "compile",
            DECODER,
            "--target=java",
            "--dim=past=8",
            "--json",
            "--class=Decoder",
            "--package=a.b",
            "-o",
            scratch.resolve("x"));
    assertThat(compile.json())
        .containsOnlyKeys("output", "files", "class", "kind", "inputs")
        .containsEntry("kind", "decoder")
        .containsEntry("class", "a.b.Decoder")
        .containsEntry(
            "files",
            List.of(
                "a/b/Decoder.java",
                "Decoder.weights",
                "model.json",
                "report.json",
                "checksums.txt"));
    assertThat(compile.err()).isEmpty();
  }

  @Test
  void failedCompileLeavesNoFiles() throws IOException {
    Path folder = scratch.resolve("none");
    assertThat(
            Invocation.of("compile", DECODER, "--target=java", "-o", folder, "--dim=past=999999999")
                .exitCode())
        .isEqualTo(ExitCode.USER_ERROR);
    assertThat(contents(scratch)).isEmpty();
  }

  @Test
  void compileKeepsFoldersOfOthers() throws IOException {
    Path folder = Files.createDirectory(scratch.resolve("mine"));
    Files.writeString(folder.resolve("thesis.tex"), "…");
    Invocation compile = Invocation.of("compile", DECODER, "--target=java", "-o", folder);
    assertThat(compile.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(compile.err()).contains("error P5003");
    assertThat(contents(folder)).containsOnlyKeys("thesis.tex");
  }

  @Test
  void compileKeepsProgramsForOtherTargets() throws IOException {
    Path folder = scratch.resolve("out");
    Object[] compile = {"compile", DECODER, "--dim=past=8", "--target=siracusa", "-o", folder};
    assertThat(Invocation.of(compile).exitCode()).isEqualTo(ExitCode.DONE);
    String before = Files.readString(folder.resolve("model.json"));
    compile[3] = "--target=java";
    Invocation refused = Invocation.of(compile);
    assertThat(refused.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(refused.err())
        .contains("error P5003", "a program that Partita wrote for another target", "delete this");
    assertThat(folder.resolve("model.json")).hasContent(before);
  }

  @Test
  void cachesNeedACapacity() {
    for (String capacity : List.of("0", "-4")) {
      Invocation compile =
          Invocation.of(
              "compile",
              DECODER,
              "--target=java",
              "-o",
              scratch.resolve("x"),
              "--dim=past=" + capacity);
      assertThat(compile.exitCode()).isEqualTo(ExitCode.USER_ERROR);
      assertThat(compile.err()).contains("error P6008").doesNotContain("internal error");
    }
    assertThat(
            Invocation.of("opt", DECODER, "--passes", "simplify,raise,kv-state(capacity=0)").err())
        .contains("error P4003");
  }

  @Test
  void generateContinuesTheText() {
    Path folder = compiled();
    Path vocabulary = Invocation.SHAKESPEARE.resolve("vocab.json");
    Invocation generate =
        Invocation.of(
            "generate", folder, "--vocab", vocabulary, "--prompt", "ROMEO:", "--tokens", 47);
    assertThat(generate.exitCode()).isEqualTo(ExitCode.DONE);
    // The text that PyTorch gave, as in the model's info.json.
    assertThat(generate.out())
        .isEqualToNormalizingNewlines("ROMEO:\nThe sense the state of the state of the state.\n");
    Invocation json =
        Invocation.of(
            "generate",
            folder,
            "--vocab",
            vocabulary,
            "--prompt",
            "ROMEO:",
            "--tokens",
            4,
            "--json");
    assertThat(json.json())
        .containsOnlyKeys(
            "text",
            "tokens",
            "promptTokens",
            "added",
            "end",
            "firstTokenSeconds",
            "tokensPerSecond")
        .containsEntry("text", "ROMEO:\nThe")
        .containsEntry("added", 4);
  }

  @Test
  void generateReportsAFullCache() {
    Invocation generate =
        Invocation.of(
            "generate",
            compiled("--dim=past=8"),
            "--prompt=ROMEO:",
            "--vocab",
            Invocation.SHAKESPEARE.resolve("vocab.json"));
    assertThat(generate.exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(generate.out()).startsWith("ROMEO:\nTh");
    assertThat(generate.err()).contains("note P6015").contains("all of its 8 positions");
  }

  @Test
  void runWritesOutputsByName() {
    Path prefill = Invocation.SHAKESPEARE.resolve("prefill");
    Path folder = scratch.resolve("prefill");
    Path outputs = scratch.resolve("deep/outputs.npz");
    Invocation compile =
        Invocation.of(
            "compile",
            prefill.resolve("network.onnx"),
            "--target=java",
            "-o",
            folder,
            "--dim=seq=128");
    assertThat(compile.out()).endsWith("class Model: a function, run(…)" + System.lineSeparator());
    Invocation run =
        Invocation.of(
            "run", folder, "--inputs", prefill.resolve("inputs.npz"), "--outputs", outputs);
    assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
    assertThat(run.out().strip()).isEqualTo("logits: f32[1,128,65]");
    assertThat(outputs).isNotEmptyFile();
  }

  @Test
  void runReportsMissingInputs() {
    assertThat(Invocation.of("run", scratch, "--inputs", "a", "--outputs", "b").err())
        .startsWith("error P5004")
        .contains("found:     no such file");
    Path outputs = scratch.resolve("outputs.npz");
    Invocation run = Invocation.of("run", compiled(), "--inputs", "none.npz", "--outputs", outputs);
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err()).contains("error P6005").contains("none.npz");
    assertThat(outputs).doesNotExist();
  }

  @Test
  void inspectCountsBlocks() {
    Invocation inspect = Invocation.of("inspect", DECODER);
    assertThat(inspect.exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(inspect.out())
        .contains("input      past_key_0 … past_key_3 (4): f32[1,4,past,8]")
        .contains("4 of 4 blocks raised")
        .contains("supported  every node");
    assertThat(Invocation.of("inspect", DECODER, "--json").json())
        .containsKeys("model", "producer", "operatorSets", "unsupported", "diagnostics", "inputs")
        .containsKeys("outputs", "weightBytes", "kvBytesPerToken", "blocks", "operations")
        .containsEntry("supported", true)
        .containsEntry("parameters", 193216);
  }

  @Test
  void checkSetsItsExitCode() {
    Path prefill = Invocation.SHAKESPEARE.resolve("prefill");
    Invocation passed = Invocation.of("check", prefill);
    assertThat(passed.exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(passed.out().lines())
        .containsExactly("PASS " + prefill, "1 passed, 0 failed, 0 unsupported");
    // No reordering of float sums is within 0, though rounding explains it.
    Invocation failed = Invocation.of("check", prefill, "--rtol=0", "--atol=0", "--json");
    assertThat(failed.exitCode()).isEqualTo(ExitCode.CHECK_FAILED);
    assertThat(failed.json())
        .containsOnlyKeys("cases", "passed", "failed", "unsupported")
        .containsEntry("failed", 1);
    assertThat(failed.out()).contains("other rounding of sums and functions changes results");
    for (String wrong : List.of("--rtol=NaN", "--atol=-1", "--atol=Infinity")) {
      assertThat(Invocation.of("check", prefill, wrong).exitCode()).isEqualTo(ExitCode.USER_ERROR);
    }
  }

  @Test
  void optReportsOutputsThatDependOnDroppedSyncs() {
    Path prefill = Invocation.SHAKESPEARE.resolve("prefill/network.onnx");
    String passes = "simplify,raise,shard(tensor=2),drop-syncs(blocks=0+2),localize,schedule";
    Invocation dropped =
        Invocation.of("opt", prefill, "--dim", "seq=3", "--passes", passes, "--verify");
    assertThat(dropped.err()).doesNotContain("error");
    assertThat(dropped.out())
        .containsPattern(
            "verify drop-syncs: same results .* on whole values, 0\\.[0-9]+ as devices")
        .contains("output \"logits\" depends on values that vary over head: from localize at")
        .contains("(2 places), ended by settle by term at")
        .contains("verify localize: same results", "verify schedule: same results");
    String staged = "simplify,raise,shard(pipeline=2,tensor=2),drop-syncs(blocks=all)";
    assertThat(Invocation.of("opt", prefill, "--dim=seq=3", "--passes", staged, "--verify").out())
        .contains("(4 places), ended by settle by term at");
    assertThat(Invocation.of("opt", prefill, "--passes=drop-syncs(blocks=3-1)").err())
        .contains("P4003", "all, or numbers and ranges such as 0-3+5");
  }

  @Test
  void optSchedulesAndEvaluates() {
    Path prefill = Invocation.SHAKESPEARE.resolve("prefill/network.onnx");
    Path program = scratch.resolve("two.pir");
    Path file = scratch.resolve("two.sched");
    String passes = "simplify,raise,shard(tensor=2),choose-algorithms,localize";
    Invocation localized =
        Invocation.of(
            "opt", prefill, "--dim", "seq=3", "--passes", passes, "--verify", "-o", program);
    assertThat(localized.err()).doesNotContain("error");
    assertThat(localized.out()).contains("verify localize: same results");
    Invocation scheduled =
        Invocation.of("opt", program, "--passes=schedule(l1=4096)", "--verify", "-o", file);
    assertThat(scheduled.err()).doesNotContain("error");
    assertThat(scheduled.out()).contains("verify schedule: same results");
    assertThat(Invocation.of("opt", program).out())
        .startsWith("pir 1\nprogram {\n  mesh(head=2)\n  input \"input_ids\": i64[1,3]")
        .contains("    graph @", " = exchange(");
    assertThat(
            Invocation.of("compile", program, "--target=java", "-o", scratch.resolve("none")).err())
        .contains("P3012", "a module", "a program");
    assertThat(Invocation.of("opt", file).out())
        .startsWith("sched 1\nschedule \"siracusa:chips=2\"")
        .contains("exchange f32");
    assertThat(Invocation.of("opt", file, "--verify").out()).contains("evaluated logits: f32[1,3");
    assertThat(Invocation.of("opt", prefill, "--passes=schedule,simplify").err())
        .contains("put simplify before the passes that give a schedule");
  }

  @Test
  void optOutputRoundTrips() {
    Path file = scratch.resolve("raised.pir");
    assertThat(Invocation.of("opt", DECODER, "--passes=simplify,raise", "-o", file).exitCode())
        .isEqualTo(ExitCode.DONE);
    Invocation again = Invocation.of("opt", file);
    assertThat(again.exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(again.out()).startsWith("pir 1\nmodule {").contains(" = attention");
    assertThat(Invocation.of("opt", "--list-passes").out())
        .contains("raise ")
        .contains("simplify ")
        .contains("kv-state(capacity=N) ");
  }

  @Test
  void zooCreatesItsOutputFolder() {
    Path file = scratch.resolve("deep/vit.onnx");
    Invocation zoo = Invocation.of("zoo", "vit-base", "--layers=1", "-o", file, "--json");
    assertThat(zoo.exitCode()).as(zoo.err()).isEqualTo(ExitCode.DONE);
    assertThat(zoo.json())
        .containsOnlyKeys("model", "parameters", "modelBytes", "dataBytes", "bytesOnDisk");
    assertThat(file).isNotEmptyFile();
    assertThat(Invocation.of("zoo", "vit-base", "-o", file).err()).startsWith("error P6006");
    assertThat(Invocation.of("zoo").out()).contains("tinyllama-42m ");
  }

  @Test
  void doctorFindsTheToolsOfTests() {
    Invocation doctor = Invocation.of("doctor");
    assertThat(doctor.exitCode()).as(doctor.out()).isEqualTo(ExitCode.DONE);
    assertThat(doctor.out())
        .containsPattern("ok +javac +in the JDK")
        .contains("start Partita by its ./partita")
        .containsPattern("(ok|optional) +make .*builds emitted C")
        .containsPattern("(ok|optional) +gcc .*--on host")
        .containsPattern("(ok|optional) +mpirun .*--on mpi")
        .containsPattern("(ok|optional) +qemu-system-riscv32 .*--on qemu")
        .containsPattern("(ok|optional) +gvsoc .*--on gvsoc --gvsoc PATH");
    assertThat(Invocation.of("doctor", "--json").json())
        .containsOnlyKeys("ok", "findings")
        .containsEntry("ok", true);
  }
}
