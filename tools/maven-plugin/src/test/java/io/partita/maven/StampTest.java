package io.partita.maven;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StampTest {
  private static final List<String> ARGUMENTS = List.of("compile", "a model.onnx");

  @TempDir Path scratch;
  private Path input;
  private Path output;
  private Path plugin;
  private Path compiler;

  @BeforeEach
  void writeStamp() throws Exception {
    input = write("a model.onnx", "weights");
    output = write("Model.java", "class Model {}");
    plugin = write("plugin.jar", "1");
    compiler = write("compiler.jar", "1");
    assertThat(write(Instant.now())).isEmpty();
  }

  private Optional<Path> write(Instant started) throws Exception {
    return stamp(ARGUMENTS).write(List.of(compiler), List.of(input), List.of(output), started);
  }

  private Path write(String name, String text) throws Exception {
    return Files.writeString(scratch.resolve(name), text);
  }

  private Stamp stamp(List<String> arguments) {
    return new Stamp(scratch.resolve("stamps").resolve("one.stamp"), arguments, List.of(plugin));
  }

  private boolean isCurrent() {
    return stamp(ARGUMENTS).isCurrent();
  }

  @Test
  void nothingChanged() {
    assertThat(isCurrent()).isTrue();
  }

  @Test
  void inputsWithTheSameBytesAreUnchanged() throws Exception {
    Files.setLastModifiedTime(input, FileTime.fromMillis(1));
    assertThat(isCurrent()).isTrue();
  }

  @Test
  void recentInputsOfEqualLengthAndTimeAreRead() throws Exception {
    FileTime time = Files.getLastModifiedTime(input);
    Files.writeString(input, "WEIGHTS");
    Files.setLastModifiedTime(input, time);
    assertThat(isCurrent()).isFalse();
  }

  @Test
  void otherArguments() {
    assertThat(stamp(List.of("compile", "a", "model.onnx")).isCurrent()).isFalse();
  }

  @Test
  void otherPlugin() throws Exception {
    write("plugin.jar", "12");
    assertThat(isCurrent()).isFalse();
  }

  @Test
  void otherCompiler() throws Exception {
    write("compiler.jar", "12");
    assertThat(isCurrent()).isFalse();
  }

  @Test
  void compilerBuiltAgain() throws Exception {
    long time = Files.getLastModifiedTime(compiler).toMillis();
    Files.setLastModifiedTime(compiler, FileTime.fromMillis(time + 1000));
    assertThat(isCurrent()).isFalse();
  }

  @Test
  void compilerDeletedFromTheRepository() throws Exception {
    Files.delete(compiler);
    assertThat(isCurrent()).isFalse();
  }

  @Test
  void editedOutput() throws Exception {
    write("Model.java", "class Model { }");
    assertThat(isCurrent()).isFalse();
  }

  @Test
  void deletedOutput() throws Exception {
    Files.delete(output);
    assertThat(isCurrent()).isFalse();
  }

  @Test
  void deletedInput() throws Exception {
    Files.delete(input);
    assertThat(isCurrent()).isFalse();
  }

  @Test
  void clearedOrDamagedStamp() throws Exception {
    Path file = scratch.resolve("stamps").resolve("one.stamp");
    String text = Files.readString(file);
    Files.writeString(file, text + "input\n");
    assertThat(isCurrent()).isFalse();
    Files.writeString(file, "");
    assertThat(isCurrent()).isFalse();
    stamp(ARGUMENTS).clear();
    assertThat(isCurrent()).isFalse();
  }

  @Test
  void inputThatChangedWhileItWasUsed() throws Exception {
    Instant started = Files.getLastModifiedTime(input).toInstant();
    stamp(ARGUMENTS).clear();
    Files.setLastModifiedTime(input, FileTime.from(started.plusMillis(1)));
    assertThat(write(started)).contains(input);
    assertThat(isCurrent()).isFalse();
  }

  @Test
  void inputThatWasRemovedWhileItWasUsed() throws Exception {
    stamp(ARGUMENTS).clear();
    Files.delete(input);
    assertThat(write(Instant.now())).contains(input);
    assertThat(isCurrent()).isFalse();
  }
}
