package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProgramCompilerTest {
  @Test
  void emittedProgramsSeeTheJdkOnly() {
    try (ProgramCompiler compiler = new ProgramCompiler()) {
      Map<String, byte[]> classes =
          compiler.compile("Model", "final class Model { java.util.List<String> names; }");
      assertThat(classes).containsOnlyKeys("Model");
      assertThatThrownBy(
              () ->
                  compiler.compile("Model", "final class Model { io.partita.ir.type.Dim extent; }"))
          .isInstanceOf(PartitaException.class)
          .hasMessageContaining("P5005")
          .hasMessageContaining("package io.partita.ir.type does not exist");
    }
  }
}
