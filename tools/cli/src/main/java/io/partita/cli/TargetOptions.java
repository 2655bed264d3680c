package io.partita.cli;

import io.partita.driver.chip.ChipTarget;
import io.partita.driver.chip.ScheduleSwitch;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetCode;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** What changes a target. */
final class TargetOptions {
  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description =
          "Set a parameter of the target, or the size of a memory, such as l3=128MiB; for C also"
              + " double_buffer=off or prefetch=off. May be given several times.")
  Map<String, String> settings = new LinkedHashMap<>();

  /** A number alone is one of bytes. */
  Map<String, Quantity> quantities() {
    return quantities(settings, "NAME=QUANTITY, such as l3=128MiB or chips=16");
  }

  /** A target to plan for, as it's set; how transfers are scheduled is no part of it. */
  TargetDescription planned(String target) {
    Map<String, String> rest = new LinkedHashMap<>(settings);
    ScheduleSwitch.takeFrom(rest);
    return TargetChange.set(
        TargetLibrary.find(target), quantities(rest, "NAME=QUANTITY, such as chips=16"));
  }

  /** The chips that a target names, as they're set. */
  ChipTarget chips(String target) {
    Map<String, String> rest = new LinkedHashMap<>(settings);
    Map<ScheduleSwitch, Boolean> switches = ScheduleSwitch.takeFrom(rest);
    String expected =
        "NAME=QUANTITY, such as l3=128MiB or l1=30000, or one of " + ScheduleSwitch.examples();
    return ChipTarget.of(target, quantities(rest, expected)).with(switches);
  }

  private static Map<String, Quantity> quantities(Map<String, String> settings, String expected) {
    Map<String, Quantity> quantities = new LinkedHashMap<>();
    settings.forEach(
        (name, text) ->
            quantities.put(
                name,
                Quantity.parse(text)
                    .orElseThrow(
                        () ->
                            new PartitaException(
                                TargetCode.ARGUMENT,
                                "option --set",
                                expected,
                                name + "=" + text,
                                "correct the quantity"))));
    return quantities;
  }
}
