package io.partita.backend.emitted.measure;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.backend.emitted.DescriptionFields;
import io.partita.backend.emitted.DescriptionFile;
import io.partita.backend.emitted.ProgramCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.passes.schedule.predict.EnergyModel;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.DevicePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.Traffic;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The prediction for a run of an emitted program: {@code prediction.json} in its folder.
 *
 * @param target the target of the prediction
 * @param seconds the time until the last chip has finished
 * @param chips by number
 */
public record PredictedRun(String target, double seconds, double joules, List<Chip> chips) {
  /** The file's name. */
  public static final String FILE = "prediction.json";

  private static final String FORMAT = "partita-c-prediction-1";

  private static final JSON WRITER =
      JSON.builder(JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build()).build();

  /**
   * One chip.
   *
   * @param role the number of its role
   * @param steps the label of each step
   * @param figures the figures of each step
   */
  public record Chip(
      int role, EnergyModel energy, List<StepLabel> steps, List<StepFigures> figures) {
    public Chip {
      steps = List.copyOf(steps);
      figures = List.copyOf(figures);
    }
  }

  public PredictedRun {
    chips = List.copyOf(chips);
  }

  /** Returns the prediction of a schedule, with each chip's steps in the order of its role. */
  public static PredictedRun of(Schedule schedule, SchedulePrediction prediction) {
    List<Chip> chips = new ArrayList<>();
    for (DevicePrediction device : prediction.devices()) {
      int role = role(schedule, device.device());
      ChipSchedule chip = schedule.roles().get(role);
      chips.add(
          new Chip(
              role,
              device.energy(),
              chip.steps().stream().map(step -> StepLabel.of(step, chip)).toList(),
              device.steps().stream().map(StepFigures::of).toList()));
    }
    return new PredictedRun(schedule.target(), prediction.seconds(), prediction.joules(), chips);
  }

  private static int role(Schedule schedule, int device) {
    int role = 0;
    while (!schedule.roles().get(role).devices().contains(device)) {
      role++;
    }
    return role;
  }

  /**
   * Returns deterministic JSON: one line for each step of a role, and one line of figures for each
   * step of a chip.
   */
  public String json() {
    StringBuilder out = new StringBuilder();
    out.append("{\"format\":").append(text(FORMAT));
    out.append(",\n\"target\":").append(text(target));
    out.append(",\n\"seconds\":").append(text(seconds));
    out.append(",\n\"joules\":").append(text(joules));
    out.append(",\n\"roles\":[");
    int roles = chips.stream().mapToInt(Chip::role).max().orElse(-1) + 1;
    for (int number = 0; number < roles; number++) {
      int role = number;
      Chip chip = chips.stream().filter(each -> each.role == role).findFirst().orElseThrow();
      out.append(number == 0 ? "" : ",").append("\n{\"energy\":").append(text(energy(chip)));
      out.append(",\"steps\":");
      lines(chip.steps.stream().map(StepLabel::fields).toList(), out);
      out.append("}");
    }
    out.append("],\n\"chips\":[");
    for (int number = 0; number < chips.size(); number++) {
      Chip chip = chips.get(number);
      out.append(number == 0 ? "" : ",").append("\n{\"role\":").append(chip.role);
      out.append(",\"steps\":");
      lines(chip.figures.stream().map(PredictedRun::row).toList(), out);
      out.append("}");
    }
    return out.append("]}\n").toString();
  }

  private static void lines(List<?> values, StringBuilder out) {
    out.append("[");
    for (int i = 0; i < values.size(); i++) {
      out.append(i == 0 ? "\n" : ",\n").append(text(values.get(i)));
    }
    out.append("]");
  }

  private static String text(Object value) {
    try {
      return WRITER.asString(value);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static Map<String, Object> energy(Chip chip) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("hertz", chip.energy.hertz());
    fields.put("watts", chip.energy.watts());
    fields.put("l2_l1", chip.energy.homeWorking());
    fields.put("l3_l2", chip.energy.farHome());
    fields.put("link", chip.energy.link());
    return fields;
  }

  private static List<Long> row(StepFigures step) {
    Traffic moved = step.moved();
    return List.of(
        step.cycles(),
        step.computeCycles(),
        moved.homeWorking(),
        moved.farHome(),
        moved.sent(),
        moved.received());
  }

  /**
   * Reads the prediction in an emitted folder.
   *
   * @throws PartitaException P5107 if there is none or it isn't valid
   */
  public static PredictedRun read(Path folder) {
    return DescriptionFile.read(
        folder.resolve(FILE), FORMAT, PredictedRun::of, PredictedRun::unreadable);
  }

  private static PartitaException unreadable(Path file, String found) {
    return new PartitaException(
        ProgramCode.PREDICTION,
        file.toString(),
        "the predicted figures that 'partita compile' writes for a chip",
        found,
        "compile the model again");
  }

  private static PredictedRun of(DescriptionFields fields) {
    List<Chip> roles =
        fields.objects("roles").stream()
            .map(
                role ->
                    new Chip(
                        0,
                        energy(role.object("energy")),
                        role.objects("steps").stream().map(StepLabel::of).toList(),
                        List.of()))
            .toList();
    List<Chip> chips = new ArrayList<>();
    for (DescriptionFields chip : fields.objects("chips")) {
      int role = Math.toIntExact(chip.extent("role"));
      if (role >= roles.size()) {
        throw new IllegalArgumentException("no role " + role);
      }
      List<StepFigures> figures = figures(chip.rows("steps"));
      if (figures.size() != roles.get(role).steps.size()) {
        throw new IllegalArgumentException("a chip with " + figures.size() + " steps");
      }
      chips.add(new Chip(role, roles.get(role).energy, roles.get(role).steps, figures));
    }
    return new PredictedRun(
        fields.text("target"), fields.real("seconds"), fields.real("joules"), chips);
  }

  private static EnergyModel energy(DescriptionFields fields) {
    return new EnergyModel(
        fields.real("hertz"),
        fields.real("watts"),
        fields.real("l2_l1"),
        fields.real("l3_l2"),
        fields.real("link"));
  }

  private static List<StepFigures> figures(List<long[]> rows) {
    List<StepFigures> figures = new ArrayList<>();
    long start = 0;
    for (long[] row : rows) {
      if (row.length != 6) {
        throw new IllegalArgumentException("a step with " + row.length + " figures");
      }
      Traffic moved = new Traffic(row[2], row[3], row[4], row[5]);
      figures.add(new StepFigures(start, row[0], row[1], moved));
      start += row[0];
    }
    return figures;
  }
}
