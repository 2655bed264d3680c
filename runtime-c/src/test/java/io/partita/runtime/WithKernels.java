package io.partita.runtime;

import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.opentest4j.TestAbortedException;

/** Hands tests the kernels, which are compiled once; without a compiler, the tests are skipped. */
final class WithKernels implements ParameterResolver {
  /** What is kept until the last test has run. */
  private record Compiled(Optional<Kernels> kernels) implements AutoCloseable {
    static Compiled with(Optional<CCompiler> compiler) {
      if (compiler.isEmpty()) {
        System.err.println(
            "NO C COMPILER: the C runtime is NOT TESTED; get one by: apt-get install gcc");
      }
      return new Compiled(compiler.map(Kernels::new));
    }

    @Override
    public void close() {
      kernels.ifPresent(Kernels::close);
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Kernels.class;
  }

  @Override
  public Kernels resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getRoot()
        .getStore(ExtensionContext.Namespace.create(WithKernels.class))
        .getOrComputeIfAbsent(
            Compiled.class, key -> new Resource(Compiled.with(CCompiler.find())), Resource.class)
        .compiled
        .kernels()
        .orElseThrow(() -> new TestAbortedException("no C compiler"));
  }

  /** JUnit closes these at the end. */
  private record Resource(Compiled compiled) implements ExtensionContext.Store.CloseableResource {
    @Override
    public void close() {
      compiled.close();
    }
  }
}
