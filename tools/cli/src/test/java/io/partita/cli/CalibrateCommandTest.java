package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.partita.driver.OutputFile;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class CalibrateCommandTest {
  private static final Path PREFILL =
      Invocation.SHAKESPEARE.resolve("prefill").resolve("network.onnx");
  private static final String SHARDED = "--passes=simplify,raise,simplify,shard(tensor=4)";
  private static final int SAMPLES = 18;
  private static final int LENGTH = 9;

  @TempDir Path folder;
  private Path data;
  private Path calibration;

  @BeforeEach
  void text() {
    long[] ids = new long[SAMPLES * LENGTH];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = (i * 7L + i / 5) % 65;
    }
    Tensor tokens = Tensor.longs(Shape.of(SAMPLES, LENGTH), ids);
    data = folder.resolve("data.npz");
    OutputFile.write(
        data, out -> Npz.write(Map.of("calibration", tokens, "validation", tokens), out));
    calibration = folder.resolve("cal.json");
  }

  private Invocation calibrate(Object... more) {
    Object[] arguments = new Object[more.length + 6];
    Object[] first = {"calibrate", PREFILL, "--data", data, "-o", calibration};
    System.arraycopy(first, 0, arguments, 0, first.length);
    System.arraycopy(more, 0, arguments, first.length, more.length);
    return Invocation.of(arguments);
  }

  private double loss(String more) {
    Invocation run =
        Invocation.of("evaluate", PREFILL, "--data", data, "--samples=4", "--json", SHARDED + more);
    assertThat(run.exitCode()).as(run.err() + run.out()).isZero();
    if (!more.isEmpty()) {
      assertThat(((Number) run.json().get("bitsPerValue")).doubleValue())
          .isEqualTo(more.contains("bits=8") ? 8 + 8.0 / 64 : 4 + 12.0 / 64, offset(0.01));
    }
    return ((Number) run.json().get("mean")).doubleValue();
  }

  @Tag("thorough")
  @Test
  void calibratedSumsAreSentInFewBits() throws IOException {
    Invocation first = calibrate("--devices=4");
    assertThat(first.exitCode()).as(first.err()).isZero();
    assertThat(first.out()).contains("8 sums on mesh(head=4), of 18 sequences");
    String complete = Files.readString(calibration);
    // Another number of threads, and a calibration that stops after 16 sequences, change nothing.
    Files.delete(calibration);
    calibrate("--devices=4", "--samples=16", "--threads=1");
    Files.writeString(
        calibration, Files.readString(calibration).replace("\"wanted\":16", "\"wanted\":18"));
    String pass = ",low-bit(calibration=" + calibration + ")";
    Invocation incomplete = Invocation.of("evaluate", PREFILL, "--data", data, SHARDED + pass);
    assertThat(incomplete.err()).contains("P6204", "16 sequences", "which resumes it");
    assertThat(calibrate("--devices=4").exitCode()).isZero();
    assertThat(Files.readString(calibration)).isEqualTo(complete);
    double exact = loss("");
    double wide = loss(pass.replace(")", ",bits=8)"));
    double narrow = loss(pass);
    assertThat(Math.abs(wide - exact)).isPositive().isLessThan(Math.abs(narrow - exact));
    assertThat(narrow).isEqualTo(exact, offset(0.5));
    // Three of four devices send a partial sum, and one sends the whole sum.
    assertThat(loss(pass.replace(")", ",via=tree)"))).isEqualTo(exact, offset(0.5));
  }

  @Test
  void mismatchedCalibrationsAreRefused() throws IOException {
    assertThat(calibrate().err()).contains("--devices N");
    assertThat(calibrate("--devices=4", "--array=calibraton").err())
        .contains("P6201", "--array calibration");
    Files.writeString(calibration, "{\"format\": \"something else\"}");
    assertThat(calibrate("--devices=4").err()).contains("P6204", "something else");
    Files.delete(calibration);
    assertThat(calibrate("--devices=2", "--samples=1").exitCode()).isZero();
    assertThat(calibrate("--devices=4", "--samples=1").err())
        .contains("P6204", "choose another file with -o");
    String pass = ",low-bit(calibration=" + calibration;
    assertThat(refusal(pass + ")")).contains("P4224", "mesh(head=2)", "mesh(head=4)");
    assertThat(refusal(pass + ",bits=9)")).contains("P4003", "2 to 8");
    assertThat(refusal(",low-bit(bits=4)")).contains("the file that partita calibrate wrote");
    assertThat(refusal(",low-bit(calibration=none.json)")).contains("P6204", "none.json");
  }

  private String refusal(String passes) {
    Invocation run = Invocation.of("opt", PREFILL, "--dim=seq=8", SHARDED + passes);
    assertThat(run.exitCode()).as(run.out()).isEqualTo(ExitCode.USER_ERROR);
    return run.err();
  }

  /** Codebooks of one number of devices serve another. */
  @Test
  @Tag("thorough")
  void tokensAreSentAsIndices() {
    String rules = "--sync=vq(k=64,groups=4)";
    Invocation trained = calibrate("--strategy=sequence", "--devices=2", rules, "--json");
    assertThat(trained.exitCode()).as(trained.err()).isZero();
    assertThat((List<?>) trained.json().get("codebooks")).hasSize(4);
    Invocation run =
        Invocation.of(
            "evaluate",
            PREFILL,
            "--data",
            data,
            "--samples=4",
            "--json",
            "--strategy=sequence",
            "--devices=4",
            rules,
            "--calibration",
            calibration);
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(((Number) run.json().get("mean")).doubleValue()).isCloseTo(loss(""), offset(0.5));
    // 4 groups of 6 bits for the 64 features of a token.
    assertThat(((Number) run.json().get("bitsPerValue")).doubleValue()).isEqualTo(0.375);
    assertThat(calibrate("--strategy=sequence", "--devices=2", rules).exitCode()).isZero();
    assertThat(calibrate("--strategy=sequence", "--devices=4", rules).err())
        .contains("P6204", "no file yet");
  }

  @Test
  void untrainableCodebooksAreRefused() {
    assertThat(calibrate("--strategy=sequence", "--devices=2", "--sync=vq(groups=7)").err())
        .contains("P6207", "a divisor of the");
    assertThat(calibrate("--devices=2", "--sync=vq").err()).contains("P4229");
  }
}
