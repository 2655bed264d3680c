package io.partita.driver.chip;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.TargetCode;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** What a schedule does by itself, and a user may switch off to see what it gains. */
public enum ScheduleSwitch {
  /** Tiles are copied between L2 and L1 while the cores work on others. */
  DOUBLE_BUFFER("double_buffer"),
  /** Weights are fetched from L3 before they're needed. */
  PREFETCH("prefetch");

  private final String text;

  ScheduleSwitch(String text) {
    this.text = text;
  }

  /** What {@code --set} calls it. */
  public String text() {
    return text;
  }

  /** All of them, as one would switch them off: {@code double_buffer=off, prefetch=off}. */
  public static String examples() {
    return Arrays.stream(values())
        .map(each -> each.text + "=off")
        .collect(Collectors.joining(", "));
  }

  /**
   * Those that settings name, which are removed there.
   *
   * @param settings texts by name
   * @throws PartitaException with {@link TargetCode#ARGUMENT} when one is neither on nor off
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
