package io.partita.backend.java;

import io.partita.ir.file.OutputFolder;
import io.partita.ir.file.TemporaryName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;

/**
 * Makes the key by which the processes of devices authenticate each other: a P-256 key pair and its
 * self-signed certificate, in a PKCS #12 file that only its owner may read. The JDK's keytool makes
 * it, concurrently with the caller.
 */
public final class DeviceKey {
  private static final int SECONDS = 60;

  private final Path file;
  private final Path folder;
  private final Process keytool;

  private DeviceKey(Path file, Path folder, Process keytool) {
    this.file = file;
    this.folder = folder;
    this.keytool = keytool;
  }

  /** Makes a key and waits for it. */
  public static void make(Path file) throws IOException {
    begin(file).end();
  }

  /**
   * Starts making a key.
   *
   * @param file the file to write, which is replaced if it exists
   */
  static DeviceKey begin(Path file) throws IOException {
    Path target = file.toAbsolutePath();
    Files.createDirectories(target.getParent());
    // Only its owner can access a temporary folder.
    Path folder = Files.createTempDirectory(target.getParent(), TemporaryName.prefix(target));
    try {
      Path tool = Path.of(System.getProperty("java.home"), "bin", "keytool");
      Process keytool =
          new ProcessBuilder(
                  tool.toString(),
                  "-J-XX:TieredStopAtLevel=1",
                  "-J-XX:+UseSerialGC",
                  "-genkeypair",
                  "-alias",
                  "partita",
                  "-keyalg",
                  "EC",
                  "-groupname",
                  "secp256r1",
                  "-dname",
                  "CN=partita",
                  "-validity",
                  "36500",
                  "-storetype",
                  "PKCS12",
                  "-storepass",
                  "partita",
                  "-keystore",
                  folder.resolve("key").toString())
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("log").toFile())
              .start();
      return new DeviceKey(target, folder, keytool);
    } catch (IOException e) {
      OutputFolder.delete(folder);
      throw e;
    }
  }

  /**
   * Waits until the key is made.
   *
   * @throws IOException with keytool's message if it fails
   */
  void end() throws IOException {
    try {
      if (!keytool.waitFor(SECONDS, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
        Path log = folder.resolve("log");
        throw new IOException("keytool: " + Files.readString(log, StandardCharsets.UTF_8).strip());
      }
      Path made = folder.resolve("key");
      boolean isOwners =
          made.toFile().setReadable(false, false)
              && made.toFile().setWritable(false, false)
              && made.toFile().setReadable(true, true)
              && made.toFile().setWritable(true, true);
      if (!isOwners) {
        throw new IOException(made + ": its permissions can't be set");
      }
      Files.move(made, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while making a key", e);
    } finally {
      cancel();
    }
  }

  /** Deletes the temporary files. */
  void cancel() throws IOException {
    keytool.destroyForcibly();
    OutputFolder.delete(folder);
  }
}
