package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the launcher script with a JDK that prints its arguments. */
@Timeout(60)
class LauncherTest {
  @TempDir Path scratch;

  private record Ended(int exitCode, String said) {}

  private static void program(Path file, String text) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/bin/sh\n" + text);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  /** Creates a built checkout in a folder with a space in its name. */
  private Path checkout() throws IOException {
    Path home = launcher("my checkout");
    program(home.resolve("jdk/bin/javac"), "");
    program(home.resolve("jdk/bin/java"), "echo \"LC_ALL=$LC_ALL\"; echo \"$@\"\n");
    Files.writeString(home.resolve("jdk/release"), "JAVA_VERSION=\"25.0.1\"\n");
    built(home.resolve("tools/cli/target/dist"));
    return home;
  }

  private Path launcher(String folder) throws IOException {
    Path home = Files.createDirectories(scratch.resolve(folder));
    program(home.resolve("partita"), "");
    Files.copy(
        Invocation.ROOT.resolve("partita"),
        home.resolve("partita"),
        StandardCopyOption.REPLACE_EXISTING);
    assertThat(home.resolve("partita").toFile().setExecutable(true)).isTrue();
    return home;
  }

  private static void built(Path dist) throws IOException {
    Path lib = Files.createDirectories(dist.resolve("lib"));
    Files.writeString(lib.resolve("partita-cli.jar"), "");
    Files.writeString(dist.resolve("partita-25.0.1.aot"), "");
    Files.writeString(dist.resolve("built"), "");
  }

  private static Ended run(Path home, Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    File log = home.resolve("log").toFile();
    ProcessBuilder builder =
        new ProcessBuilder(
            Stream.concat(Stream.of(home.resolve("partita").toString()), Stream.of(arguments))
                .toList());
    builder.environment().keySet().removeAll(List.of("LC_ALL", "LC_CTYPE", "LANG"));
    builder.environment().put("JAVA_HOME", home.resolve("jdk").toString());
    builder.environment().putAll(environment);
    Process process = builder.redirectErrorStream(true).redirectOutput(log).start();
    try {
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).as("it ends").isTrue();
      return new Ended(process.exitValue(), Files.readString(log.toPath()));
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void fileNamesAreUnicodeInTheLocaleC() throws Exception {
    Path home = checkout();
    assertThat(run(home, Map.of("LC_ALL", "C"), "doctor").said())
        .startsWith("LC_ALL=C.UTF-8\n")
        .endsWith("partita-cli.jar doctor\n");
    assertThat(run(home, Map.of(), "doctor").said()).startsWith("LC_ALL=C.UTF-8\n");
    // As in a container to which a terminal has sent its locale.
    assertThat(run(home, Map.of("LANG", "xx_XX.UTF-8"), "doctor").said())
        .startsWith("LC_ALL=C.UTF-8\n");
    assertThat(run(home, Map.of("LANG", "C.UTF-8"), "doctor").said()).startsWith("LC_ALL=\n");
  }

  /** A distribution isn't built, and prefers the Java that it brings. */
  @Test
  void distributionsRunOnTheirOwnJava() throws Exception {
    Path home = launcher("my distribution");
    built(home);
    program(home.resolve("runtime/bin/javac"), "");
    program(home.resolve("runtime/bin/java"), "echo its own; echo \"$@\"\n");
    Files.writeString(home.resolve("runtime/release"), "JAVA_VERSION=\"25.0.1\"\n");
    program(home.resolve("jdk/bin/javac"), "");
    program(home.resolve("jdk/bin/java"), "echo another\n");
    Files.writeString(home.resolve("jdk/release"), "JAVA_VERSION=\"25.0.1\"\n");
    assertThat(run(home, Map.of(), "-J-Xmx1g", "doctor").said())
        .startsWith("its own\n")
        .contains("-Xmx1g ")
        .endsWith("-jar " + home.toRealPath() + "/lib/partita-cli.jar doctor\n");
  }

  /** Tests the lock of a process that ended before it wrote its number into it. */
  @Tag("thorough")
  @Test
  void locksWithoutAnOwnerAreRemoved() throws Exception {
    Path home = checkout();
    Path target = home.resolve("tools/cli/target");
    Files.delete(target.resolve("dist/partita-25.0.1.aot"));
    Path lock = Files.createFile(target.resolve("building"));
    Ended ended = run(home, Map.of(), "doctor");
    assertThat(ended.exitCode()).isZero();
    assertThat(ended.said()).endsWith("partita-cli.jar doctor\n");
    assertThat(lock).doesNotExist();
  }

  /** Tests a lock that can't be written. */
  @Tag("thorough")
  @Test
  void locksThatCannotBeWrittenAreReported() throws Exception {
    Path home = checkout();
    Path target = home.resolve("tools/cli/target");
    Files.delete(target.resolve("dist/partita-25.0.1.aot"));
    Files.createDirectories(target.resolve("building/in the way"));
    Ended ended = run(home, Map.of(), "doctor");
    assertThat(ended.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(ended.said()).contains("building can't be written", "Check the free space");
  }

  /** Tests a lock that can't be created, which once hung. */
  @Test
  void readOnlyStaleCheckoutsAreReported() throws Exception {
    Path home = checkout();
    Path target = home.resolve("tools/cli/target");
    Files.move(target, home.resolve("tools/cli/other"));
    Files.writeString(target, "a file in the way");
    Ended ended = run(home, Map.of(), "doctor");
    assertThat(ended.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(ended.said()).contains("Partita must be built, and", "can't be written");
  }
}
