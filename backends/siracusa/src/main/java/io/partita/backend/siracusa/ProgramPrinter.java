package io.partita.backend.siracusa;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.EmittedSchedule;
import io.partita.backend.emitted.ProgramDescription;
import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.backend.emitted.probe.ReferenceFiles;
import io.partita.backend.siracusa.code.Comments;
import io.partita.backend.siracusa.code.ProbeCode;
import io.partita.backend.siracusa.code.RoleCode;
import io.partita.backend.siracusa.model.Makefile;
import io.partita.backend.siracusa.model.ModelHeader;
import io.partita.backend.siracusa.model.ProgramMain;
import io.partita.backend.siracusa.model.RoleFile;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetDescription;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Prints a schedule as a C file for each role, the messages and weights of each chip, the required
 * sources of the runtime, and a makefile.
 */
public final class ProgramPrinter {
  /** The alignment of memories. */
  private static final long ALIGNMENT = 16;

  private final Schedule schedule;
  private final Optional<Schedule> chunk;
  private final List<ChipSchedule> roles = new ArrayList<>();
  private final int cores;
  private final Optional<EmittedSchedule> predicted;

  private ProgramPrinter(
      Schedule schedule, Optional<Schedule> chunk, int cores, Optional<EmittedSchedule> predicted) {
    this.schedule = schedule;
    this.chunk = chunk;
    for (int number = 0; number < schedule.roles().size(); number++) {
      int role = number;
      roles.add(
          RoleCode.joined(schedule.roles().get(role), chunk.map(entry -> entry.roles().get(role))));
    }
    this.cores = cores;
    this.predicted = predicted;
  }

  /**
   * Returns the program's files, without writing them.
   *
   * @param cores the number of cores of a chip
   */
  public static EmittedC emit(Schedule schedule, int cores) {
    return new ProgramPrinter(schedule, Optional.empty(), cores, Optional.empty()).program();
  }

  /**
   * Returns the program's files, including a predicted run, without writing them.
   *
   * @param target the target of the schedule
   */
  public static EmittedC emit(Schedule schedule, TargetDescription target) {
    return emit(schedule, Optional.empty(), target);
  }

  /**
   * Returns the files of a program with a second entry point.
   *
   * @param chunk the same decoder for several tokens at once, scheduled together with the first
   */
  public static EmittedC emit(
      Schedule schedule, Optional<Schedule> chunk, TargetDescription target) {
    EmittedSchedule predicted = EmittedSchedule.of(schedule, target);
    int cores = target.devices().getFirst().cores();
    return new ProgramPrinter(schedule, chunk, cores, Optional.of(predicted)).program();
  }

  private EmittedC program() {
    List<EmittedFile> files = new ArrayList<>();
    SortedSet<String> headers =
        new TreeSet<>(List.of("hal/port.h", "hal/probe.h", "hal/profile.h"));
    for (int number = 0; number < schedule.roles().size(); number++) {
      RoleFile role = RoleCode.role(schedule, chunk, number);
      headers.addAll(role.includes());
      files.add(EmittedFile.text(roleName(number) + ".c", Templates.print(role)));
    }
    for (int number = 0; number < roles.size(); number++) {
      ChipSchedule role = roles.get(number);
      for (int member = 0; member < role.devices().size(); member++) {
        files.addAll(chipFiles(number, member));
        files.addAll(
            ReferenceFiles.of(
                schedule.roles().get(number),
                member,
                ProbeCode.results(schedule.roles().get(number))));
      }
    }
    List<String> runtime = RuntimeSources.needed(headers);
    files.add(EmittedFile.text("partita_model.h", Templates.print(header())));
    files.add(EmittedFile.text("main.c", Templates.print(new ProgramMain(chunk.isPresent()))));
    files.add(EmittedFile.text("image.S", IMAGE));
    files.add(EmittedFile.text("Makefile", Templates.print(makefile(runtime))));
    files.addAll(RuntimeSources.files(runtime));
    files.addAll(RuntimeSources.board());
    ChipDescription description = ChipDescription.of(schedule, chunk);
    files.add(EmittedFile.text(ProgramDescription.FILE, description.json()));
    predicted.ifPresent(
        run ->
            files.add(
                EmittedFile.text(
                    PredictedRun.FILE, PredictedRun.of(schedule, run.prediction()).json())));
    files.add(
        EmittedFile.text(
            "README.md", Templates.print(ReadmePage.of(schedule, description.whole(), files))));
    files.sort(Comparator.comparing(EmittedFile::path));
    return new EmittedC(description, files, predicted);
  }

  /** The initial contents of L2; the build sets the chip's file. */
  private static final String IMAGE =
      """
      /* L2 of one chip: resident weights, then the other data of the program. IMAGE is a file's name. */
          .section .data.partita_l2, "aw"
          .balign 16
          .globl partita_l2
      partita_l2:
          .incbin IMAGE
          .org PARTITA_L2_BYTES
      /* Sizes and CRC-32C of the L2 and L3 files. */
          .section .rodata.partita_images, "a"
          .balign 4
          .globl partita_images
      partita_images:
          .long IMAGES
          .section .note.GNU-stack, "", %progbits
      """;

  private static String roleName(int number) {
    return "role_" + number;
  }

  private List<EmittedFile> chipFiles(int number, int member) {
    ChipSchedule role = roles.get(number);
    List<EmittedFile> files = new ArrayList<>();
    if (RoleCode.hasChipFiles(role)) {
      String name = "chip" + role.devices().get(member) + "_messages.c";
      files.add(
          EmittedFile.text(name, Templates.print(RoleCode.chip(schedule, chunk, number, member))));
    }
    files.add(Images.of(role, member, ChipSchedule.HOME));
    files.add(Images.of(role, member, ChipSchedule.HOME + 1));
    return files;
  }

  private ModelHeader header() {
    int chips = schedule.program().devices().size();
    String name = Comments.clean(schedule.program().name());
    String target = Comments.clean(schedule.target());
    return new ModelHeader(List.of(name + " for " + target + "."), chips, chunk.isPresent());
  }

  private Makefile makefile(List<String> runtime) {
    List<Makefile.Chip> chips = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (int number = 0; number < roles.size(); number++) {
      ChipSchedule role = roles.get(number);
      names.add(roleName(number));
      for (int device : role.devices()) {
        chips.add(new Makefile.Chip(device, roleName(number), RoleCode.hasChipFiles(role)));
      }
    }
    chips.sort(Comparator.comparingInt(Makefile.Chip::number));
    List<String> sources =
        runtime.stream()
            .filter(path -> path.endsWith(".c") && !path.startsWith("ports/"))
            .map(path -> path.substring(0, path.length() - 2))
            .toList();
    return new Makefile(
        Comments.clean(schedule.program().name()),
        cores,
        most(ChipSchedule.WORKING),
        most(ChipSchedule.HOME),
        most(ChipSchedule.HOME + 1),
        names,
        chips,
        sources.stream().filter(path -> !path.startsWith("kernels/")).toList(),
        sources.stream()
            .filter(path -> path.startsWith("kernels/"))
            .map(path -> path.substring("kernels/".length()))
            .toList());
  }

  /** The largest use of a memory over all roles; a chip may have only two memories. */
  private long most(int memory) {
    long most =
        roles.stream()
            .filter(role -> memory < role.memories().size())
            .mapToLong(role -> role.memories().get(memory).used())
            .max()
            .orElse(0);
    return Math.max(ALIGNMENT, Math.ceilDiv(most, ALIGNMENT) * ALIGNMENT);
  }
}
