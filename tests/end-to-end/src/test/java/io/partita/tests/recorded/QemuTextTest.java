package io.partita.tests.recorded;

import static io.partita.tests.recorded.TrainedModel.LARGE;
import static io.partita.tests.recorded.TrainedModel.TINY;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.cases.ModuleRunner;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Trained character-level Llamas in C write their text on bare metal, under QEMU, on one chip. */
@Timeout(600)
class QemuTextTest {
  @BeforeAll
  static void requireQemu() {
    EmittedC.requireQemu();
  }

  @Tag("thorough")
  @Test
  void smallModelWritesTheGreedyText() {
    writesTheGreedyText(TINY, 128);
  }

  @Tag("thorough")
  @Test
  void smallModelPrefillsPrompts() {
    prefillsPrompts(TINY, 32, 12);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0}, {1} characters")
  @CsvSource(LARGE + ", 32")
  void writesTheGreedyText(String name, int characters) {
    GreedyText.writes(TrainedModel.named(name), characters, EmittedC.underQemu());
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0}, a window of {1}, {2} characters")
  @CsvSource(LARGE + ", 12, 9")
  void prefillsPrompts(String name, int window, int characters) {
    PromptMode model = PromptMode.ofText(TrainedModel.named(name), window);
    try (ModuleRunner.Prepared program = EmittedC.underQemu().prepare(model.module())) {
      model.verifyLogits(program.run(model.inputs()).getFirst());
      assertThat(model.write(program, characters)).isEqualTo(model.text(characters));
    }
  }
}
