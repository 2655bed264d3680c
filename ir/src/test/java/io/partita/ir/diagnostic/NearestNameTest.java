package io.partita.ir.diagnostic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestNameTest {
  private static final List<String> KNOWN =
      List.of("tinyllama-42m-block", "tinyllama-42m", "vit-base", "simplify", "raise", "l2");

  @ParameterizedTest
  @CsvSource({
    "simplfy, simplify",
    "SIMPILFY, simplify",
    "tinylama-42m, tinyllama-42m",
    "tinylama, tinyllama-42m",
    "tinyllama-42, tinyllama-42m",
    "vit, vit-base",
    "l22, l2",
  })
  void misspeltOrShortenedNamesAreFound(String name, String meant) {
    assertThat(NearestName.of(name, KNOWN)).contains(meant);
  }

  @Test
  void othersAreNot() {
    for (String name : List.of("", "-", "raze", "base", "elephant", "l3")) {
      assertThat(NearestName.of(name, KNOWN)).as(name).isEmpty();
    }
    assertThat(NearestName.remedy("l3", KNOWN)).isEqualTo("correct the name");
    assertThat(NearestName.remedy("rais", KNOWN))
        .isEqualTo("correct the name: did you mean 'raise'?");
  }
}
