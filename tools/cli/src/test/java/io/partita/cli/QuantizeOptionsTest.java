package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.api.CompileOptions;
import io.partita.api.CompiledModel;
import io.partita.api.Partita;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests that commands that quantize a model in passing make what they make of the model that {@code
 * quantize} writes.
 */
@Timeout(240)
class QuantizeOptionsTest {
  private static final Path DATA = Invocation.SHAKESPEARE.resolve("eval.npz");
  private static final String OPTIONS =
      "calibration=" + DATA + ",samples=1,float=/lm_head/MatMul+/layers.3/Mul";

  @TempDir Path folder;

  /** The written model is in a folder of the same name, after which models are called. */
  private Path quantized;

  @BeforeEach
  void quantize() throws IOException {
    quantized =
        Files.createDirectories(folder.resolve("tiny-shakespeare/decode")).resolve("network.onnx");
  }

  private static String run(Object... arguments) {
    Invocation run = Invocation.of(arguments);
    assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
    return run.out();
  }

  private void write() {
    run(
        "quantize",
        Invocation.DECODER,
        "--calibration",
        DATA,
        "--samples=1",
        "--float=/lm_head/MatMul",
        "--float=/layers.3/Mul",
        "-o",
        quantized);
  }

  /** The files of a program, except for those that have the command. */
  private static Map<String, byte[]> program(Path program) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(program)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        String name = program.relativize(file).toString();
        if (!List.of("report.json", "checksums.txt").contains(name)) {
          files.put(name, Files.readAllBytes(file));
        }
      }
    }
    return files;
  }

  private Path compiled(Path model, String name, String... options) {
    Path program = folder.resolve(name);
    List<Object> command = new ArrayList<>(List.of("compile", model, "-o", program));
    command.addAll(List.of(options));
    run(command.toArray());
    return program;
  }

  @Test
  void anOptionAndAPassMakeTheSameProgram() throws IOException {
    write();
    String[] target = {"--target=java", "--kv-capacity=64"};
    Map<String, byte[]> expected = program(compiled(quantized, "file", target));
    assertThat(new String(expected.get("Model.java"))).contains("byte");
    Path option =
        compiled(Invocation.DECODER, "option", "--quantize=" + OPTIONS, target[0], target[1]);
    assertThat(program(option)).containsExactlyEntriesOf(expected);
    Path pass =
        compiled(
            Invocation.DECODER,
            "pass",
            "--target=java",
            "--passes=quantize("
                + OPTIONS
                + "),simplify,raise,simplify,kv-state(capacity=64),simplify");
    assertThat(program(pass)).containsExactlyEntriesOf(expected);
  }

  @Tag("thorough")
  @Test
  void chipsAndPromptsHaveTheSameProgram() throws IOException {
    write();
    Path prompts = Invocation.ROOT.resolve("tests/models/tiny-shakespeare-prompt/network.onnx");
    Path written =
        Files.createDirectories(folder.resolve("tiny-shakespeare-prompt")).resolve("network.onnx");
    run("quantize", prompts, "--calibration", DATA, "--samples=1", "-o", written);
    String option = "--quantize=calibration=" + DATA + ",samples=1";
    String[] target = {"--target=siracusa:chips=2", "--kv-capacity=64", "--chunk=4"};
    assertThat(program(compiled(prompts, "option", option, target[0], target[1], target[2])))
        .containsExactlyEntriesOf(program(compiled(written, "file", target)));
  }

  @Test
  void evaluateMeasuresTheQuantizedModel() {
    write();
    String[] data = {"--data=" + DATA, "--samples=1", "--json"};
    Invocation expected = Invocation.of("evaluate", quantized, data[0], data[1], data[2]);
    Invocation found =
        Invocation.of(
            "evaluate", Invocation.DECODER, "--quantize=" + OPTIONS, data[0], data[1], data[2]);
    assertThat(found.exitCode()).as(found.err()).isEqualTo(ExitCode.DONE);
    assertThat(found.json().get("value")).isEqualTo(expected.json().get("value"));
    assertThat(found.err())
        .contains(
            "note P6310: the model was quantized",
            "28 products of integers; perplexity on 1 calibration sample: ");
  }

  @Tag("thorough")
  @Test
  void aPlanIsOfTheQuantizedModel() {
    write();
    String target = "--target=siracusa:chips=2";
    assertThat(run("plan", Invocation.DECODER, "--quantize=" + OPTIONS, target, "--kv-capacity=64"))
        .isEqualTo(run("plan", quantized, target, "--kv-capacity=64"));
  }

  @Tag("thorough")
  @Test
  void optPrintsTheQuantizedModule() {
    write();
    assertThat(run("opt", Invocation.DECODER, "--passes=quantize(" + OPTIONS + "),simplify,raise"))
        .isEqualTo(run("opt", quantized, "--passes=simplify,raise"));
  }

  @Test
  void theDataIsAnInput() {
    CompiledModel compiled =
        Partita.compile(
            CompileOptions.of(Invocation.DECODER, "java", folder.resolve("out"))
                .cacheCapacity(64)
                .quantize("calibration=" + DATA + ",samples=1")
                .build());
    assertThat(compiled.inputs()).contains(Invocation.DECODER, DATA);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --quantize=weights=int8 | P4003 | pass quantize, option calibration | none
          --quantize=calibration=x.npz,bits=4 | P4003 | options activations, array, attention, calibration, float, | bits
          --quantize=calibration=x.npz,weights=int3 | P4003 | int8 or int4 | int3
          --quantize=calibration=x.npz,group=2.5 | P4003 | a whole number of 2 or more | 2.5
          --quantize=calibration=x.npz,smooth=2 | P4003 | a number from 0 to 1 | 2
          --quantize=calibration=missing.npz | P6005 | missing.npz | no such file
          --passes=simplify,quantize(calibration=x.npz) | P4004 | an ONNX model | a module
          --passes=quantize(calibration=x.npz),quantize(calibration=x.npz) | P6005 | x.npz | no such file
          """)
  void wrongOptionsAreDiagnosed(String option, String code, String one, String other) {
    Path program = folder.resolve("out");
    Invocation run =
        Invocation.of("compile", Invocation.DECODER, "--target=java", "-o", program, option);
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err())
        .contains("error " + code, "where: ", "expected: ", "found: ", "fix: ", one, other);
    assertThat(program).doesNotExist();
  }

  @Test
  void textAndPromptModelsCannotBeQuantized() {
    Path module = folder.resolve("x.pir");
    run("opt", Invocation.DECODER, "-o", module);
    Invocation text =
        Invocation.of(
            "compile",
            module,
            "--target=java",
            "-o",
            folder.resolve("out"),
            "--quantize=" + OPTIONS);
    assertThat(text.err()).contains("error P4004", "a module in text form");
    Invocation prompt =
        Invocation.of(
            "compile",
            Invocation.DECODER,
            "--target=java",
            "--chunk=4",
            "--prompt-model=" + Invocation.SHAKESPEARE.resolve("prefill/network.onnx"),
            "-o",
            folder.resolve("out"),
            "--quantize=" + OPTIONS);
    assertThat(prompt.err()).contains("--prompt-model takes no --quantize");
  }
}
