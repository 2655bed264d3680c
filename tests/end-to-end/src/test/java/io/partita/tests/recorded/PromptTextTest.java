package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.Distribution;
import io.partita.driver.cases.ModuleRunner;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two trained character-level Llamas in C that take all tokens at once, on any number of chips. */
@Timeout(600)
@Tag("thorough")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PromptTextTest {
  /** The number of characters, including the prompt; each takes a run on the whole window. */
  private static final int ENOUGH = 24;

  private final Map<String, PromptMode> models = new TreeMap<>();

  @BeforeAll
  static void requireCompiler() {
    EmittedC.requireCompiler();
  }

  /** Java's results are computed once for all numbers of chips. */
  private PromptMode model(String name) {
    return models.computeIfAbsent(name, any -> PromptMode.ofRecord(TrainedModel.named(name)));
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} on {1} chips")
  @CsvSource({
    TrainedModel.TINY + ", 1",
    TrainedModel.TINY + ", 2",
    TrainedModel.TINY + ", 4",
    TrainedModel.TINY + ", 8",
    TrainedModel.LARGE + ", 1",
    TrainedModel.LARGE + ", 3",
    TrainedModel.LARGE + ", 4",
    TrainedModel.LARGE + ", 8"
  })
  void otherNumbersOfChipsGenerateTheTextOfJava(String name, int chips) {
    chipsGenerateTheTextOfJava(name, chips);
  }

  @ParameterizedTest(name = "{0} on {1} chips")
  @CsvSource({TrainedModel.TINY + ", 3", TrainedModel.LARGE + ", 2"})
  void chipsGenerateTheTextOfJava(String name, int chips) {
    PromptMode model = model(name);
    ModuleRunner runner = EmittedC.runner(Distribution.strategy(chips, null));
    try (ModuleRunner.Prepared program = runner.prepare(model.module())) {
      model.verifyLogits(program.run(model.inputs()).getFirst());
      assertThat(model.write(program, ENOUGH)).isEqualTo(model.text(ENOUGH));
    }
  }
}
