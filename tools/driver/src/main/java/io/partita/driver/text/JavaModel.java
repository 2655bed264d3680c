package io.partita.driver.text;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.java.DeviceHosting;
import io.partita.backend.java.EmittedJava;
import io.partita.backend.java.ProgramCompiler;
import io.partita.backend.java.ProgramRunner;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.List;

/** A Java program, compiled and loaded. */
public final class JavaModel implements CompiledModel {
  private final ProgramCompiler compiler = new ProgramCompiler();
  private final ProgramRunner program;

  /**
   * Opens a folder that {@code partita compile --target java} wrote.
   *
   * @throws io.partita.ir.diagnostic.PartitaException if it can't be opened
   */
  public JavaModel(Path folder, DeviceHosting hosting) {
    try {
      program = ProgramRunner.open(compiler, folder, hosting);
    } catch (RuntimeException e) {
      compiler.close();
      throw e;
    }
  }

  /** Compiles and loads a program of a backend, with devices as threads. */
  public JavaModel(EmittedJava emitted) {
    try {
      program = ProgramRunner.load(compiler, emitted);
    } catch (RuntimeException e) {
      compiler.close();
      throw e;
    }
  }

  @Override
  public ProgramInterface description() {
    return program.description().whole();
  }

  @Override
  public List<Tensor> run(List<Tensor> inputs) {
    return program.run(inputs);
  }

  @Override
  public List<Tensor> runChunk(List<Tensor> inputs) {
    return program.chunk(inputs);
  }

  @Override
  public void reset() {
    program.reset();
  }

  @Override
  public void close() {
    try (compiler) {
      program.close();
    }
  }
}
