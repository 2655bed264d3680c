package io.partita.backend.java;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** An instance of an emitted class, and the processes that were started for it. */
final class LoadedProgram implements AutoCloseable {
  /** Returns the text of a source by its path. */
  interface Sources {
    String read(String path) throws IOException;
  }

  private final Object program;
  private final Optional<LocalProcesses> processes;

  private LoadedProgram(Object program, Optional<LocalProcesses> processes) {
    this.program = program;
    this.processes = processes;
  }

  /** Compiles all sources of a program. */
  static Map<String, byte[]> compile(
      ProgramCompiler compiler, JavaDescription description, Sources sources) throws IOException {
    SortedMap<String, String> texts = new TreeMap<>();
    read(description.className(), sources, texts);
    if (description.group().isPresent()) {
      for (String name : RuntimeSources.CLASSES) {
        read(description.className() + name, sources, texts);
      }
      for (JavaDescription.DevicePart part : description.group().get().parts()) {
        read(part.className(), sources, texts);
      }
    }
    return compiler.compile(texts);
  }

  private static void read(String className, Sources sources, Map<String, String> texts)
      throws IOException {
    if (!texts.containsKey(className)) {
      texts.put(className, sources.read(className.replace('.', '/') + ".java"));
    }
  }

  /**
   * Opens a program whose weights are in a folder.
   *
   * @param scratch an empty folder
   */
  static LoadedProgram open(
      JavaDescription description,
      Map<String, byte[]> classes,
      Path folder,
      Path scratch,
      DeviceHosting hosting)
      throws IOException, ReflectiveOperationException {
    Class<?> type = new ProgramLoader(classes).loadClass(description.className());
    if (description.group().isEmpty()) {
      Path weights = folder.resolve(description.weightsFile());
      return new LoadedProgram(
          type.getConstructor(Path.class).newInstance(weights), Optional.empty());
    }
    return switch (hosting) {
      case DeviceHosting.Threads threads ->
          new LoadedProgram(
              type.getMethod("open", Path.class).invoke(null, folder), Optional.empty());
      case DeviceHosting.Peers(String addresses, Path key) ->
          new LoadedProgram(
              type.getMethod("connect", Path.class, String.class, Path.class)
                  .invoke(null, folder, addresses, key),
              Optional.empty());
      case DeviceHosting.Processes local -> {
        LocalProcesses processes =
            new LocalProcesses(description, classes, folder.toAbsolutePath(), scratch);
        try {
          Object program =
              type.getMethod("connect", Path.class, String.class, Path.class, ServerSocket.class)
                  .invoke(null, folder, processes.peers(), processes.key(), processes.server());
          yield new LoadedProgram(program, Optional.of(processes));
        } catch (InvocationTargetException e) {
          processes.close();
          throw e;
        }
      }
    };
  }

  Object program() {
    return program;
  }

  Optional<LocalProcesses> processes() {
    return processes;
  }

  /** Ends the devices of a program for several devices. */
  @Override
  public void close() {
    if (program instanceof AutoCloseable devices) {
      try {
        devices.close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
    processes.ifPresent(LocalProcesses::close);
  }
}
