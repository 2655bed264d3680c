package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.graph.Module;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramFolderTest {
  private static final JavaOptions OPTIONS = new JavaOptions("a.b", "Decoder");

  @TempDir Path folder;

  private static EmittedJava program() {
    Module module = new DecoderGraph(16, 32, 1, 4, 20, 6).module();
    return JavaBackend.emit(module, OPTIONS);
  }

  private Map<String, byte[]> contents(Path root) throws IOException {
    Map<String, byte[]> contents = new TreeMap<>();
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        contents.put(root.relativize(file).toString(), Files.readAllBytes(file));
      }
    }
    return contents;
  }

  @Test
  void outputIsDeterministic() throws IOException {
    Path first = folder.resolve("first");
    Path second = folder.resolve("second");
    new JavaBackend(OPTIONS).write(program(), first);
    new JavaBackend(OPTIONS).write(program(), second);
    Map<String, byte[]> contents = contents(first);
    assertThat(contents)
        .containsOnlyKeys("a/b/Decoder.java", "Decoder.weights", "model.json", "checksums.txt");
    assertThat(contents(second)).containsExactlyEntriesOf(contents);
    assertThat(JavaDescription.read(first)).isEqualTo(program().description());
  }

  @Test
  void replacesItsOwnFolderAndEmptyOnes() throws IOException {
    Path target = Files.createDirectory(folder.resolve("out"));
    new JavaBackend(OPTIONS).write(program(), target);
    Files.writeString(target.resolve("notes.txt"), "left over");
    new JavaBackend(OPTIONS).write(program(), target);
    assertThat(contents(target)).doesNotContainKey("notes.txt");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).containsExactly(target);
    }
  }

  @Test
  void keepsOtherFiles() throws IOException {
    Path target = Files.createDirectory(folder.resolve("home"));
    Files.writeString(target.resolve("notes.txt"), "mine");
    assertThatThrownBy(() -> new JavaBackend(OPTIONS).write(program(), target))
        .isInstanceOf(PartitaException.class)
        .hasMessage(
            """
            error P5003: the output folder holds something else
              where:     %s
              expected:  a new folder, an empty one, or one with a program for the same target
              found:     files that Partita didn't write
              fix:       choose another output folder, or empty this one"""
                .formatted(target));
    assertThat(contents(folder)).containsOnlyKeys("home/notes.txt");
  }

  /** Tests that the emitted class verifies the checksum itself. */
  @Test
  void damagedWeightsAreRefused() throws IOException {
    Path target = folder.resolve("out");
    new JavaBackend(OPTIONS).write(program(), target);
    Path weights = target.resolve("Decoder.weights");
    byte[] bytes = Files.readAllBytes(weights);
    try (ProgramCompiler compiler = new ProgramCompiler()) {
      ProgramRunner.open(compiler, target).close();
      for (int at : List.of(0, bytes.length / 2, bytes.length - 1)) {
        bytes[at] ^= 0x10;
        Files.write(weights, bytes);
        bytes[at] ^= 0x10;
        assertThatThrownBy(() -> ProgramRunner.open(compiler, target))
            .isInstanceOf(PartitaException.class)
            .hasMessageContainingAll("P5004", "Decoder.weights is damaged");
      }
      Files.write(weights, Arrays.copyOf(bytes, bytes.length - 1));
      assertThatThrownBy(() -> ProgramRunner.open(compiler, target))
          .hasMessageContainingAll("P5004", "Decoder.weights has", "bytes, not");
    }
  }

  @Test
  void missingPartsAreNamed() throws IOException {
    Path target = folder.resolve("out");
    Path source = target.resolve("a/b/Decoder.java");
    Path weights = target.resolve("Decoder.weights");
    JavaBackend backend = new JavaBackend(OPTIONS);
    backend.write(program(), target);
    Files.delete(weights);
    assertUnreadable(target, weights + ": no such file");
    Files.delete(source);
    assertUnreadable(target, source + ": no such file");
    backend.write(program(), target);
    Files.writeString(source, Files.readString(source).replace(" step(", " next("));
    assertUnreadable(target, "no method a.b.Decoder.step");
  }

  private static void assertUnreadable(Path target, String found) {
    try (ProgramCompiler compiler = new ProgramCompiler()) {
      assertThatThrownBy(() -> ProgramRunner.open(compiler, target))
          .hasMessage(
              """
              error P5004: the compiled model can't be read
                where:     a.b.Decoder
                expected:  the program's source and weights
                found:     %s
                fix:       compile the model again"""
                  .formatted(found));
    }
  }

  @Test
  void leavesNoPartialFiles() throws IOException {
    EmittedFile broken =
        new EmittedFile(
            "broken",
            out -> {
              out.write(1);
              throw new IOException("no space left");
            });
    EmittedJava program = new EmittedJava(program().description(), List.of(broken));
    Path target = folder.resolve("out");
    assertThatThrownBy(() -> new JavaBackend(OPTIONS).write(program, target))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P5002")
        .hasMessageContaining("no space left");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void invalidDescriptionsAreDiagnosed() throws IOException {
    for (String text :
        List.of("", "{", "[[[[", "{\"format\": 3}", "{\"format\": \"partita-java-1\"}")) {
      Files.writeString(folder.resolve("model.json"), text);
      assertThatThrownBy(() -> JavaDescription.read(folder))
          .isInstanceOf(PartitaException.class)
          .hasMessageContaining("P5004");
    }
  }
}
