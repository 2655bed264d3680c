package io.partita.backend.siracusa.code;

import io.partita.backend.siracusa.model.LoopFunction.Dimension;
import io.partita.backend.siracusa.model.RoleFile.Probe;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Value;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.StepMeaning;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/** The values that a program built with probes writes after each step. */
public final class ProbeCode {
  /** {@code PARTITA_PROBE_DIMENSIONS} of the runtime. */
  private static final int MAX_DIMENSIONS = 8;

  private ProbeCode() {}

  static List<Probe> probes(ChipSchedule chip, PlaceNames places) {
    return results(chip).stream()
        .map(
            result ->
                probe(
                    result,
                    value(chip, result).type(),
                    places.name(chip, result.step(), result.at())))
        .toList();
  }

  /** The values that are written, in order; each is row-major and dense. */
  public static List<StepMeaning.Result> results(ChipSchedule chip) {
    return chip.meaning().stream()
        .flatMap(meaning -> meaning.results().stream())
        .filter(result -> !result.isGuarded())
        .filter(
            result -> {
              TensorType type = value(chip, result).type();
              return type.bytes() > 0 && lines(result, type).size() <= MAX_DIMENSIONS;
            })
        .toList();
  }

  /** The value in the graph of the role's first chip. */
  private static Value value(ChipSchedule chip, StepMeaning.Result result) {
    Graph graph = chip.meaning().orElseThrow().graphs().getFirst();
    return result.node() < 0
        ? graph.inputs().get(result.index())
        : graph.nodes().get(result.node()).results().get(result.index());
  }

  /** Merges the innermost dense dimensions into one line. */
  private static int lineDimension(StepMeaning.Result result, TensorType type) {
    long within = 1;
    int first = type.rank();
    while (first > 0) {
      long extent = type.shape().extent(first - 1);
      if (extent != 1 && result.strides().get(first - 1) != within) {
        break;
      }
      within *= extent;
      first--;
    }
    return first;
  }

  private static List<Integer> lines(StepMeaning.Result result, TensorType type) {
    List<Integer> lines = new ArrayList<>();
    for (int i = 0; i < lineDimension(result, type); i++) {
      if (type.shape().extent(i) != 1) {
        lines.add(i);
      }
    }
    return lines;
  }

  private static Probe probe(StepMeaning.Result result, TensorType type, String place) {
    List<Dimension> dimensions = new ArrayList<>();
    long lines = 1;
    for (int i : lines(result, type)) {
      long extent = type.shape().extent(i);
      long stride = type.element().packedBytes(result.strides().get(i));
      dimensions.add(new Dimension(Long.toString(extent), Long.toString(stride)));
      lines *= extent;
    }
    int count = dimensions.size();
    if (dimensions.isEmpty()) {
      dimensions.add(new Dimension("0", "0"));
    }
    return new Probe(result.step(), place, type.bytes() / lines, count, dimensions);
  }
}
