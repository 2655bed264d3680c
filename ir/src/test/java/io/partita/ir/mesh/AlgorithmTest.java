package io.partita.ir.mesh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AlgorithmTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"tree(2)", "tree(64)", "tree(4, pieces=8)", "hierarchical(4)", "ring", "direct"})
  void textsAreReadAndWritten(String text) {
    assertThat(Algorithm.parse(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tree", "tree(1)", "tree(4, pieces=0)", "tree(4,pieces=2)", "tree(4, 2)"})
  void othersAreRefused(String text) {
    assertThatThrownBy(() -> Algorithm.parse(text))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining(
            "tree(2) or more, tree(2, pieces=2) or more, hierarchical(2) or more, ring or direct")
        .hasMessageContaining(text);
  }
}
