package io.partita.backend.siracusa;

import io.partita.backend.siracusa.code.Comments;
import io.partita.backend.siracusa.code.RoleCode;
import io.partita.backend.siracusa.model.Readme;
import io.partita.backend.siracusa.probe.ReferenceFiles;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.MemoryUse;
import io.partita.ir.schedule.Schedule;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What the page in the output folder says. */
final class ReadmePage {
  private ReadmePage() {}

  static Readme of(Schedule schedule, List<EmittedFile> files) {
    List<String> inputs = new ArrayList<>();
    schedule
        .inputs()
        .forEach((name, type) -> inputs.add(row(name, type.toString(), type.type().bytes())));
    List<String> outputs = new ArrayList<>();
    schedule
        .outputs()
        .forEach((name, type) -> outputs.add(row(name, type.toString(), type.type().bytes())));
    List<String> memories = new ArrayList<>();
    List<String> states = new ArrayList<>();
    for (ChipSchedule role : schedule.roles()) {
      memories.add(
          "| %s | %s | %s | %s |"
              .formatted(chips(role), use(role.l1()), use(role.l2()), use(role.l3())));
    }
    for (ChipSchedule.Port state : schedule.roles().getFirst().states()) {
      states.add(row(state.name(), state.type().toString(), state.type().bytes()));
    }
    return new Readme(
        Comments.clean(RoleCode.name(schedule)),
        Comments.clean(schedule.target()),
        schedule.program().devices().size(),
        contents(schedule, files),
        inputs,
        outputs,
        states,
        memories);
  }

  private static String row(String name, String type, long bytes) {
    String clean = Comments.clean(name).replace("|", "/");
    return "| `%s` | `%s` | %,d |".formatted(clean, type, bytes);
  }

  private static String use(MemoryUse use) {
    return "%,d of %,d".formatted(use.used(), use.available());
  }

  private static String chips(ChipSchedule role) {
    return role.devices().stream().map(Object::toString).collect(Collectors.joining(", "));
  }

  private static List<String> contents(Schedule schedule, List<EmittedFile> files) {
    List<String> lines = new ArrayList<>();
    lines.add("| file | what |");
    lines.add("| --- | --- |");
    for (int number = 0; number < schedule.roles().size(); number++) {
      String chips = chips(schedule.roles().get(number));
      lines.add("| `role_%d.c` | what chips do, step by step: %s |".formatted(number, chips));
    }
    if (files.stream().anyMatch(file -> file.path().endsWith("_messages.c"))) {
      lines.add("| `chipI_messages.c` | with whom chip I exchanges what |");
    }
    lines.add("| `chipI.l2`, `chipI.l3` | what is in L2 and L3 of chip I when it starts |");
    lines.add("| `partita_model.h` | the interface |");
    lines.add("| `main.c`, `image.S` | the program around it |");
    lines.add("| `model.json` | the same for other programs |");
    if (files.stream().anyMatch(file -> file.path().startsWith(ReferenceFiles.FOLDER))) {
      lines.add("| `reference/` | what steps compute, for `partita diff` |");
    }
    lines.add("| `runtime/` | kernels, collectives, ports |");
    return lines;
  }
}
