package io.partita.driver.cases;

import io.partita.backend.java.DeviceHosting;
import io.partita.backend.java.EmittedJava;
import io.partita.backend.java.ProgramCompiler;
import io.partita.backend.java.ProgramRunner;
import io.partita.driver.Distribution;
import io.partita.driver.JavaTarget;
import io.partita.driver.Sharding;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** Emits modules as Java, for one device or several, compiles the source and runs it. */
public final class JavaRunner implements ModuleRunner {
  private final ProgramCompiler compiler = new ProgramCompiler();
  private final Optional<Sharding> sharding;
  private final DeviceHosting hosting;

  /** A runner for one device, unless a module has a mesh. */
  public JavaRunner() {
    this(Optional.empty());
  }

  /**
   * @param sharding the distribution over devices, each a thread; empty for one device
   */
  public JavaRunner(Optional<Sharding> sharding) {
    this(sharding, new DeviceHosting.Threads());
  }

  /** The same with another location of the devices. */
  public JavaRunner(Optional<Sharding> sharding, DeviceHosting hosting) {
    this.sharding = sharding;
    this.hosting = hosting;
  }

  private EmittedJava emit(Module module) {
    Module distributed = sharding.map(chosen -> chosen.run(module)).orElse(module);
    return JavaTarget.USUAL.backend().emit(Distribution.program(distributed), Optional.empty());
  }

  @Override
  public Prepared prepare(Module module) {
    ProgramRunner program = ProgramRunner.load(compiler, emit(module), hosting);
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
