package io.partita.cli;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A JVM that runs one command after the other in a folder: starting one for each command, and
 * compiling the same methods in each, takes longer than most commands do.
 */
final class ResidentCommands implements AutoCloseable {
  private final Process process;
  private final DataOutputStream commands;
  private final DataInputStream results;

  ResidentCommands(Path folder) throws IOException {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dstdout.encoding=UTF-8",
                "-Dstderr.encoding=UTF-8",
                "-cp",
                System.getProperty("java.class.path"),
                ResidentCommands.class.getName())
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    commands = new DataOutputStream(new BufferedOutputStream(process.getOutputStream()));
    results = new DataInputStream(new BufferedInputStream(process.getInputStream()));
  }

  /**
   * Runs a command, as {@code ./partita} followed by the arguments would.
   *
   * @param minutes after which the JVM is ended, and the result is missing
   */
  Invocation run(List<String> arguments, int minutes) throws IOException {
    CompletableFuture<Void> limit =
        CompletableFuture.runAsync(
            process::destroyForcibly, CompletableFuture.delayedExecutor(minutes, TimeUnit.MINUTES));
    try {
      commands.writeInt(arguments.size());
      for (String argument : arguments) {
        write(argument.getBytes(StandardCharsets.UTF_8), commands);
      }
      commands.flush();
      return new Invocation(results.readInt(), text(results), text(results));
    } finally {
      limit.cancel(false);
    }
  }

  /** Runs the commands that are read from standard input until it ends. */
  public static void main(String[] none) throws IOException {
    Locale.setDefault(Locale.ROOT);
    DataInputStream commands = new DataInputStream(new BufferedInputStream(System.in));
    DataOutputStream results = new DataOutputStream(new BufferedOutputStream(System.out));
    System.setOut(System.err);
    while (true) {
      String[] arguments;
      try {
        arguments = new String[commands.readInt()];
      } catch (EOFException end) {
        return;
      }
      for (int i = 0; i < arguments.length; i++) {
        arguments[i] = text(commands);
      }
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      ByteArrayOutputStream err = new ByteArrayOutputStream();
      results.writeInt(Main.run(out, err, arguments));
      write(out.toByteArray(), results);
      write(err.toByteArray(), results);
      results.flush();
    }
  }

  private static void write(byte[] bytes, DataOutputStream to) throws IOException {
    to.writeInt(bytes.length);
    to.write(bytes);
  }

  private static String text(DataInputStream from) throws IOException {
    return new String(from.readNBytes(from.readInt()), StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    commands.close();
    process.destroy();
  }
}
