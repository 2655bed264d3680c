package io.partita.tests.matrix;

import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.shard.Strategy.Kind;
import io.partita.passes.mesh.shard.Strategy.NormPlacement;
import io.partita.passes.mesh.shard.Strategy.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/** The matrix of models, strategies and numbers of devices. */
final class Matrix {
  static final List<Integer> DEVICES = List.of(1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 64);

  /**
   * A run that must agree with the run on one device.
   *
   * @param numbers the kind of numbers in the model
   * @param kind the strategy's text without numbers, for the report
   */
  record Cell(
      Subject subject,
      Numbers numbers,
      String kind,
      Strategy strategy,
      Engine engine,
      Outcome outcome) {
    @Override
    public String toString() {
      return subject + " " + strategy + " " + engine + ": " + outcome;
    }
  }

  private Matrix() {}

  /** Returns all strategies for a number of devices, with combinations if it isn't prime. */
  static List<Strategy> strategies(int devices) {
    List<Strategy> strategies = new ArrayList<>();
    strategies.add(Strategy.tensor(devices));
    strategies.add(Strategy.tensor(devices).with(NormPlacement.ROOT));
    strategies.add(Strategy.sequence(devices));
    strategies.add(Strategy.pipeline(devices));
    if (devices > 2 && devices % 2 == 0) {
      Part half = new Part(Kind.TENSOR, devices / 2);
      strategies.add(Strategy.of(new Part(Kind.PIPELINE, 2), half));
      strategies.add(Strategy.of(new Part(Kind.SEQUENCE, 2), half));
    }
    return strategies;
  }

  /** Returns a strategy's text without numbers. */
  static String kind(Strategy strategy) {
    List<String> words = new ArrayList<>();
    strategy.parts().forEach(part -> words.add(part.kind().name().toLowerCase(Locale.ROOT)));
    String suffix = strategy.norm() == NormPlacement.ROOT ? ", norm on root" : "";
    return String.join(" x ", words) + suffix;
  }

  /** Runs a model in several ways and reports each result. */
  static void run(
      Subject subject,
      Subject.Loaded loaded,
      Map<Engine, List<Strategy>> strategies,
      Consumer<Cell> results) {
    Distribution distribution = new Distribution(loaded);
    strategies.forEach(
        (engine, some) -> {
          for (Strategy strategy : some) {
            Outcome outcome = distribution.on(strategy, engine);
            results.accept(
                new Cell(
                    subject, distribution.numbers(), kind(strategy), strategy, engine, outcome));
          }
        });
  }
}
