package io.partita.backend.siracusa;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.probe.ReferenceFiles;
import io.partita.backend.siracusa.code.Comments;
import io.partita.backend.siracusa.model.Readme;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.MemoryReport;
import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.schedule.Schedule;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The README.md of the output folder. */
final class ReadmePage {
  private ReadmePage() {}

  static Readme of(Schedule schedule, ProgramInterface description, List<EmittedFile> files) {
    List<String> memories = new ArrayList<>();
    List<String> near = new ArrayList<>();
    for (ChipSchedule role : schedule.roles()) {
      MemoryReport l2 = MemoryReport.of(role);
      near.add(
          Stream.of(l2.atOnce(), l2.needed(), l2.stays(), l2.fetched(), l2.spilled())
              .map(Comments::grouped)
              .collect(Collectors.joining(" | ", "| " + chips(role) + " | ", " |")));
      memories.add(
          "| %s | %s | %s | %s |"
              .formatted(
                  chips(role),
                  use(role.working()),
                  use(role.home()),
                  role.farther().stream().map(ReadmePage::use).findFirst().orElse("none")));
    }
    return new Readme(
        Comments.clean(schedule.program().name()),
        Comments.clean(schedule.target()),
        schedule.program().devices().size(),
        contents(schedule, files),
        ports(description.inputs()),
        ports(description.outputs()),
        description.chunk().map(chunk -> ports(chunk.inputs())).orElse(List.of()),
        description.chunk().map(chunk -> ports(chunk.outputs())).orElse(List.of()),
        states(schedule),
        memories,
        near);
  }

  private static List<String> ports(List<ProgramInterface.Port> ports) {
    return ports.stream()
        .map(port -> row(port.name(), port.sharded().toString(), port.type().bytes()))
        .toList();
  }

  /** One row per part of a state: chips may hold different parts, or none. */
  private static List<String> states(Schedule schedule) {
    SortedMap<String, SortedSet<Integer>> holders = new TreeMap<>();
    for (ChipSchedule role : schedule.roles()) {
      for (ChipSchedule.Port state : role.states()) {
        String row = row(state.name(), state.type().toString(), state.type().bytes());
        holders.computeIfAbsent(row, any -> new TreeSet<>()).addAll(role.devices());
      }
    }
    List<String> rows = new ArrayList<>();
    holders.forEach((row, chips) -> rows.add(row + " " + numbers(chips) + " |"));
    return rows;
  }

  private static String row(String name, String type, long bytes) {
    String clean = Comments.clean(name).replace("|", "/").replace('`', '\'');
    return "| `%s` | `%s` | %s |".formatted(clean, type, Comments.grouped(bytes));
  }

  private static String use(MemoryUse use) {
    return "%s of %s".formatted(Comments.grouped(use.used()), Comments.grouped(use.available()));
  }

  private static String chips(ChipSchedule role) {
    return numbers(role.devices());
  }

  private static String numbers(Collection<Integer> chips) {
    return chips.stream().map(Object::toString).collect(Collectors.joining(", "));
  }

  private static List<String> contents(Schedule schedule, List<EmittedFile> files) {
    List<String> lines = new ArrayList<>();
    lines.add("| file | content |");
    lines.add("| --- | --- |");
    for (int number = 0; number < schedule.roles().size(); number++) {
      String chips = chips(schedule.roles().get(number));
      lines.add("| `role_%s.c` | the steps of a role, for chips %s |".formatted(number, chips));
    }
    if (files.stream().anyMatch(file -> file.path().endsWith("_messages.c"))) {
      lines.add("| `chipI_messages.c` | the messages of chip I |");
    }
    lines.add("| `chipI.l2`, `chipI.l3` | the initial L2 and L3 of chip I |");
    lines.add("| `partita_model.h` | the interface |");
    lines.add("| `main.c`, `image.S` | the program that runs the model |");
    lines.add("| `model.json` | the interface as JSON |");
    if (files.stream().anyMatch(file -> file.path().equals(PredictedRun.FILE))) {
      lines.add(
          "| `prediction.json` | the predicted cycles of each step, for `partita run --profile` |");
    }
    if (files.stream().anyMatch(file -> file.path().startsWith(ReferenceFiles.FOLDER))) {
      lines.add("| `reference/` | the reference results of the steps, for `partita diff` |");
    }
    lines.add("| `runtime/` | kernels, collectives, ports |");
    return lines;
  }
}
