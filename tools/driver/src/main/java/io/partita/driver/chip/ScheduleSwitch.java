package io.partita.driver.chip;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.TargetCode;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Choices of the scheduler that a user may switch on or off. */
public enum ScheduleSwitch {
  /** Copies tiles between L2 and L1 while the cores work on others. */
  DOUBLE_BUFFER("double_buffer", true),
  /** Fetches weights from L3 before they are needed. */
  PREFETCH("prefetch", true),
  /** Keeps small values in L1 from one loop to the next. */
  NEAR_VALUES("near_values", true),
  /** Sends parts of results while the cores compute the next parts. */
  OVERLAP("overlap", true),
  /** Loads as few bytes from L3 as possible, even where loading more takes less time. */
  LEAST_TRAFFIC("least_traffic", false);

  private final String text;
  private final boolean isUsual;

  ScheduleSwitch(String text, boolean isUsual) {
    this.text = text;
    this.isUsual = isUsual;
  }

  /** The name in {@code --set}. */
  public String text() {
    return text;
  }

  static List<String> names() {
    return Arrays.stream(values()).map(each -> each.text).toList();
  }

  /**
   * The settings that switch each of them: {@code double_buffer=off, prefetch=off, near_values=off,
   * overlap=off, least_traffic=on}.
   */
  public static String examples() {
    return Arrays.stream(values())
        .map(each -> each.text + (each.isUsual ? "=off" : "=on"))
        .collect(Collectors.joining(", "));
  }

  /**
   * Returns the switches in the settings, and removes them there.
   *
   * @param settings values by name
   * @throws PartitaException with {@link TargetCode#ARGUMENT} if one is neither on nor off
   */
  public static Map<ScheduleSwitch, Boolean> takeFrom(Map<String, String> settings) {
    Map<ScheduleSwitch, Boolean> switches = new EnumMap<>(ScheduleSwitch.class);
    for (ScheduleSwitch each : values()) {
      Optional.ofNullable(settings.remove(each.text))
          .ifPresent(value -> switches.put(each, each.isOn(value)));
    }
    return switches;
  }

  private boolean isOn(String value) {
    return switch (value) {
      case "on" -> true;
      case "off" -> false;
      default ->
          throw new PartitaException(
              TargetCode.ARGUMENT,
              "option --set",
              text + "=on or " + text + "=off",
              text + "=" + value,
              "choose one of them");
    };
  }
}
