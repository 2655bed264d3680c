package io.partita.passes.mesh.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.partita.ir.diagnostic.PartitaException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StrategyTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "tensor=8",
        "sequence=4",
        "pipeline=2,tensor=4",
        "tensor=4,pipeline=2,norm=root",
        "tensor=4,norm=tokens",
        "tensor=4,norm=columns",
        "tensor=8,inside=2,vocabulary=replicated",
        "tensor=3,remaining=replicated,capacities=2:1:0"
      })
  void textRoundTrips(String text) {
    assertThat(Strategy.parse(text)).hasToString(text);
    assertThat(Strategy.parse(Strategy.parse(text).toString())).isEqualTo(Strategy.parse(text));
  }

  @Test
  void devicesMultiply() {
    Strategy strategy = Strategy.parse(" pipeline = 2 , tensor = 4, sequence=3, norm=everywhere");
    assertThat(strategy.devices()).isEqualTo(24);
    assertThat(strategy.devices(Strategy.Kind.SEQUENCE)).isEqualTo(3);
    assertThat(Strategy.tensor(5).devices(Strategy.Kind.PIPELINE)).isEqualTo(1);
    assertThat(strategy)
        .isEqualTo(
            Strategy.of(
                new Strategy.Part(Strategy.Kind.PIPELINE, 2),
                new Strategy.Part(Strategy.Kind.TENSOR, 4),
                new Strategy.Part(Strategy.Kind.SEQUENCE, 3)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "\"\"|name=value, separated by commas|''",
        "tensor|name=value, separated by commas|'tensor'",
        "norm=root|kinds of split, each with a number of devices|nothing",
        "sequence=2,norm=root|tensor=N, which norm=root is for|no tensor=N",
        "pipeline=2,inside=2|tensor=N, which inside=2 is for|no tensor=N",
        "tensor=0|at least 1 device|tensor=0",
        "tensor=x|tensor=N|tensor=x",
        "tensor=2,tensor=4|each name once|'tensor=4'",
        "tensor=4,inside=3|a divisor of tensor=4|3",
        "tensor=2,capacities=1:2:3|a capacity for each of 2 devices|[1, 2, 3]",
        "tensor=2,capacities=0:0|capacities of at least 0, and at least one above 0|[0, 0]",
        "expert=4|one of tensor, sequence, pipeline, norm, inside, vocabulary, remaining, capacities"
            + "|'expert'"
      })
  void mistakesAreDiagnosed(String text, String expected, String found) {
    assertThatThrownBy(() -> Strategy.parse(text))
        .isInstanceOfSatisfying(
            PartitaException.class,
            told -> {
              assertThat(told.diagnostics()).hasSize(1);
              assertThat(told.diagnostics().getFirst().code()).isEqualTo(ShardCode.STRATEGY);
              assertThat(told.diagnostics().getFirst().where()).isEqualTo("strategy");
              assertThat(told.diagnostics().getFirst().expected()).isEqualTo(expected);
              assertThat(told.diagnostics().getFirst().found()).isEqualTo(found);
            });
  }

  @Test
  void misspelledNamesAreSuggested() {
    assertThat(remedy("tesnor=4")).isEqualTo("did you mean 'tensor'?");
    assertThat(remedy("tensor=4,nrom=tokens")).isEqualTo("did you mean 'norm'?");
    assertThat(remedy("tensor=4,norm=token")).isEqualTo("did you mean 'norm=tokens'?");
    assertThat(remedy("tesnor")).isEqualTo("did you mean 'tensor'?");
    assertThat(remedy("tensor")).startsWith("such as tensor=8");
  }

  private static String remedy(String strategy) {
    PartitaException refused =
        catchThrowableOfType(PartitaException.class, () -> Strategy.parse(strategy));
    return refused.diagnostics().getFirst().remedy();
  }

  @Test
  void capacitiesNeedNotBeAmountsOfBytes() {
    assertThat(Strategy.tensor(2).withCapacities(List.of(1L, 3L)))
        .hasToString("tensor=2,capacities=1:3");
  }
}
