package io.partita.driver.quantize;

import io.partita.driver.evaluate.Scaling;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.DoublePredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The options of a quantization as text, by which commands and passes name them. */
public final class QuantizationOptions {
  /** Makes the failure that says what an option takes. */
  public interface Refusal {
    RuntimeException wrong(String option, String expected, String found);
  }

  /** The option that has no default. */
  public static final String CALIBRATION = "calibration";

  /** The option of names that stay float. */
  static final String FLOAT = "float";

  private static final String NONE = "none";
  private static final List<String> INTEGER_OR_FLOAT = List.of("int8", FLOAT);

  private static final Map<String, RangeChoice> RANGES =
      Map.of(
          "minmax", RangeChoice.MIN_MAX,
          "percentile", RangeChoice.PERCENTILE,
          "mse", RangeChoice.MSE);

  private static final Map<String, String> USUAL =
      Map.ofEntries(
          Map.entry("array", "calibration"),
          Map.entry("weights", "int8"),
          Map.entry("group", "32"),
          Map.entry("activations", "int8"),
          Map.entry("attention", FLOAT),
          Map.entry("functions", FLOAT),
          Map.entry("residual", FLOAT),
          Map.entry("range", "mse"),
          Map.entry("percentile", "99.99"),
          Map.entry("smooth", "0"),
          Map.entry("max-error", NONE),
          Map.entry("samples", "32"),
          Map.entry("mean", "0"),
          Map.entry("std", "1"),
          Map.entry("threads", Integer.toString(Runtime.getRuntime().availableProcessors())));

  private final Map<String, String> given;
  private final Refusal refusal;

  private QuantizationOptions(Map<String, String> given, Refusal refusal) {
    this.given = given;
    this.refusal = refusal;
  }

  /** Returns the default of an option. */
  public static String usual(String option) {
    return USUAL.get(option);
  }

  /** Returns the names of all options. */
  static List<String> names() {
    return Stream.concat(Stream.of(CALIBRATION, FLOAT), USUAL.keySet().stream()).sorted().toList();
  }

  /**
   * @param given values by option, with one for {@link #CALIBRATION}
   * @param excluded the names of products, attentions, functions and sums that stay float
   * @throws RuntimeException of the refusal, for a value that an option doesn't take
   */
  public static QuantizationStep step(
      Map<String, String> given, List<String> excluded, Refusal refusal) {
    return new QuantizationOptions(given, refusal).step(excluded);
  }

  private QuantizationStep step(List<String> excluded) {
    Quantization.Settings settings =
        new Quantization.Settings(
            choice("weights", List.of("int8", "int4")).equals("int4") ? 4 : 8,
            count("group", 2),
            isInteger("activations"),
            isInteger("attention"),
            isInteger("functions"),
            isInteger("residual"),
            RANGES.get(choice("range", List.of("minmax", "percentile", "mse"))),
            number("percentile", value -> value > 50 && value <= 100, "a number above 50, to 100"),
            number("smooth", value -> value >= 0 && value <= 1, "a number from 0 to 1"),
            text("max-error").equals(NONE)
                ? Double.POSITIVE_INFINITY
                : number("max-error", value -> value > 0, "a number above 0"),
            excluded);
    Scaling scaling =
        new Scaling(
            number("mean", Double::isFinite, "a finite number"),
            number("std", value -> value > 0 && Double.isFinite(value), "a number above 0"));
    return new QuantizationStep(
        Path.of(given.get(CALIBRATION)),
        text("array"),
        scaling,
        count("samples", 1),
        count("threads", 1),
        settings);
  }

  private String text(String option) {
    return given.getOrDefault(option, usual(option));
  }

  private boolean isInteger(String option) {
    return choice(option, INTEGER_OR_FLOAT).equals("int8");
  }

  private String choice(String option, List<String> choices) {
    String chosen = text(option);
    if (!choices.contains(chosen)) {
      String others = choices.stream().limit(choices.size() - 1).collect(Collectors.joining(", "));
      throw refusal.wrong(option, others + " or " + choices.getLast(), chosen);
    }
    return chosen;
  }

  private int count(String option, int least) {
    double limit = Integer.MAX_VALUE;
    return (int)
        number(
            option,
            value -> value >= least && value <= limit && value == Math.rint(value),
            "a whole number of " + least + " or more");
  }

  private double number(String option, DoublePredicate fits, String expected) {
    String text = text(option);
    double value;
    try {
      value = Double.parseDouble(text);
    } catch (NumberFormatException notANumber) {
      throw refusal.wrong(option, expected, text);
    }
    if (!fits.test(value)) {
      throw refusal.wrong(option, expected, text);
    }
    return value;
  }
}
