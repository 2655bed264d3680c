package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.run.Port;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A trained decoder that {@code partita quantize} wrote computes the same integers as the Java
 * reference on every port, step by step: caches, quantized features, sums and results of products.
 * Floats are within the tolerance of {@code partita diff}.
 */
@Tag("thorough")
@Timeout(900)
final class QuantizedOnPortsTest {
  /** The positions before the token. */
  private static final int PAST = 39;

  @TempDir static Path scratch;

  @BeforeAll
  static void quantize() {
    quantize("int8", "--attention=int8", "--functions=int8");
    quantize("int4", "--weights=int4", "--group=16");
  }

  private static void quantize(String name, String... options) {
    List<Object> command = new ArrayList<>(List.of("quantize", Invocation.DECODER));
    command.addAll(List.of("--calibration", Invocation.SHAKESPEARE.resolve("eval.npz")));
    command.addAll(List.of("--samples=1", "-o", scratch.resolve(name + ".onnx")));
    command.addAll(List.of(options));
    Invocation run = Invocation.of(command.toArray());
    assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
  }

  @ParameterizedTest(name = "{0} on {1} chips, {2}")
  @CsvSource({
    "int8, 1, HOST",
    "int8, 1, QEMU",
    "int8, 1, GVSOC",
    "int8, 2, HOST",
    "int8, 2, GVSOC",
    "int8, 4, GVSOC",
    "int4, 1, HOST",
    "int4, 1, QEMU",
    "int4, 1, GVSOC",
    "int4, 2, HOST",
    "int4, 2, GVSOC"
  })
  void integersAreThoseOfJava(String model, int chips, Port port) throws IOException {
    Path folder = compiled(model, chips, "right");
    Invocation diff = diff(folder, port);
    assertThat(diff.exitCode()).as(diff.out() + diff.err()).isEqualTo(ExitCode.DONE);
    assertThat(diff.out()).startsWith("PASS ");
  }

  /**
   * Only chips have the instruction: dot products of signed bytes become those of unsigned ones.
   */
  @Test
  void aWrongInstructionIsFound() throws IOException {
    Path folder = compiled("int8", 1, "wrong");
    Path file = folder.resolve("runtime/kernels/simd.h");
    String text = Files.readString(file);
    String wrong = text.replace("0x5c, \\\\sum, \\\\x", "0x54, \\\\sum, \\\\x");
    assertThat(wrong).isNotEqualTo(text);
    Files.writeString(file, wrong);
    assertThat(diff(folder, Port.HOST).exitCode()).isEqualTo(ExitCode.DONE);
    Invocation diff = diff(folder, Port.GVSOC);
    assertThat(diff.exitCode()).as(diff.out() + diff.err()).isEqualTo(ExitCode.CHECK_FAILED);
    assertThat(diff.out()).startsWith("DIVERGES");
  }

  private static Invocation diff(Path folder, Port port) throws IOException {
    List<Object> command =
        new ArrayList<>(List.of("diff", folder, "--inputs", inputs(folder), "--timeout=600"));
    command.addAll(SmallChipProgram.on(port));
    return Invocation.of(command.toArray());
  }

  /** Compiles once; caches are inputs, so that they can have any values. */
  private static Path compiled(String model, int chips, String name) {
    Path folder = scratch.resolve(model + "-" + chips + "-" + name);
    if (!Files.exists(folder)) {
      Invocation compile =
          Invocation.of(
              "compile",
              scratch.resolve(model + ".onnx"),
              "--target=siracusa",
              "--passes=simplify,raise",
              "--dim=past=" + PAST,
              "--devices",
              chips,
              "-o",
              folder);
      assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    }
    return folder;
  }

  private static Path inputs(Path folder) throws IOException {
    Random random = new Random(13);
    Map<String, Tensor> inputs = new LinkedHashMap<>();
    for (ProgramInterface.Port port : ChipDescription.read(folder).whole().inputs()) {
      inputs.put(
          port.name(),
          switch (port.name()) {
            case "input_ids" -> Tensor.filled(port.type(), 17);
            case "position" -> Tensor.filled(port.type(), PAST);
            default -> cache(port, random);
          });
    }
    Path file = folder.resolveSibling("inputs.npz");
    try (OutputStream out = Files.newOutputStream(file)) {
      Npz.write(inputs, out);
    }
    return file;
  }

  /** Any bytes, or floats. */
  private static Tensor cache(ProgramInterface.Port port, Random random) {
    int count = Math.toIntExact(port.type().shape().elements());
    return port.type().element() == ElementType.I8
        ? Tensor.ofLongs(port.type(), random.longs(count, -128, 128).toArray())
        : Tensor.ofDoubles(port.type(), random.doubles(count, -1, 1).toArray());
  }
}
