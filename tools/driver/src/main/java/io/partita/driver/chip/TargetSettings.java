package io.partita.driver.chip;

import io.partita.driver.plan.PlannedTarget;
import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.Packing;
import io.partita.ir.target.Memory;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetCode;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What changes a target, as a user writes it.
 *
 * @param values quantities of parameters and memories by name, such as {@code 128MiB} of {@code
 *     l3}; and {@code on} or {@code off} of a {@link ScheduleSwitch}
 */
public record TargetSettings(Map<String, String> values) {
  public TargetSettings {
    values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
  }

  public boolean isEmpty() {
    return values.isEmpty();
  }

  /**
   * All of them as quantities; a number alone is one of bytes.
   *
   * @throws PartitaException with {@link TargetCode#ARGUMENT} when one isn't a quantity
   */
  Map<String, Quantity> quantities() {
    return quantities(values, "NAME=QUANTITY, such as l3=128MiB or chips=16");
  }

  /**
   * The settings without each {@link ScheduleSwitch}.
   *
   * @throws PartitaException with {@link TargetCode#ARGUMENT} if a switch is neither on nor off
   */
  public TargetSettings withoutSwitches() {
    Map<String, String> rest = new LinkedHashMap<>(values);
    ScheduleSwitch.takeFrom(rest);
    return new TargetSettings(rest);
  }

  /**
   * A target to plan for, as it's set. Chips with a memory for each core take the settings that
   * {@link MetaliumTarget} has.
   *
   * @throws PartitaException with {@link TargetCode}s, or as {@link MetaliumTarget#of(String,
   *     TargetSettings)}
   */
  public PlannedTarget planned(String target) {
    TargetDescription found = TargetLibrary.find(target);
    if (found.devices().getFirst().working().scope() == Memory.Scope.CORE) {
      MetaliumTarget cores = MetaliumTarget.of(target, this);
      return new PlannedTarget(
          cores.card(), cores.description(), cores.backend().options().weights().packing());
    }
    TargetDescription set = TargetChange.set(found, quantities());
    return new PlannedTarget(set, set, Packing.PLAIN);
  }

  /**
   * The chips that a target names, as they're set.
   *
   * @throws PartitaException with {@link TargetCode}s
   */
  public ChipTarget chips(String target) {
    Map<String, String> rest = new LinkedHashMap<>(values);
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
                                remedy(name)))));
    return quantities;
  }

  private static String remedy(String name) {
    if (ScheduleSwitch.names().contains(name)) {
      return "leave it out here, and give it to the commands that schedule transfers, such as"
          + " 'partita compile'; plans assume that they overlap with computing";
    }
    return NearestName.of(name, ScheduleSwitch.names())
        .map(near -> "correct the name: " + NearestName.suggestion(near))
        .orElse("correct the quantity");
  }
}
