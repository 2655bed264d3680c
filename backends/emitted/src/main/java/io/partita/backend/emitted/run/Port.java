package io.partita.backend.emitted.run;

import io.partita.backend.emitted.ProgramCode;
import io.partita.ir.diagnostic.PartitaException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** A port on which an emitted program can run. */
public enum Port {
  /** This computer: one process per chip, one thread per core. */
  HOST("host", "nanoseconds", "apt-get install gcc make", List.of(List.of("make"), List.of("gcc"))),
  /** This computer or several: one rank per chip. */
  MPI(
      "mpi",
      "nanoseconds",
      "apt-get install make openmpi-bin libopenmpi-dev",
      List.of(List.of("make"), List.of("mpicc"), List.of("mpirun"))),
  /** One chip, with one hart per core. */
  QEMU(
      "qemu",
      "host cycles",
      "apt-get install make gcc-riscv64-unknown-elf qemu-system-misc",
      List.of(List.of("make"), List.of("riscv64-unknown-elf-gcc"), List.of("qemu-system-riscv32"))),
  /** Siracusa chips in one simulation. */
  GVSOC(
      "gvsoc",
      "cycles",
      "apt-get install make gcc-riscv64-unknown-elf g++ python3",
      List.of(List.of("make"), List.of("riscv64-unknown-elf-gcc"), List.of("g++")));

  private final String text;
  private final String clock;
  private final String remedy;
  private final List<List<String>> programs;

  Port(String text, String clock, String remedy, List<List<String>> programs) {
    this.text = text;
    this.clock = clock;
    this.remedy = remedy;
    this.programs = List.copyOf(programs);
  }

  /** The makefile's target, also the value of {@code --on}. */
  public String text() {
    return text;
  }

  /** The unit in which its programs count cycles. */
  public String clock() {
    return clock;
  }

  /** Whether these are cycles of the target's chips. */
  public boolean keepsTime() {
    return this == GVSOC;
  }

  /** The programs that it needs on the PATH: one of each list. */
  List<List<String>> programs() {
    return programs;
  }

  /** How to install these. */
  String remedy() {
    return remedy;
  }

  /**
   * @throws PartitaException P5105 if it has fewer chips than a program
   */
  void verifyChips(int chips) {
    if (this == QEMU && chips > 1) {
      throw new PartitaException(
          ProgramCode.TOO_MANY_CHIPS,
          "--on qemu",
          "a program for one chip",
          chips + " chips",
          "run it on host, mpi or gvsoc, or compile it for one chip");
    }
  }

  public static List<String> names() {
    return Arrays.stream(values()).map(Port::text).toList();
  }

  public static Optional<Port> of(String text) {
    return Arrays.stream(values()).filter(port -> port.text.equals(text)).findFirst();
  }
}
