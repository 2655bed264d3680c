package io.partita.golden;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Resolves parameters that are annotated with {@link Goldens}. */
final class GoldenExtension implements ParameterResolver {
  /** Called by JUnit. */
  GoldenExtension() {}

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    return parameter.isAnnotated(Goldens.class)
        && parameter.getParameter().getType() == GoldenFolder.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
    Goldens goldens = parameter.findAnnotation(Goldens.class).orElseThrow();
    return GoldenFolder.of(Path.of(goldens.value())).including(List.of(goldens.includes()));
  }
}
