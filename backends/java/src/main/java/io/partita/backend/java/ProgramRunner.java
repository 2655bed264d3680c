package io.partita.backend.java;

import io.partita.backend.emitted.Backend;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.RefusedInput;
import io.partita.ir.file.FileFailure;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * An emitted program, compiled and loaded into this JVM, which runs on tensors. Not thread-safe.
 */
public final class ProgramRunner implements AutoCloseable {
  private final JavaDescription description;
  private final LoadedProgram loaded;
  private final Object program;
  private final Method method;
  private final Optional<Method> chunk;
  private final ScratchFolder scratch;

  private ProgramRunner(
      JavaDescription description,
      LoadedProgram loaded,
      Method method,
      Optional<Method> chunk,
      ScratchFolder scratch) {
    this.description = description;
    this.loaded = loaded;
    this.program = loaded.program();
    this.method = method;
    this.chunk = chunk;
    this.scratch = scratch;
  }

  /** As {@link #load(ProgramCompiler, EmittedJava, DeviceHosting)}, with devices as threads. */
  public static ProgramRunner load(ProgramCompiler compiler, EmittedJava program) {
    return load(compiler, program, new DeviceHosting.Threads());
  }

  /** Loads a program from {@link JavaBackend#emit}; closing deletes the files of its weights. */
  public static ProgramRunner load(
      ProgramCompiler compiler, EmittedJava program, DeviceHosting hosting) {
    return load(
        compiler,
        program.description(),
        path -> ProgramFiles.source(program, path),
        scratch -> {
          try {
            ProgramFiles.writeWeights(program, scratch);
          } catch (IOException e) {
            throw ScratchFolder.unwritable(scratch, e);
          }
          return scratch;
        },
        hosting);
  }

  /** As {@link #open(ProgramCompiler, Path, DeviceHosting)}, with devices as threads. */
  public static ProgramRunner open(ProgramCompiler compiler, Path folder) {
    return open(compiler, folder, new DeviceHosting.Threads());
  }

  /**
   * Loads a folder that {@link Backend#write} wrote.
   *
   * @throws PartitaException P5004 if it isn't one, P5005 if its source doesn't compile, P5010 to
   *     P5015 if its devices can't be reached, P5017 if their key can't be used
   */
  public static ProgramRunner open(ProgramCompiler compiler, Path folder, DeviceHosting hosting) {
    JavaDescription description = JavaDescription.read(folder);
    return load(
        compiler,
        description,
        path -> Files.readString(folder.resolve(path)),
        scratch -> folder,
        hosting);
  }

  /**
   * Runs a device other than the first of a program in a folder, until the first one ends.
   *
   * @param peers {@code host:port} of each device, separated by commas
   * @param key the file of the devices' shared key
   * @throws PartitaException as {@link #open(ProgramCompiler, Path, DeviceHosting)}, and P5012 when
   *     the first device ends unexpectedly
   */
  public static void serve(
      ProgramCompiler compiler, Path folder, int device, String peers, Path key) {
    JavaDescription description = JavaDescription.read(folder);
    try {
      Map<String, byte[]> classes =
          LoadedProgram.compile(
              compiler, description, path -> Files.readString(folder.resolve(path)));
      new ProgramLoader(classes)
          .loadClass(description.className())
          .getMethod("serve", Path.class, int.class, String.class, Path.class)
          .invoke(null, folder, device, peers, key);
    } catch (InvocationTargetException e) {
      throw notOpened(description, e.getCause());
    } catch (IOException | InvalidPathException | ReflectiveOperationException e) {
      throw unreadable(folder.toString(), e);
    }
  }

  private static PartitaException unreadable(String where, Exception e) {
    return new PartitaException(
        BackendCode.DESCRIPTOR,
        where,
        "the program's source and weights",
        switch (e) {
          case IOException file -> FileFailure.words(Path.of(where), file);
          case ClassNotFoundException _ -> "no class " + e.getMessage();
          case NoSuchMethodException _ -> "no method " + e.getMessage().split("\\(")[0];
          default -> words(e);
        },
        "compile the model again");
  }

  private static String words(Throwable thrown) {
    return Objects.requireNonNullElse(thrown.getMessage(), thrown.getClass().getSimpleName());
  }

  /** Says where the weights are. */
  private interface Weights {
    Path in(Path scratch) throws IOException;
  }

  private static ProgramRunner load(
      ProgramCompiler compiler,
      JavaDescription description,
      LoadedProgram.Sources sources,
      Weights weights,
      DeviceHosting hosting) {
    ScratchFolder scratch = null;
    try {
      scratch = new ScratchFolder();
      Map<String, byte[]> classes = LoadedProgram.compile(compiler, description, sources);
      LoadedProgram loaded =
          LoadedProgram.open(
              description, classes, weights.in(scratch.path()), scratch.path(), hosting);
      Method method = method(loaded, description.method(), description.whole().inputs());
      Optional<Method> chunk = Optional.empty();
      if (description.whole().chunk().isPresent()) {
        List<ProgramInterface.Port> inputs = description.whole().chunk().get().inputs();
        chunk = Optional.of(method(loaded, JavaDescription.CHUNK, inputs));
      }
      ProgramRunner runner = new ProgramRunner(description, loaded, method, chunk, scratch);
      scratch = null;
      return runner;
    } catch (InvocationTargetException e) {
      throw notOpened(description, e.getCause());
    } catch (IOException | InvalidPathException | ReflectiveOperationException e) {
      throw unreadable(description.className(), e);
    } finally {
      if (scratch != null) {
        scratch.close();
      }
    }
  }

  private static Method method(
      LoadedProgram loaded, String name, List<ProgramInterface.Port> inputs)
      throws NoSuchMethodException {
    Class<?>[] parameters =
        inputs.stream()
            .map(port -> TensorArrays.typeOf(port.type().element()))
            .toArray(Class<?>[]::new);
    return loaded.program().getClass().getMethod(name, parameters);
  }

  private static PartitaException notOpened(JavaDescription description, Throwable cause) {
    return cause instanceof IOException file
        ? unreadable(description.className(), file)
        : failed(description, cause);
  }

  private static PartitaException failed(JavaDescription description, Throwable cause) {
    return RefusedInput.in(String.valueOf(cause.getMessage()))
        .or(() -> DeviceFailures.diagnostic(description, cause))
        .orElseGet(
            () ->
                new PartitaException(
                    BackendCode.PROGRAM_FAILED,
                    description.className(),
                    "",
                    words(cause),
                    "check the values of the inputs"));
  }

  public JavaDescription description() {
    return description;
  }

  /**
   * Returns the outputs in order.
   *
   * @param inputs one for each input of the description, of exactly its type
   * @throws PartitaException P5006 if an input doesn't fit, P5007 if the program throws
   */
  public List<Tensor> run(List<Tensor> inputs) {
    return run(method, description.whole().inputs(), inputs, description.whole().outputs());
  }

  /**
   * Returns the outputs for several tokens at once, in order.
   *
   * @param inputs one for each input of the description's chunk, of exactly its type
   * @throws PartitaException as {@link #run(List)}
   */
  public List<Tensor> chunk(List<Tensor> inputs) {
    ProgramInterface.Chunk own = description.whole().chunk().orElseThrow();
    return run(chunk.orElseThrow(), own.inputs(), inputs, own.outputs());
  }

  private List<Tensor> run(
      Method called,
      List<ProgramInterface.Port> ports,
      List<Tensor> inputs,
      List<ProgramInterface.Port> outputs) {
    if (inputs.size() != ports.size()) {
      throw misfit("", ports.size() + " inputs", inputs.size() + "");
    }
    Object[] arguments = new Object[inputs.size()];
    for (int i = 0; i < arguments.length; i++) {
      TensorType expected = ports.get(i).type();
      if (!inputs.get(i).type().equals(expected)) {
        String where = "input \"" + ports.get(i).name() + "\"";
        throw misfit(where, expected.toString(), inputs.get(i).type().toString());
      }
      arguments[i] = TensorArrays.of(inputs.get(i));
    }
    return tensors(outputs, call(called, arguments));
  }

  private static PartitaException misfit(String where, String expected, String found) {
    return new PartitaException(
        BackendCode.PROGRAM_INPUT,
        where,
        expected,
        found,
        "give inputs of the types in model.json");
  }

  /** Resets a decoder's state; does nothing for a program without state. */
  public void reset() {
    if (description.whole().isDecoder()) {
      try {
        call(program.getClass().getMethod("reset"));
      } catch (NoSuchMethodException e) {
        throw unreadable(description.className(), e);
      }
    }
  }

  private Object call(Method called, Object... arguments) {
    try {
      return called.invoke(program, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw failed(description, e.getCause());
    } catch (IllegalAccessException e) {
      throw unreadable(description.className(), e);
    }
  }

  private List<Tensor> tensors(List<ProgramInterface.Port> ports, Object result) {
    List<Tensor> tensors = new ArrayList<>();
    if (ports.size() == 1) {
      tensors.add(TensorArrays.tensor(ports.getFirst().type(), result));
    } else if (result != null) {
      RecordComponent[] components = result.getClass().getRecordComponents();
      for (int i = 0; i < ports.size(); i++) {
        Object array = call(components[i], result);
        tensors.add(TensorArrays.tensor(ports.get(i).type(), array));
      }
    }
    return tensors;
  }

  private Object call(RecordComponent component, Object result) {
    try {
      return component.getAccessor().invoke(result);
    } catch (ReflectiveOperationException e) {
      throw unreadable(description.className(), e);
    }
  }

  /** The processes of devices 1 and up, if they run as processes on this computer. */
  List<Process> processes() {
    return loaded.processes().map(LocalProcesses::processes).orElse(List.of());
  }

  @Override
  public void close() {
    try (scratch) {
      loaded.close();
    }
  }
}
