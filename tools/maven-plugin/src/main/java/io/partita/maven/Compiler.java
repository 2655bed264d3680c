package io.partita.maven;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.maven.plugin.MojoExecutionException;

/**
 * The {@code partita} command in a separate JVM.
 *
 * @param jdk the folder of a JDK
 * @param classPath the compiler's jars
 * @param jvmArguments the user's JVM options
 */
record Compiler(Path jdk, List<Path> classPath, List<String> jvmArguments) {
  private static final String MAIN = "io.partita.cli.Main";
  private static final int DONE = 0;
  private static final int CHECK_FAILED = 1;
  private static final int USER_ERROR = 2;

  /**
   * Runs a command that prints JSON.
   *
   * @return its report, also if a check failed
   * @throws CompilerFailure if it reports a mistake in its input
   * @throws MojoExecutionException if it couldn't run, or has an internal error
   */
  CompilerReport run(List<String> arguments) throws CompilerFailure, MojoExecutionException {
    List<String> command = new ArrayList<>();
    command.add(jdk.resolve("bin").resolve("java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--sun-misc-unsafe-memory-access=allow");
    // Otherwise non-ASCII names can't be opened in the locale C.
    command.add("-Dsun.jnu.encoding=UTF-8");
    command.add("-Dstdout.encoding=UTF-8");
    command.add("-Dstderr.encoding=UTF-8");
    command.addAll(jvmArguments);
    command.add("-cp");
    command.add(
        classPath.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
    command.add(MAIN);
    command.addAll(arguments);
    try {
      return run(new ProcessBuilder(command));
    } catch (IOException e) {
      throw new MojoExecutionException("the compiler can't be started: " + e.getMessage(), e);
    }
  }

  private CompilerReport run(ProcessBuilder builder)
      throws IOException, CompilerFailure, MojoExecutionException {
    Path errors = Files.createTempFile("partita-", ".log");
    Process process = null;
    try {
      process = builder.redirectError(errors.toFile()).start();
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int exitCode = process.waitFor();
      CompilerReport report = CompilerReport.of(output, Files.readString(errors));
      return switch (exitCode) {
        case DONE, CHECK_FAILED -> report;
        case USER_ERROR -> throw report.failure();
        default ->
            throw new MojoExecutionException(
                "the compiler ended with exit code "
                    + exitCode
                    + ":\n"
                    + report.errors()
                    + "\ncommand: "
                    + String.join(" ", builder.command()));
      };
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new MojoExecutionException("interrupted", interrupted);
    } finally {
      if (process != null) {
        process.destroy();
      }
      Files.deleteIfExists(errors);
    }
  }
}
