package io.partita.backend.emitted.measure;

import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.backend.emitted.DescriptionFields;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The measured figures of a run on any port: the counters of each port, and additional ones of
 * GVSoC's board.
 *
 * @param chips by number
 */
public record MeasuredRun(List<MeasuredChip> chips) {
  public MeasuredRun {
    chips = List.copyOf(chips);
  }

  /**
   * @param reports reports in JSON: one per chip, or one for all from GVSoC's board
   * @param profiles the figures of each step of each chip; empty if unknown
   */
  public static MeasuredRun of(List<String> reports, List<List<StepFigures>> profiles) {
    List<MeasuredChip> chips = new ArrayList<>();
    for (String report : reports) {
      for (DescriptionFields chip : chips(report)) {
        int number = Math.toIntExact(chip.extent("chip"));
        List<StepFigures> steps = profiles.isEmpty() ? List.of() : profiles.get(number);
        chips.add(
            new MeasuredChip(
                number, chip.extent("cycles"), moved(chip), steps, transfers(chip, steps)));
      }
    }
    chips.sort(Comparator.comparingInt(MeasuredChip::chip));
    return new MeasuredRun(chips);
  }

  private static List<DescriptionFields> chips(String report) {
    try {
      DescriptionFields fields = new DescriptionFields(JSON.std.mapFrom(report));
      return fields.has("chips") ? fields.objects("chips") : List.of(fields);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Traffic moved(DescriptionFields chip) {
    DescriptionFields sent = chip.object("sent");
    return new Traffic(
        chip.extent("l2_l1"),
        chip.extent("l3_l2"),
        sent.names().stream().mapToLong(sent::extent).sum(),
        chip.extent("received"));
  }

  private static List<L3Transfer> transfers(DescriptionFields chip, List<StepFigures> steps) {
    if (steps.isEmpty() || !chip.has("l3") || !chip.object("l3").has("transfers")) {
      return List.of();
    }
    long start = steps.getFirst().start();
    return chip.object("l3").objects("transfers").stream()
        .filter(each -> each.number("start") >= start)
        .map(
            each ->
                new L3Transfer(
                    each.number("start"),
                    each.number("end"),
                    each.extent("address"),
                    each.extent(each.has("read") ? "read" : "written"),
                    each.has("read")))
        .toList();
  }
}
