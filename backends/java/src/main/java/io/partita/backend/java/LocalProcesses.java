package io.partita.backend.java;

import io.partita.ir.diagnostic.PartitaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * The processes of devices 1 and up on this computer. They end when the connection to this process
 * ends for any reason, so never later than this process.
 */
final class LocalProcesses implements AutoCloseable {
  private static final String LOCALHOST = "127.0.0.1";
  private static final String PORT = "port ";
  private static final int END_SECONDS = 5;

  private final List<Process> processes = new CopyOnWriteArrayList<>();
  private final ServerSocket server;
  private final String peers;
  private final Path key;
  private final Thread hook = new Thread(this::destroy, "end-devices");

  /**
   * Starts the processes and sends each the addresses of the others.
   *
   * @param classes the program's compiled classes by name
   * @param folder of the weights
   * @param scratch an empty folder for the classes
   */
  LocalProcesses(
      JavaDescription description, Map<String, byte[]> classes, Path folder, Path scratch)
      throws IOException {
    for (Map.Entry<String, byte[]> type : classes.entrySet()) {
      Path file = scratch.resolve(type.getKey().replace('.', '/') + ".class");
      Files.createDirectories(file.getParent());
      Files.write(file, type.getValue());
    }
    Runtime.getRuntime().addShutdownHook(hook);
    key = scratch.resolve("devices.p12");
    DeviceKey making = DeviceKey.begin(key);
    int devices = description.group().orElseThrow().parts().size();
    server = new ServerSocket(0, devices * 2, InetAddress.getLoopbackAddress());
    try {
      for (int device = 1; device < devices; device++) {
        processes.add(start(description.className(), device, folder, scratch, key));
      }
      peers = addresses(scratch);
      making.end();
      for (Process process : processes) {
        process.getOutputStream().write((peers + "\n").getBytes(StandardCharsets.UTF_8));
        process.getOutputStream().flush();
      }
    } catch (IOException | RuntimeException e) {
      making.cancel();
      destroy();
      close();
      throw e;
    }
  }

  private static Process start(String className, int device, Path folder, Path classes, Path key)
      throws IOException {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    return new ProcessBuilder(
            java.toString(),
            // There are many small processes, so each uses a single garbage collection thread.
            "-XX:+UseSerialGC",
            "-cp",
            classes.toString(),
            className,
            folder.toString(),
            "--device",
            Integer.toString(device),
            "--peers",
            "-",
            "--key",
            key.toString())
        .redirectError(log(classes, device).toFile())
        .start();
  }

  private static Path log(Path scratch, int device) {
    return scratch.resolve("device" + device + ".log");
  }

  private String addresses(Path scratch) throws IOException {
    List<String> addresses = new ArrayList<>();
    addresses.add(LOCALHOST + ":" + server.getLocalPort());
    for (Process process : processes) {
      BufferedReader out =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      String line = out.readLine();
      if (line == null || !line.startsWith(PORT)) {
        throw notStarted(addresses.size(), line, process, log(scratch, addresses.size()));
      }
      addresses.add(LOCALHOST + ":" + line.substring(PORT.length()));
    }
    return String.join(",", addresses);
  }

  /** The process's output, or its exit code. */
  private static PartitaException notStarted(int device, String line, Process process, Path log)
      throws IOException {
    String said = (line == null ? "" : line + " ") + Files.readString(log).strip();
    if (said.isEmpty()) {
      try {
        said =
            process.waitFor(END_SECONDS, TimeUnit.SECONDS)
                ? "it ended with exit code " + process.exitValue()
                : "it printed nothing";
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        said = "interrupted";
      }
    }
    return new PartitaException(
        BackendCode.DEVICE_ENDED,
        "device " + device,
        "a process that starts",
        said,
        "give the devices more memory or processes, or run them as threads, without --processes");
  }

  /** The file of the processes' shared key. */
  Path key() {
    return key;
  }

  /** The socket on which device 0 already listens. */
  ServerSocket server() {
    return server;
  }

  /** The addresses of all devices. */
  String peers() {
    return peers;
  }

  /** The processes of devices 1 and up. */
  List<Process> processes() {
    return List.copyOf(processes);
  }

  private void destroy() {
    processes.forEach(Process::destroyForcibly);
  }

  /** Waits until the processes have ended, and kills those that don't end. */
  @Override
  public void close() {
    try {
      server.close();
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
      for (Process process : processes) {
        process.waitFor(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
      }
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException | IllegalStateException ending) {
      // The process is ending; its shutdown hook does the rest.
    }
    destroy();
  }
}
