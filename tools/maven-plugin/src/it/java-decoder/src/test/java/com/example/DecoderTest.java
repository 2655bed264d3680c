package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.partita.golden.GoldenFolder;
import io.partita.golden.Goldens;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DecoderTest {
  private static final Path PROGRAM = Path.of("target/generated-sources/partita/decoder");

  @Test
  void mostLikelyLetterAfterRIsO() throws Exception {
    Decoder decoder = Decoder.open(PROGRAM);
    assertEquals(27, best(decoder.step(30)));
    decoder.reset();
    assertEquals(27, best(decoder.step(30)));
  }

  private static int best(float[] scores) {
    int best = 0;
    for (int i = 1; i < scores.length; i++) {
      best = scores[i] > scores[best] ? i : best;
    }
    return best;
  }

  @Test
  void interfaceIsTheReviewedOne(
      @Goldens(value = "src/test/golden/decoder", includes = "model.json") GoldenFolder goldens) {
    goldens.assertMatches(PROGRAM);
  }
}
