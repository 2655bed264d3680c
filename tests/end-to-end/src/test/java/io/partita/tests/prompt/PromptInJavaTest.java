package io.partita.tests.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A decoder writes the same text with whole prompts, in chunks and token by token. */
class PromptInJavaTest {
  private static List<Integer> tokenByToken;

  @TempDir Path folder;

  @BeforeAll
  static void writeTokenByToken(@TempDir Path first) {
    tokenByToken = PromptedDecoder.inJava(1, 1, first.resolve("out"));
  }

  @ParameterizedTest(name = "{0} tokens at once on {1} devices")
  @CsvSource({"3, 1", "7, 1", "32, 1", "3, 2", "5, 3"})
  void chunksWriteTheSameText(long chunk, int devices) {
    assertThat(PromptedDecoder.inJava(chunk, devices, folder.resolve("out")))
        .isEqualTo(tokenByToken);
  }
}
