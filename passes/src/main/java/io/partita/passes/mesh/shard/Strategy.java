package io.partita.passes.mesh.shard;

import io.partita.ir.diagnostic.NearestName;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A strategy of distribution: the kinds of split and their numbers of devices, outermost first, and
 * their options. In text form: {@code pipeline=2,tensor=4,norm=root}.
 *
 * @param norm the placement of norms after a reduction
 * @param inside the number of devices of {@code tensor} that share each head
 * @param vocabulary the placement of embeddings and of the linear that scores tokens
 * @param remaining the placement of linears that belong to no attention and no network
 * @param capacities the relative capacities of the devices of {@code tensor}; empty if they are
 *     equal
 */
public record Strategy(
    List<Part> parts,
    NormPlacement norm,
    int inside,
    WeightPlacement vocabulary,
    WeightPlacement remaining,
    List<Long> capacities) {
  /** A kind of split. */
  public enum Kind {
    /** Attention by heads, networks by their inner features: weights are split. */
    TENSOR,
    /** Tokens: weights are on all devices. */
    SEQUENCE,
    /** The sequence of blocks. */
    PIPELINE;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** A kind of split and its number of devices. */
  public record Part(Kind kind, int devices) {
    @Override
    public String toString() {
      return kind.text() + "=" + devices;
    }
  }

  /** The placement of norms after a reduction. */
  public enum NormPlacement {
    /** An all-reduce: all devices compute the norm. */
    EVERYWHERE,
    /** A reduction to one device, which adds the skip connection and broadcasts the norm. */
    ROOT,
    /** A reduce-scatter: each device computes the norm of its tokens, and all gather the norms. */
    TOKENS,
    /**
     * No sum of quantized products: they gather their operands, each device computes columns and
     * adds the skip connection to them, and all gather these and compute the norm.
     */
    COLUMNS
  }

  /** Whether weights are split. */
  public enum WeightPlacement {
    SPLIT,
    REPLICATED
  }

  private static final String EXAMPLE = "such as tensor=8, sequence=4 or pipeline=2,tensor=4";

  private static final List<String> NAMES =
      List.of(
          "tensor",
          "sequence",
          "pipeline",
          "norm",
          "inside",
          "vocabulary",
          "remaining",
          "capacities");

  public Strategy {
    parts = List.copyOf(parts);
    capacities = List.copyOf(capacities);
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    require(!parts.isEmpty(), "kinds of split, each with a number of devices", "nothing");
    for (Part part : parts) {
      require(kinds.add(part.kind()), "each kind of split at most once", part);
      require(part.devices() >= 1, "at least 1 device", part);
    }
    List<String> options = tensorOptions(norm, inside, vocabulary, remaining);
    require(
        options.isEmpty() || kinds.contains(Kind.TENSOR),
        "tensor=N, which " + String.join(",", options) + " is for",
        "no tensor=N");
    int tensor = devices(parts, Kind.TENSOR);
    require(inside >= 1 && tensor % inside == 0, "a divisor of tensor=" + tensor, inside);
    boolean fits = capacities.isEmpty() || capacities.size() == tensor && inside == 1;
    require(fits, "a capacity for each of " + tensor + " devices", capacities);
    boolean some = capacities.isEmpty() || capacities.stream().anyMatch(capacity -> capacity > 0);
    require(
        some && capacities.stream().allMatch(capacity -> capacity >= 0),
        "capacities of at least 0, and at least one above 0",
        capacities);
  }

  private static void require(boolean condition, String expected, Object found) {
    if (!condition) {
      throw ShardCode.STRATEGY.at("strategy", expected, found, EXAMPLE);
    }
  }

  private static int devices(List<Part> parts, Kind kind) {
    return parts.stream()
        .filter(part -> part.kind() == kind)
        .mapToInt(Part::devices)
        .findFirst()
        .orElse(1);
  }

  /** Returns the strategy that splits weights over equal devices. */
  public static Strategy tensor(int devices) {
    return of(new Part(Kind.TENSOR, devices));
  }

  public static Strategy sequence(int devices) {
    return of(new Part(Kind.SEQUENCE, devices));
  }

  public static Strategy pipeline(int devices) {
    return of(new Part(Kind.PIPELINE, devices));
  }

  public static Strategy of(Part... parts) {
    return new Strategy(
        List.of(parts),
        NormPlacement.EVERYWHERE,
        1,
        WeightPlacement.SPLIT,
        WeightPlacement.SPLIT,
        List.of());
  }

  public Strategy with(NormPlacement placement) {
    return new Strategy(parts, placement, inside, vocabulary, remaining, capacities);
  }

  public Strategy withInside(int devices) {
    return new Strategy(parts, norm, devices, vocabulary, remaining, capacities);
  }

  public Strategy withVocabulary(WeightPlacement placement) {
    return new Strategy(parts, norm, inside, placement, remaining, capacities);
  }

  public Strategy withRemaining(WeightPlacement placement) {
    return new Strategy(parts, norm, inside, vocabulary, placement, capacities);
  }

  public Strategy withCapacities(List<Long> proportions) {
    return new Strategy(parts, norm, inside, vocabulary, remaining, proportions);
  }

  /** Returns the number of devices of a kind of split; 1 if it is not used. */
  public int devices(Kind kind) {
    return devices(parts, kind);
  }

  /** Returns the number of all devices. */
  public int devices() {
    return parts.stream().mapToInt(Part::devices).reduce(1, Math::multiplyExact);
  }

  /**
   * Parses the text form.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link ShardCode#STRATEGY}
   */
  public static Strategy parse(String text) {
    Map<String, String> arguments = new LinkedHashMap<>();
    for (String argument : text.split(",", -1)) {
      String[] sides = argument.split("=", -1);
      if (sides.length != 2) {
        throw ShardCode.STRATEGY.at(
            "strategy",
            "name=value, separated by commas",
            "'" + argument.strip() + "'",
            NearestName.of(sides[0].strip(), NAMES)
                .filter(name -> !name.equals(sides[0].strip()))
                .map(NearestName::suggestion)
                .orElse(EXAMPLE));
      }
      String before = arguments.put(sides[0].strip(), sides[1].strip());
      require(before == null, "each name once", "'" + argument.strip() + "'");
    }
    return of(arguments);
  }

  /**
   * Creates a strategy from names and values, in the order of the mesh axes.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link ShardCode#STRATEGY}
   */
  public static Strategy of(Map<String, String> arguments) {
    List<Part> parts = new ArrayList<>();
    NormPlacement norm = NormPlacement.EVERYWHERE;
    int inside = 1;
    WeightPlacement vocabulary = WeightPlacement.SPLIT;
    WeightPlacement remaining = WeightPlacement.SPLIT;
    List<Long> capacities = List.of();
    for (Map.Entry<String, String> argument : arguments.entrySet()) {
      String name = argument.getKey();
      String value = argument.getValue();
      switch (name) {
        case "tensor" -> parts.add(new Part(Kind.TENSOR, number(name, value)));
        case "sequence" -> parts.add(new Part(Kind.SEQUENCE, number(name, value)));
        case "pipeline" -> parts.add(new Part(Kind.PIPELINE, number(name, value)));
        case "norm" -> norm = choice(name, value, NormPlacement.values());
        case "inside" -> inside = number(name, value);
        case "vocabulary" -> vocabulary = choice(name, value, WeightPlacement.values());
        case "remaining" -> remaining = choice(name, value, WeightPlacement.values());
        case "capacities" -> capacities = numbers(name, value);
        default ->
            throw ShardCode.STRATEGY.at(
                "strategy",
                "one of " + String.join(", ", NAMES),
                "'" + name + "'",
                NearestName.of(name, NAMES).map(NearestName::suggestion).orElse(EXAMPLE));
      }
    }
    return new Strategy(parts, norm, inside, vocabulary, remaining, capacities);
  }

  private static int number(String name, String value) {
    require(value.matches("[0-9]{1,9}"), name + "=N", name + "=" + value);
    return Integer.parseInt(value);
  }

  private static List<Long> numbers(String name, String value) {
    require(value.matches("[0-9]{1,15}(:[0-9]{1,15})*"), name + "=N:N:...", name + "=" + value);
    List<Long> numbers = new ArrayList<>();
    for (String each : value.split(":")) {
      numbers.add(Long.parseLong(each));
    }
    return numbers;
  }

  private static <E extends Enum<E>> E choice(String name, String value, E[] choices) {
    List<String> names = new ArrayList<>();
    for (E choice : choices) {
      names.add(text(choice));
      if (text(choice).equals(value)) {
        return choice;
      }
    }
    throw ShardCode.STRATEGY.at(
        "strategy",
        name + "=" + String.join("|", names),
        name + "=" + value,
        NearestName.of(value, names)
            .map(near -> NearestName.suggestion(name + "=" + near))
            .orElse(EXAMPLE));
  }

  private static String text(Enum<?> choice) {
    return choice.name().toLowerCase(Locale.ROOT);
  }

  /** The text of options of {@code tensor} that aren't the default ones. */
  private static List<String> tensorOptions(
      NormPlacement norm, int inside, WeightPlacement vocabulary, WeightPlacement remaining) {
    List<String> options = new ArrayList<>();
    if (norm != NormPlacement.EVERYWHERE) {
      options.add("norm=" + text(norm));
    }
    if (inside > 1) {
      options.add("inside=" + inside);
    }
    if (vocabulary != WeightPlacement.SPLIT) {
      options.add("vocabulary=" + text(vocabulary));
    }
    if (remaining != WeightPlacement.SPLIT) {
      options.add("remaining=" + text(remaining));
    }
    return options;
  }

  /** Returns the text form without default options. */
  @Override
  public String toString() {
    List<String> words = new ArrayList<>();
    parts.forEach(part -> words.add(part.toString()));
    words.addAll(tensorOptions(norm, inside, vocabulary, remaining));
    if (!capacities.isEmpty()) {
      words.add(
          "capacities="
              + capacities.stream().map(String::valueOf).collect(Collectors.joining(":")));
    }
    return String.join(",", words);
  }
}
