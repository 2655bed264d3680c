package io.partita.backend.java;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An emitted program, compiled and loaded: runs on tensors in this Java. Not thread-safe. */
public final class ProgramRunner implements AutoCloseable {
  private final ModelDescription description;
  private final Object program;
  private final Method method;
  private final Path temporary;

  private ProgramRunner(
      ModelDescription description, Object program, Method method, Path temporary) {
    this.description = description;
    this.program = program;
    this.method = method;
    this.temporary = temporary;
  }

  /** Loads what {@link JavaBackend#emit} gave; the weights go to a file that closing deletes. */
  public static ProgramRunner load(ProgramCompiler compiler, EmittedProgram program) {
    try {
      EmittedFile source = program.files().get(0);
      EmittedFile weights = program.files().get(1);
      Path file = Files.createTempFile("partita-", ".weights");
      try {
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
          weights.content().writeTo(out);
        }
        return load(compiler, program.description(), source.text(), file, file);
      } catch (IOException | RuntimeException e) {
        Files.deleteIfExists(file);
        throw e;
      }
    } catch (IOException e) {
      throw unreadable(program.description().className(), e);
    }
  }

  /**
   * Loads a folder that {@link ProgramFolder#write} wrote.
   *
   * @throws PartitaException P5004 when it isn't one, P5005 when its source doesn't compile
   */
  public static ProgramRunner open(ProgramCompiler compiler, Path folder) {
    ModelDescription description = ModelDescription.read(folder);
    try {
      String path = description.className().replace('.', '/') + ".java";
      String source = Files.readString(folder.resolve(path));
      Path weights = folder.resolve(description.weightsFile());
      return load(compiler, description, source, weights, null);
    } catch (IOException | java.nio.file.InvalidPathException e) {
      throw unreadable(folder.toString(), e);
    }
  }

  private static PartitaException unreadable(String where, Exception e) {
    return new PartitaException(
        BackendCode.DESCRIPTOR,
        where,
        "the program's source and weights",
        e.getClass().getSimpleName() + ": " + e.getMessage(),
        "compile the model again");
  }

  private static ProgramRunner load(
      ProgramCompiler compiler,
      ModelDescription description,
      String source,
      Path weights,
      Path temporary)
      throws IOException {
    Map<String, byte[]> classes = compiler.compile(description.className(), source);
    try {
      Class<?> type = new ProgramLoader(classes).loadClass(description.className());
      Object program = type.getConstructor(Path.class).newInstance(weights);
      Class<?>[] parameters =
          description.inputs().stream()
              .map(port -> TensorArrays.typeOf(port.type().element()))
              .toArray(Class<?>[]::new);
      Method method = type.getMethod(description.kind().method(), parameters);
      return new ProgramRunner(description, program, method, temporary);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw failed(description.className(), e.getCause());
    } catch (ReflectiveOperationException e) {
      throw unreadable(description.className(), e);
    }
  }

  private static PartitaException failed(String where, Throwable cause) {
    return new PartitaException(
        BackendCode.PROGRAM_FAILED,
        where,
        "",
        cause.getClass().getSimpleName() + ": " + cause.getMessage(),
        "check the values of the inputs");
  }

  public ModelDescription description() {
    return description;
  }

  /**
   * The outputs in order.
   *
   * @param inputs one for each input of the description, of exactly its type
   * @throws PartitaException P5006 when an input doesn't fit, P5007 when the program throws
   */
  public List<Tensor> run(List<Tensor> inputs) {
    List<ModelDescription.Port> ports = description.inputs();
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
    return tensors(call(method, arguments));
  }

  private static PartitaException misfit(String where, String expected, String found) {
    return new PartitaException(
        BackendCode.PROGRAM_INPUT, where, expected, found, "give what model.json says");
  }

  /** Forgets a decoder's state; does nothing for a program without. */
  public void reset() {
    if (description.kind() == ModelDescription.Kind.DECODER) {
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
      throw failed(description.className(), e.getCause());
    } catch (IllegalAccessException e) {
      throw unreadable(description.className(), e);
    }
  }

  private List<Tensor> tensors(Object result) {
    List<ModelDescription.Port> ports = description.outputs();
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

  @Override
  public void close() {
    if (temporary != null) {
      try {
        Files.deleteIfExists(temporary);
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }
  }

  /** Defines the classes of one program; they go when the runner goes. */
  private static final class ProgramLoader extends ClassLoader {
    private final Map<String, byte[]> classes;

    ProgramLoader(Map<String, byte[]> classes) {
      super(ProgramRunner.class.getClassLoader());
      this.classes = classes;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      byte[] bytes = classes.get(name);
      if (bytes == null) {
        throw new ClassNotFoundException(name);
      }
      return defineClass(name, bytes, 0, bytes.length);
    }
  }
}
