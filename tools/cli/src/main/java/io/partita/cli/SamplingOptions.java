package io.partita.cli;

import io.partita.driver.text.Sampler;
import io.partita.driver.text.StopTokens;
import io.partita.driver.text.Tokens;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Options for the choice of each token and for the end of a text. */
final class SamplingOptions {
  @Option(
      names = "--temperature",
      paramLabel = "T",
      description =
          "Choose randomly, by the probabilities of the logits divided by T; 0, the default,"
              + " chooses the likeliest token.")
  double temperature;

  @Option(
      names = "--top-k",
      paramLabel = "K",
      description = "Choose among the K likeliest tokens; by default among all.")
  int topK;

  @Option(
      names = "--top-p",
      paramLabel = "P",
      description =
          "Choose among the fewest likeliest tokens whose probabilities add up to P; by default"
              + " among all.")
  double topP = 1;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "The same seed gives the same text; by default a new one, which is printed.")
  Long seed;

  @Option(
      names = "--stop",
      paramLabel = "TOKEN",
      description =
          "End at this token: its text or its id. May be given several times; by default the ends"
              + " of a sequence that the configuration beside the tokenizer names.")
  List<String> stops = List.of();

  @Option(
      names = "--ignore-eos",
      description = "Don't end at the ends of a sequence that the configuration names.")
  boolean ignoreEnds;

  void verify(CommandSpec spec) {
    require(temperature >= 0 && temperature <= 100, "--temperature", "0 to 100", temperature, spec);
    require(topK >= 0, "--top-k", "0 (all) or more", topK, spec);
    require(topP > 0 && topP <= 1, "--top-p", "more than 0, up to 1", topP, spec);
    if (temperature == 0 && (topK > 1 || topP < 1 || seed != null)) {
      throw new ParameterException(
          spec.commandLine(),
          "--top-k, --top-p and --seed are for random choices: give --temperature too, such as 0.8");
    }
  }

  private static void require(
      boolean valid, String option, String expected, Object found, CommandSpec spec) {
    if (!valid) {
      throw new ParameterException(
          spec.commandLine(), option + " takes a number of " + expected + ", not " + found);
    }
  }

  /** The seed of random choices; empty if the likeliest token is chosen. */
  OptionalLong seed() {
    if (temperature == 0) {
      return OptionalLong.empty();
    }
    if (seed == null) {
      seed = (long) ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE);
    }
    return OptionalLong.of(seed);
  }

  Sampler sampler() {
    return new Sampler(temperature, topK, topP, seed().orElse(0));
  }

  Set<Integer> stops(Tokens tokens) {
    Set<Integer> ids = new TreeSet<>();
    stops.forEach(each -> ids.add(StopTokens.named(each, tokens)));
    if (!ignoreEnds && stops.isEmpty()) {
      ids.addAll(StopTokens.configured(tokens));
    }
    return ids;
  }
}
