package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.partita.golden.GoldenFolder;
import io.partita.golden.Goldens;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DecoderTest {
  private static final Path PROGRAM = Path.of("target/generated-sources/partita/decoder");
  private static final String LETTERS =
      "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

  @Test
  void writesTheTextOfTheReadme() throws Exception {
    Decoder decoder = Decoder.open(PROGRAM);
    assertEquals("\nThe sense the", continued(decoder, "ROMEO:", 14));
    decoder.reset();
    assertEquals("\nThe sense the", continued(decoder, "ROMEO:", 14));
  }

  private static String continued(Decoder decoder, String prompt, int count) {
    float[] scores = {};
    for (char letter : prompt.toCharArray()) {
      scores = decoder.step(LETTERS.indexOf(letter));
    }
    StringBuilder text = new StringBuilder();
    while (text.length() < count) {
      int next = best(scores);
      text.append(LETTERS.charAt(next));
      scores = decoder.step(next);
    }
    return text.toString();
  }

  private static int best(float[] scores) {
    int best = 0;
    for (int i = 1; i < scores.length; i++) {
      best = scores[i] > scores[best] ? i : best;
    }
    return best;
  }

  @Test
  void interfaceIsReviewed(
      @Goldens(value = "src/test/golden/decoder", includes = "model.json") GoldenFolder goldens) {
    goldens.assertMatches(PROGRAM);
  }
}
