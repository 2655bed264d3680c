package io.partita.ir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.arbitrary.RandomModules;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PirFileTest {
  @TempDir Path folder;

  private static Module moduleOf(Tensor... constants) {
    GraphBuilder builder = new GraphBuilder("main");
    for (int i = 0; i < constants.length; i++) {
      builder.output("constant " + i, builder.constant(constants[i]));
    }
    return new Module(builder.finish());
  }

  private static Tensor ramp(int size, float first) {
    float[] values = new float[size];
    for (int i = 0; i < size; i++) {
      values[i] = first + i;
    }
    return Tensor.floats(Shape.of(size), values);
  }

  @Test
  void filesRoundTrip() throws IOException {
    Path file = folder.resolve("x.pir");
    for (int seed = 0; seed < 50; seed++) {
      Module module = RandomModules.draw(seed);
      PirFile.write(module, file);
      Module read = PirFile.read(file);
      assertThat(read.equals(module)).isTrue();
      assertThat(PirPrinter.print(read)).isEqualTo(Files.readString(file));
    }
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder("x.pir", "x.weights");
    }
  }

  @Test
  void weightsAreAlignedAndDeduplicated() throws IOException {
    Path file = folder.resolve("x.pir");
    // 68 bytes, padding to 128, 4,000,000 bytes: several chunks; the third is the first again.
    Module module = moduleOf(ramp(17, 0), ramp(1_000_000, 5), ramp(17, 0));
    PirFile.write(module, file);
    assertThat(folder.resolve("x.weights")).hasSize(128 + 4_000_000);
    Module read = PirFile.read(file);
    assertThat(read.equals(module)).isTrue();
    assertThat(read.graph().nodes())
        .allSatisfy(node -> assertThat(node.constant().orElseThrow().isMapped()).isTrue());
  }

  /** Arrays that can't be written have no visible location, and yet aren't mapped. */
  @Test
  void readOnlyArraysAreDifferentWeights() {
    Path file = folder.resolve("x.pir");
    Tensor[] weights = {ramp(100, 1), ramp(100, 2), ramp(100, 3)};
    for (int i = 0; i < weights.length; i++) {
      weights[i] =
          Tensor.of(weights[i].type(), MemorySegment.ofArray(bytes(weights[i])).asReadOnly());
      assertThat(weights[i].isMapped()).isFalse();
    }
    PirFile.write(moduleOf(weights), file);
    assertThat(PirFile.read(file).equals(moduleOf(ramp(100, 1), ramp(100, 2), ramp(100, 3))))
        .isTrue();
  }

  private static byte[] bytes(Tensor tensor) {
    return tensor.bytes().toArray(ValueLayout.JAVA_BYTE);
  }

  @Test
  void modulesCanReplaceTheFileOfTheirMappedWeights() {
    Path file = folder.resolve("x.pir");
    PirFile.write(moduleOf(ramp(100, 1), ramp(200, 2)), file);
    Graph read = PirFile.read(file).graph();
    Module second = moduleOf(read.nodes().get(1).constant().orElseThrow());
    PirFile.write(second, file);
    assertThat(PirFile.read(file).equals(moduleOf(ramp(200, 2)))).isTrue();
  }

  @Test
  void failuresLeaveNoFiles() throws IOException {
    Path taken = Files.createDirectories(folder.resolve("x.pir").resolve("inner"));
    assertThatThrownBy(() -> PirFile.write(moduleOf(), taken.getParent()))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("error P3012: the file can't be read or written");
    assertThatThrownBy(() -> PirFile.write(moduleOf(), folder.resolve("none").resolve("x.pir")))
        .hasMessageContaining("no such file or folder");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactly(taken.getParent());
    }
  }

  @Test
  void unreadableFilesAreDiagnosed() throws IOException {
    assertThatThrownBy(() -> PirFile.read(folder.resolve("absent.pir")))
        .hasMessage(
            """
            error P3012: the file can't be read or written
              where:     %s
              expected:  a readable text file
              found:     no such file or folder
              fix:       check the path and the file"""
                .formatted(folder.resolve("absent.pir")));
    Path module = folder.resolve("module.pir");
    PirFile.write(moduleOf(), module);
    assertThatThrownBy(() -> PirFile.read(folder.resolve("modul.pir")))
        .hasMessageContaining("did you mean '" + module + "'?");
    assertThatThrownBy(() -> PirFile.read(folder)).hasMessageContaining("found:     a folder");
    Path bytes = Files.write(folder.resolve("bytes.pir"), new byte[] {(byte) 0xff, 1, 2});
    assertThatThrownBy(() -> PirFile.read(bytes)).hasMessageContaining("expected:  text in UTF-8");
  }

  @Test
  void missingOrDifferentWeightsAreDiagnosed() throws IOException {
    Path file = folder.resolve("x.pir");
    PirFile.write(moduleOf(ramp(100, 1)), file);
    Files.write(folder.resolve("x.weights"), new byte[400]);
    assertThatThrownBy(() -> PirFile.read(file))
        .hasMessageContaining("error P3009")
        .hasMessageContaining("x.pir:4:10")
        .hasMessageContaining("bytes with hash");
    Files.delete(folder.resolve("x.weights"));
    assertThatThrownBy(() -> PirFile.read(file))
        .hasMessageContaining("a weights file in the folder of the text");
  }

  /** A chain this deep would overflow the stack of anything that recurses over nodes. */
  @Tag("thorough")
  @Test
  void deepChainsAreParsedInLinearTime() {
    GraphBuilder builder = new GraphBuilder("chain");
    Value value = builder.input("x", TensorType.of(ElementType.F32, 2));
    for (int i = 0; i < 100_000; i++) {
      value = builder.add(new Elementwise.Unary(UnaryFunction.NEG), value);
    }
    builder.output("y", value);
    Module module = new Module(builder.finish());
    Assertions.assertTimeout(
        Duration.ofSeconds(30),
        () -> assertThat(PirParser.parse(PirPrinter.print(module)).equals(module)).isTrue());
  }
}
