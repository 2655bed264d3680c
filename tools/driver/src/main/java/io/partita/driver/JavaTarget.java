package io.partita.driver;

import io.partita.backend.java.JavaBackend;
import io.partita.backend.java.JavaOptions;
import io.partita.driver.cases.JavaRunner;
import io.partita.driver.cases.ModuleRunner;
import java.util.Optional;

/**
 * Compilation to Java.
 *
 * @param options the names of the class and its package
 */
public record JavaTarget(JavaOptions options) implements CompilationTarget {
  /** Compilation to a class {@code Model} without package. */
  public static final JavaTarget USUAL = new JavaTarget(new JavaOptions("", "Model"));

  @Override
  public JavaBackend backend() {
    return new JavaBackend(options);
  }

  @Override
  public String name() {
    return "java";
  }

  @Override
  public ModuleRunner runner(Optional<Sharding> sharding) {
    return new JavaRunner(sharding);
  }
}
