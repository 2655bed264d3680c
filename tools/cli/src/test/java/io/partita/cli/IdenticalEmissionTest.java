package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The same model gives the same bytes in processes that have nothing else in common: folders,
 * locale, digits, time zone, encoding, seeds of hashes (of {@code Set.of}, a new one in each
 * process), number of processors and kind of garbage collector.
 */
@Timeout(300)
class IdenticalEmissionTest {
  @TempDir Path scratch;

  @Tag("thorough")
  @Test
  void anotherProcessOnAnotherMachineEmitsTheSameC() throws IOException, InterruptedException {
    emitsTheSame("siracusa");
  }

  @Tag("thorough")
  @Test
  void anotherProcessOnAnotherMachineEmitsTheSameJava() throws IOException, InterruptedException {
    emitsTheSame("java");
  }

  private void emitsTheSame(String target) throws IOException, InterruptedException {
    Path here = Files.createDirectories(scratch.resolve("here"));
    Path there = Files.createDirectories(scratch.resolve("there/below"));
    Path copy = there.resolve("tiny-shakespeare/network.onnx");
    Files.createDirectories(copy.getParent());
    Files.copy(Invocation.DECODER, copy);
    Process first =
        compile(
            here,
            List.of("-Duser.language=en", "-Duser.country=US", "-Duser.timezone=UTC"),
            Invocation.DECODER.toAbsolutePath().normalize(),
            target);
    Process second =
        compile(
            there,
            List.of(
                "-Duser.language=ar",
                "-Duser.country=EG",
                "-Duser.timezone=Pacific/Auckland",
                "-Dfile.encoding=ISO-8859-1",
                "-XX:+UnlockExperimentalVMOptions",
                "-XX:hashCode=3",
                "-XX:+UseSerialGC",
                "-XX:ActiveProcessorCount=1"),
            there.relativize(copy),
            target);
    assertThat(first.waitFor()).as(here.toString()).isZero();
    assertThat(second.waitFor()).as(there.toString()).isZero();
    SortedMap<String, Path> expected = files(here.resolve("out"));
    SortedMap<String, Path> found = files(there.resolve("out"));
    assertThat(found.keySet()).isEqualTo(expected.keySet()).hasSizeGreaterThan(2);
    for (String name : expected.keySet()) {
      assertThat(Files.mismatch(expected.get(name), found.get(name))).as(name).isEqualTo(-1);
    }
  }

  private static Process compile(Path folder, List<String> options, Path model, String target)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    command.addAll(options);
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(List.of("compile", model.toString(), "--target", target, "--devices=3"));
    command.addAll(List.of("--dim=past=64", "-o", "out"));
    return new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("log").toFile())
        .start();
  }

  private static SortedMap<String, Path> files(Path folder) throws IOException {
    SortedMap<String, Path> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(folder)) {
      all.filter(Files::isRegularFile)
          .forEach(file -> files.put(folder.relativize(file).toString(), file));
    }
    return files;
  }
}
