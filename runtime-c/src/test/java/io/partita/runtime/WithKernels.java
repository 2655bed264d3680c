package io.partita.runtime;

import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.opentest4j.TestAbortedException;

/** Hands tests the kernels, which run until the last test; without a compiler, they are skipped. */
final class WithKernels implements ParameterResolver {
  /** JUnit closes it at the end. */
  private record Running(Optional<Kernels> kernels)
      implements ExtensionContext.Store.CloseableResource {
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
            Running.class,
            key -> new Running(WithCompiler.compiler(context).map(Kernels::new)),
            Running.class)
        .kernels
        .orElseThrow(() -> new TestAbortedException("no C compiler"));
  }
}
