package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Correlation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests sync rewrites on emulated Tenstorrent chips. */
@Order(Integer.MAX_VALUE)
class MetaliumSyncsTest {
  private static final Path PREFILL =
      Invocation.DECODER.getParent().resolveSibling("prefill").resolve("network.onnx");

  @TempDir Path scratch;

  /** Calibrations that several tests begin with. */
  @TempDir static Path shared;

  /**
   * Sums of blocks travel as codes of 4 bits, of which a message has two in a byte: those of all
   * terms, or on a ring, where each chip has the sums of some of the features first. Some features,
   * or all, travel as bf16.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"2 | int4(sum=f32) | byte", "4 | bf16 | bf16"})
  void sumsInFewBitsAreComparedWithTheReference(int chips, String sync, String wire)
      throws IOException {
    Path folder = codes("n150:chips=" + chips, chips, sync);
    assertThat(folder.resolve("kernels/" + wire + "_exchange_writer.cpp")).exists();
    Invocation diff =
        Invocation.of("diff", folder, "--inputs", MetaliumCommandsTest.token(scratch));
    assertThat(diff.exitCode()).as(diff.out() + diff.err()).isEqualTo(ExitCode.DONE);
    assertThat(diff.out()).contains("steps on " + chips + " chips");
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "4 | int4(sum=f32,via=ring) | byte",
        "4 | int4(via=ring) | byte",
        "2 | int4+bf16(k=1) | bf16"
      })
  void otherSumsInFewBitsAreComparedWithTheReference(int chips, String sync, String wire)
      throws IOException {
    sumsInFewBitsAreComparedWithTheReference(chips, sync, wire);
  }

  /**
   * The 10 bits of mantissa of the matrix engine move numbers that are close to a half to the next
   * code, so the text differs from Java's. With all bits of f32 nothing else does.
   */
  @Tag("thorough")
  @Test
  void sumsInFewBitsAreThoseOfJavaButForTheBitsOfTheMatrixEngine() throws IOException {
    Path folder = codes("n150:chips=2", 2, "int4(sum=f32)");
    Path engine = folder.resolve("metalium-host/emulation/compute.cpp");
    String text = Files.readString(engine);
    assertThat(text).contains("SOURCE_BITS = 10;", "FACTOR_A_BITS = 9;");
    Files.writeString(
        engine,
        text.replace("SOURCE_BITS = 10;", "SOURCE_BITS = 23;")
            .replace("FACTOR_A_BITS = 9;", "FACTOR_A_BITS = 23;"));
    assertThat(MetaliumCommandsTest.written(folder, "--allow-changes"))
        .isEqualTo(MetaliumCommandsTest.written(codes("java", 2, "int4(sum=f32)")))
        .startsWith("ROMEO:");
  }

  /** The terms of all tokens have the same steps. */
  @Tag("exhaustive")
  @Test
  void sumsOfPromptsInFewBitsAreComparedWithTheReference() {
    Path folder = scratch.resolve("prompt");
    requireDone(
        Invocation.of(
            "compile",
            PREFILL,
            "--dim=seq=128",
            "--target=n150:chips=2",
            "--devices=2",
            "--sync=int4+bf16(k=1)",
            "--calibration=" + calibration("--devices=2"),
            "-o",
            folder));
    Invocation diff =
        Invocation.of("diff", folder, "--inputs", PREFILL.resolveSibling("inputs.npz"));
    requireDone(diff);
    assertThat(diff.out()).contains("steps on 2 chips");
  }

  /** Compiles the decoder with sums of blocks in few bits. */
  private Path codes(String target, int devices, String sync) {
    Path calibration = calibration("--devices=" + devices);
    Path folder = scratch.resolve("codes-" + target.replace(':', '-'));
    requireDone(
        Invocation.of(
            "compile",
            Invocation.DECODER,
            "--target=" + target,
            "--devices=" + devices,
            "--sync=" + sync,
            "--calibration=" + calibration,
            "--kv-capacity=64",
            "-o",
            folder));
    return folder;
  }

  /**
   * Tokens travel as indices of 8 bits, of 9 bits where chips have different numbers of tokens, and
   * of 6 bits for each vector of keys and values.
   */
  @Tag("thorough")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"2 | vq(k=256,groups=1)"})
  void tokensAsIndicesAreComparedWithTheReference(int chips, String sync) throws IOException {
    Path inputs = PREFILL.resolveSibling("inputs.npz");
    String[] split = {"--devices=" + chips, "--strategy=sequence", "--sync=" + sync};
    Path calibration = calibration(split);
    List<Path> outputs = new ArrayList<>();
    for (String target : List.of("n150:chips=" + chips, "java")) {
      Path folder = scratch.resolve("tokens-" + target.replace(':', '-'));
      List<Object> compile = new ArrayList<>(List.of("compile", PREFILL, "--target=" + target));
      compile.addAll(List.of(split));
      compile.addAll(List.of("--dim=seq=128", "--calibration=" + calibration, "-o", folder));
      requireDone(Invocation.of(compile.toArray()));
      outputs.add(folder.resolveSibling(folder.getFileName() + ".npz"));
      requireDone(Invocation.of("run", folder, "--inputs", inputs, "--outputs", outputs.getLast()));
    }
    Invocation diff =
        Invocation.of("diff", scratch.resolve("tokens-n150-chips=" + chips), "--inputs", inputs);
    requireDone(diff);
    assertThat(diff.out()).contains("steps on " + chips + " chips");
    // The 10 bits of the matrix engine move some tokens to another centroid, and so their scores.
    double[] found = Npz.read(outputs.getFirst()).get("logits").doubles();
    double[] expected = Npz.read(outputs.getLast()).get("logits").doubles();
    assertThat(Correlation.of(expected, found)).isGreaterThan(0.99);
  }

  @Tag("exhaustive")
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"3 | vq(k=300,groups=2)", "4 | vq(k=64,groups=1,of=kv)"})
  void moreTokensAsIndicesAreComparedWithTheReference(int chips, String sync) throws IOException {
    tokensAsIndicesAreComparedWithTheReference(chips, sync);
  }

  private static Path calibration(String... split) {
    String name = String.join(" ", split).replaceAll("[^A-Za-z0-9]+", "-");
    Path calibration = shared.resolve("calibration" + name + ".json");
    if (!Files.exists(calibration)) {
      Path data = PREFILL.getParent().resolveSibling("eval.npz");
      List<Object> calibrate = new ArrayList<>(List.of("calibrate", PREFILL, "--data=" + data));
      calibrate.addAll(List.of(split));
      calibrate.addAll(List.of("--samples=4", "-o", calibration));
      requireDone(Invocation.of(calibrate.toArray()));
    }
    return calibration;
  }

  private static void requireDone(Invocation command) {
    assertThat(command.exitCode()).as(command.out() + command.err()).isEqualTo(ExitCode.DONE);
  }
}
