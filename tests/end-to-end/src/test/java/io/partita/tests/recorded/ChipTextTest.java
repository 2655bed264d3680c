package io.partita.tests.recorded;

import io.partita.driver.Distribution;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two trained character-level Llamas in C write the same text on any number of chips. */
@Timeout(600)
class ChipTextTest {
  /** The number of characters, including the prompt, that the larger one writes here. */
  private static final int ENOUGH = 48;

  @BeforeAll
  static void requireCompiler() {
    EmittedC.requireCompiler();
  }

  @ParameterizedTest(name = "{0} on {1} chips")
  @CsvSource(TrainedModel.TINY + ", 1")
  void chipsWriteTheGreedyText(String name, int chips) {
    writesTheGreedyText(name, chips);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} on {1} chips")
  @CsvSource(TrainedModel.TINY + ", 3")
  void chipsWriteTheTextOfALargeModel(String name, int chips) {
    chipsWriteTheGreedyText(name, chips);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} on {1} chips")
  @CsvSource({TrainedModel.TINY + ", 8", TrainedModel.LARGE + ", 3"})
  void otherNumbersOfChipsWriteTheGreedyText(String name, int chips) {
    writesTheGreedyText(name, chips);
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} on {1} chips")
  @CsvSource({TrainedModel.TINY + ", 4", TrainedModel.LARGE + ", 1", TrainedModel.LARGE + ", 8"})
  void moreNumbersOfChipsWriteTheGreedyText(String name, int chips) {
    otherNumbersOfChipsWriteTheGreedyText(name, chips);
  }

  private static void writesTheGreedyText(String name, int chips) {
    GreedyText.writes(
        TrainedModel.named(name), ENOUGH, EmittedC.runner(Distribution.strategy(chips, null)));
  }

  @ParameterizedTest(name = "{0} chips, {1}")
  @CsvSource("2, early")
  void sanitizersFindNothing(int chips, String transfers) {
    sanitizedWritesTheGreedyText(chips, transfers);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} chips, {1}")
  @CsvSource("1, late")
  void sanitizersFindNothingOnOneChip(int chips, String transfers) {
    sanitizersFindNothing(chips, transfers);
  }

  @Tag("exhaustive")
  @ParameterizedTest(name = "{0} chips, {1}")
  @CsvSource({"1, early", "2, late"})
  void sanitizersFindNothingInOtherOrders(int chips, String transfers) {
    sanitizedWritesTheGreedyText(chips, transfers);
  }

  private static void sanitizedWritesTheGreedyText(int chips, String transfers) {
    GreedyText.writes(
        TrainedModel.named(TrainedModel.TINY),
        ENOUGH,
        EmittedC.sanitised(Distribution.strategy(chips, null), transfers));
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = ';',
      value = {"pipeline=2,tensor=2", "tensor=4,norm=root"})
  void anyStrategyWritesTheGreedyText(String strategy) {
    GreedyText.writes(
        TrainedModel.named(TrainedModel.TINY),
        ENOUGH,
        EmittedC.runner(Distribution.strategy(null, strategy)));
  }
}
