package io.partita.cli;

import io.partita.backend.emitted.DescriptionFields;
import io.partita.backend.emitted.measure.MeasuredChip;
import io.partita.backend.emitted.measure.MeasuredRun;
import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.measure.PredictedRun.Chip;
import io.partita.backend.emitted.measure.StepFigures;
import io.partita.backend.emitted.run.Port;
import io.partita.passes.schedule.predict.EnergyModel;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import io.partita.report.ProgramReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The measured and predicted figures of a run on chips, as JSON.
 *
 * @param port the port, which determines the unit of measured cycles
 */
record ChipRunReport(Port port, PredictedRun predicted, MeasuredRun measured) {

  /** The figures of the whole run and of each chip. */
  Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("format", ProgramReport.RUN_FORMAT);
    fields.put("port", port.text());
    fields.put("clock", port.clock());
    fields.put("measured", measuredRun());
    fields.put("predicted", predictedRun());
    fields.put("chips", measured.chips().stream().map(this::chip).toList());
    return fields;
  }

  private boolean isProfiled() {
    return measured.chips().stream().anyMatch(chip -> !chip.steps().isEmpty());
  }

  private Map<String, Object> measuredRun() {
    long cycles = measured.chips().stream().mapToLong(this::cycles).max().orElse(0);
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("cycles", cycles);
    if (port.keepsTime()) {
      fields.put("seconds", cycles / energy().hertz());
      if (isProfiled()) {
        fields.put("joules", joules());
      }
    }
    return fields;
  }

  private Map<String, Object> predictedRun() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("cycles", Math.round(predicted.seconds() * energy().hertz()));
    fields.put("seconds", predicted.seconds());
    fields.put("joules", predicted.joules());
    return fields;
  }

  private EnergyModel energy() {
    return predicted.chips().getFirst().energy();
  }

  /** The energy of all chips from measured figures of a profiled run. */
  double joules() {
    return measured.chips().stream().mapToDouble(this::joules).sum();
  }

  double joules(MeasuredChip chip) {
    return predictedChip(chip)
        .energy()
        .joules(StepFigures.computeCycles(chip.steps()), StepFigures.moved(chip.steps()));
  }

  Chip predictedChip(MeasuredChip chip) {
    return predicted.chips().get(chip.chip());
  }

  /** The cycles of the run if it was profiled, else of the program. */
  long cycles(MeasuredChip chip) {
    return chip.steps().isEmpty() ? chip.programCycles() : StepFigures.cycles(chip.steps());
  }

  private Map<String, Object> chip(MeasuredChip chip) {
    Chip expected = predictedChip(chip);
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("chip", chip.chip());
    fields.put("role", expected.role());
    Map<String, Object> found = new LinkedHashMap<>();
    found.put("cycles", cycles(chip));
    if (chip.steps().isEmpty()) {
      found.putAll(bytes(chip.programMoved()));
    } else {
      found.putAll(totals(expected, chip.steps()));
      if (port.keepsTime()) {
        found.put("joules", joules(chip));
      }
      if (!chip.transfers().isEmpty()) {
        found.put("l3_cycles", chip.l3Cycles());
        found.put("l3_hidden_cycles", chip.hiddenL3Cycles(expected));
      }
    }
    fields.put("measured", found);
    Map<String, Object> wanted = new LinkedHashMap<>();
    wanted.put("cycles", StepFigures.cycles(expected.figures()));
    wanted.putAll(totals(expected, expected.figures()));
    wanted.put("joules", joules(expected));
    fields.put("predicted", wanted);
    if (!chip.steps().isEmpty()) {
      fields.put("steps", steps(chip, expected));
      fields.put("transfers", transfers(chip, expected));
    }
    return fields;
  }

  static double joules(Chip chip) {
    return chip.energy()
        .joules(StepFigures.computeCycles(chip.figures()), StepFigures.moved(chip.figures()));
  }

  private static Map<String, Object> totals(Chip chip, List<StepFigures> steps) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("compute_cycles", StepFigures.computeCycles(steps));
    fields.put("l3_wait_cycles", MeasuredChip.waitCycles(chip, steps));
    fields.putAll(bytes(StepFigures.moved(steps)));
    return fields;
  }

  private static Map<String, Object> bytes(Traffic moved) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("l2_l1", moved.homeWorking());
    fields.put("l3_l2", moved.farHome());
    fields.put("sent", moved.sent());
    fields.put("received", moved.received());
    return fields;
  }

  /** Start times are relative to the start of the run. */
  private static List<Map<String, Object>> steps(MeasuredChip chip, Chip expected) {
    List<Map<String, Object>> steps = new ArrayList<>();
    long start = chip.steps().getFirst().start();
    for (int i = 0; i < chip.steps().size(); i++) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("step", i);
      fields.putAll(expected.steps().get(i).fields());
      fields.put("measured", step(chip.steps().get(i), start));
      fields.put("predicted", step(expected.figures().get(i), 0));
      steps.add(fields);
    }
    return steps;
  }

  private static Map<String, Object> step(StepFigures step, long start) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("start", step.start() - start);
    fields.put("cycles", step.cycles());
    fields.put("compute_cycles", step.computeCycles());
    fields.putAll(bytes(step.moved()));
    return fields;
  }

  private static List<Map<String, Object>> transfers(MeasuredChip chip, Chip expected) {
    long start = chip.steps().getFirst().start();
    List<Map<String, Object>> transfers = new ArrayList<>();
    for (MeasuredChip.Transfer each : chip.transfers(expected)) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("step", each.step());
      DescriptionFields.put(each.origin(), fields);
      fields.put("bytes", each.bytes());
      fields.put("requested", each.requested() - start);
      fields.put("start", each.start() - start);
      fields.put("end", each.end() - start);
      fields.put("waited", each.waited());
      transfers.add(fields);
    }
    return transfers;
  }
}
