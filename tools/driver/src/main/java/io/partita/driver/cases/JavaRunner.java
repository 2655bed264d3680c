package io.partita.driver.cases;

import io.partita.backend.java.JavaBackend;
import io.partita.backend.java.JavaOptions;
import io.partita.backend.java.ProgramCompiler;
import io.partita.backend.java.ProgramRunner;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import java.util.List;

/** Emits modules as Java, compiles the source and runs it. */
public final class JavaRunner implements ModuleRunner {
  private static final JavaOptions OPTIONS = new JavaOptions("", "Model");

  private final ProgramCompiler compiler = new ProgramCompiler();

  @Override
  public Prepared prepare(Module module) {
    ProgramRunner program = ProgramRunner.load(compiler, JavaBackend.emit(module, OPTIONS));
    return new Prepared() {
      @Override
      public List<Tensor> run(List<Tensor> inputs) {
        return program.run(inputs);
      }

      @Override
      public void close() {
        program.close();
      }
    };
  }
}
