package io.partita.tests.recorded;

import static io.partita.tests.recorded.TrainedModel.LARGE;
import static io.partita.tests.recorded.TrainedModel.TINY;
import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.Distribution;
import io.partita.driver.cases.ModuleRunner;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Trained character-level Llamas in C write their text on simulated Siracusa chips. The larger
 * one's prompt has 7 characters.
 */
@Timeout(3600)
class SimulatedTextTest {
  @BeforeAll
  static void requireGvsoc() {
    EmittedC.requireGvsoc();
  }

  @ParameterizedTest(name = "{0}, {2} characters on {1} chips")
  @CsvSource({
    TINY + ", 1, 40",
    TINY + ", 2, 40",
    TINY + ", 8, 24",
    LARGE + ", 1, 20",
    LARGE + ", 2, 16",
    LARGE + ", 3, 16",
    LARGE + ", 4, 16",
    LARGE + ", 8, 20"
  })
  void chipsWriteTheGreedyText(String name, int chips, int characters) {
    GreedyText.writes(
        TrainedModel.named(name),
        characters,
        EmittedC.simulated(Distribution.strategy(chips, null)));
  }

  @ParameterizedTest(name = "{0}, {3} characters on {1} chips in a window of {2}")
  @CsvSource({
    TINY + ", 2, 24, 10",
    LARGE + ", 1, 9, 8",
    LARGE + ", 2, 9, 8",
    LARGE + ", 3, 9, 8",
    LARGE + ", 4, 9, 8",
    LARGE + ", 8, 9, 8"
  })
  void chipsPrefillPrompts(String name, int chips, int window, int characters) {
    PromptMode model = PromptMode.ofText(TrainedModel.named(name), window);
    ModuleRunner runner = EmittedC.simulated(Distribution.strategy(chips, null));
    try (ModuleRunner.Prepared program = runner.prepare(model.module())) {
      model.verifyLogits(program.run(model.inputs()).getFirst());
      assertThat(model.write(program, characters)).isEqualTo(model.text(characters));
    }
  }
}
