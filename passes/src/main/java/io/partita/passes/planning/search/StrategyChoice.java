package io.partita.passes.planning.search;

import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.shard.Strategy.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * The strategies that a user allows. In text form: {@code auto}, kinds of split as in {@code
 * tensor} or {@code pipeline,tensor}, or a strategy with its numbers as in {@code
 * pipeline=2,tensor=4}.
 *
 * @param kinds the kinds of split that may be used
 * @param fixed the strategy, if its numbers are given
 * @param chosen the names of given options; the others are chosen by cost
 */
public record StrategyChoice(Set<Kind> kinds, Optional<Strategy> fixed, Set<String> chosen) {
  public static final StrategyChoice AUTO =
      new StrategyChoice(EnumSet.allOf(Kind.class), Optional.empty(), Set.of());

  /**
   * @throws io.partita.ir.diagnostic.PartitaException if it is none of these
   */
  public static StrategyChoice parse(String text) {
    if (text.strip().equals("auto")) {
      return AUTO;
    }
    List<String> words = Arrays.stream(text.split(",", -1)).map(String::strip).toList();
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    for (String word : words) {
      kind(word).ifPresent(kinds::add);
    }
    if (kinds.size() == words.size()) {
      return new StrategyChoice(kinds, Optional.empty(), Set.of());
    }
    Strategy strategy = Strategy.parse(text);
    strategy.parts().forEach(part -> kinds.add(part.kind()));
    return new StrategyChoice(kinds, Optional.of(strategy), names(words));
  }

  /** Returns the choice of one strategy, without variants. */
  public static StrategyChoice exactly(Strategy strategy) {
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    strategy.parts().forEach(part -> kinds.add(part.kind()));
    return new StrategyChoice(kinds, Optional.of(strategy), Set.of("norm", "vocabulary", "inside"));
  }

  private static Set<String> names(List<String> words) {
    Set<String> names = new java.util.TreeSet<>();
    words.forEach(word -> names.add(word.substring(0, word.indexOf('=')).strip()));
    return names;
  }

  private static Optional<Kind> kind(String word) {
    return Arrays.stream(Kind.values())
        .filter(kind -> kind.name().toLowerCase(Locale.ROOT).equals(word))
        .findFirst();
  }

  /**
   * Returns the splits over a number of devices, with default options and fewer kinds of split
   * first; for one device, a split into one part.
   */
  public List<Strategy> compositions(int devices) {
    if (fixed.isPresent()) {
      return fixed.get().devices() == devices ? List.of(fixed.get()) : List.of();
    }
    if (devices == 1) {
      return List.of(Strategy.of(new Strategy.Part(kinds.iterator().next(), 1)));
    }
    List<Strategy> found = new ArrayList<>();
    for (int stages = 1; stages <= devices; stages++) {
      for (int tokens = 1; tokens <= devices / stages; tokens++) {
        if (devices % (stages * tokens) == 0) {
          composition(stages, tokens, devices / stages / tokens).ifPresent(found::add);
        }
      }
    }
    found.sort(java.util.Comparator.comparingInt(strategy -> strategy.parts().size()));
    return found;
  }

  /** Sorts outermost first: neighbouring devices have the split with the most communication. */
  private Optional<Strategy> composition(int stages, int tokens, int parts) {
    List<Strategy.Part> all = new ArrayList<>();
    if (stages > 1) {
      all.add(new Strategy.Part(Kind.PIPELINE, stages));
    }
    if (tokens > 1) {
      all.add(new Strategy.Part(Kind.SEQUENCE, tokens));
    }
    if (parts > 1) {
      all.add(new Strategy.Part(Kind.TENSOR, parts));
    }
    return all.stream().allMatch(part -> kinds.contains(part.kind()))
        ? Optional.of(Strategy.of(all.toArray(Strategy.Part[]::new)))
        : Optional.empty();
  }

  /**
   * Returns variants of a strategy, each of which differs in one option that isn't given. One token
   * has a single norm, which can't be split, and only quantized products are split by columns.
   */
  public List<Strategy> variants(Strategy strategy, ModelFacts facts) {
    List<Strategy> found = new ArrayList<>();
    int tensor = strategy.devices(Kind.TENSOR);
    if (tensor == 1) {
      return found;
    }
    if (!chosen.contains("norm")) {
      for (Strategy.NormPlacement norm : Strategy.NormPlacement.values()) {
        boolean isSame =
            norm == Strategy.NormPlacement.TOKENS && facts.tokens() == 1
                || norm == Strategy.NormPlacement.COLUMNS && !facts.isQuantized();
        if (norm != strategy.norm() && !isSame) {
          found.add(strategy.with(norm));
        }
      }
    }
    if (!chosen.contains("vocabulary")) {
      found.add(
          strategy.withVocabulary(
              strategy.vocabulary() == Strategy.WeightPlacement.SPLIT
                  ? Strategy.WeightPlacement.REPLICATED
                  : Strategy.WeightPlacement.SPLIT));
    }
    inside(strategy, facts).ifPresent(found::add);
    return found;
  }

  /** Returns the strategy with several devices per head, if devices outnumber heads. */
  Optional<Strategy> inside(Strategy strategy, ModelFacts facts) {
    boolean isOpen =
        !chosen.contains("inside") && strategy.inside() == 1 && strategy.capacities().isEmpty();
    return isOpen
        ? inside(strategy.devices(Kind.TENSOR), facts.heads()).map(strategy::withInside)
        : Optional.empty();
  }

  /** Returns the least number of devices per head for which every device has one. */
  private static Optional<Integer> inside(int devices, long heads) {
    for (int inside = 2; inside <= devices && heads > 0 && devices > heads; inside++) {
      if (devices % inside == 0 && devices / inside <= heads) {
        return Optional.of(inside);
      }
    }
    return Optional.empty();
  }
}
