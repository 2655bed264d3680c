package io.partita.tests.recorded;

import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.driver.Sharding;
import io.partita.driver.cases.ChipRunner;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import io.partita.passes.mesh.shard.Strategy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs emitted C on this host, under QEMU and on GVSoC, if they are installed. */
public final class EmittedC {
  /**
   * Compiler flags with sanitizers. They don't optimise, because with sanitizers it takes longer
   * than these programs run.
   */
  public static final String SANITISED =
      "-fsanitize=address,undefined -fno-sanitize-recover=all -g1 -O0 -Wno-frame-larger-than";

  /**
   * Compiler flags of programs that run once or twice, which takes less time than to optimise them.
   * One function runs all steps, so its frame is large.
   */
  private static final String UNOPTIMISED = "-O0 -Wno-error=frame-larger-than=";

  /** The folder of kernels, which are compiled once for all tests of a process. */
  private static final Path KERNELS = scratch();

  private static final Path UNOPTIMISED_KERNELS = scratch();

  private static final Path SANITISED_KERNELS = scratch();
  private static final Path QEMU_KERNELS = scratch();
  private static final Path GVSOC_KERNELS = scratch();

  /** The folder of the compiled components of GVSoC's board. */
  private static final Path COMPONENTS = scratch();

  private static final String DEVICE_COMPILER = "riscv64-unknown-elf-gcc";

  private EmittedC() {}

  private static Path scratch() {
    try {
      return new ScratchFolder().path();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Skips the test with a message if C can't be compiled. */
  static void requireCompiler() {
    boolean isThere = Build.find("gcc").isPresent() && Build.find("make").isPresent();
    if (!isThere) {
      System.err.println(
          "NO C COMPILER: emitted C is NOT TESTED; get one by: apt-get install gcc libc6-dev make");
    }
    assumeThat(isThere).as("gcc and make").isTrue();
  }

  /** Skips the test with a message if QEMU or its compiler is missing. */
  static void requireQemu() {
    boolean isThere =
        Build.find(DEVICE_COMPILER).isPresent() && Build.find("qemu-system-riscv32").isPresent();
    if (!isThere) {
      System.err.println(
          "NO QEMU OR RISC-V COMPILER: emitted C is NOT TESTED on bare metal; get them by: apt-get"
              + " install make gcc-riscv64-unknown-elf qemu-system-misc");
    }
    assumeThat(isThere).as("QEMU and a compiler for RISC-V").isTrue();
  }

  /** Skips the test with a message if GVSoC or its compiler is missing. */
  static void requireGvsoc() {
    boolean isThere = gvsoc().isPresent() && Build.find(DEVICE_COMPILER).isPresent();
    if (!isThere) {
      System.err.println(
          "NO GVSOC OR RISC-V COMPILER: emitted C is NOT TESTED on Siracusa; build"
              + " https://github.com/gvsoc/gvsoc with TARGETS=siracusa and name where it's"
              + " installed: -Dpartita.gvsoc=PATH (targets/gvsoc/README.md)");
    }
    assumeThat(isThere).as("GVSoC and a compiler for Siracusa").isTrue();
  }

  /** Returns its installation folder. */
  private static Optional<Path> gvsoc() {
    return Optional.ofNullable(System.getProperty("partita.gvsoc"))
        .map(Path::of)
        .or(() -> Build.find("gvsoc").map(found -> found.resolve("../..").normalize()));
  }

  /** Returns Siracusa chips with the given L2, part of which is for code. */
  static ChipTarget withL2(int kibibytes) {
    return ChipTarget.of("siracusa", Map.of("l2", new Quantity(kibibytes, Unit.KIB)));
  }

  /** Returns a runner of one chip under QEMU. */
  static ChipRunner underQemu() {
    return underQemu(ChipTarget.of("siracusa", Map.of()));
  }

  static ChipRunner underQemu(ChipTarget target) {
    return new ChipRunner(target, Optional.empty(), Port.QEMU, "", List.of(), QEMU_KERNELS);
  }

  /** Returns a runner of Siracusa chips on GVSoC. */
  static ChipRunner simulated(Optional<Strategy> strategy) {
    return simulated(ChipTarget.of("siracusa", Map.of()), strategy);
  }

  static ChipRunner simulated(ChipTarget target, Optional<Strategy> strategy) {
    return new ChipRunner(
        target, strategy.map(Sharding::of), Port.GVSOC, "", gvsocOptions(), GVSOC_KERNELS);
  }

  /** Returns the options with the folders of GVSoC and of its compiled components. */
  static List<String> gvsocOptions() {
    return List.of("--gvsoc", "" + gvsoc().orElseThrow(), "--components", COMPONENTS.toString());
  }

  /** Returns a runner of Siracusa chips on this host. */
  static ChipRunner runner(Optional<Strategy> strategy) {
    return new ChipRunner(
        ChipTarget.of("siracusa", Map.of()),
        strategy.map(Sharding::of),
        Port.HOST,
        "",
        List.of(),
        KERNELS);
  }

  /** Returns a runner for a few runs of each program. */
  static ChipRunner unoptimised(ChipTarget target, Optional<Strategy> strategy) {
    return new ChipRunner(
        target, strategy.map(Sharding::of), Port.HOST, UNOPTIMISED, List.of(), UNOPTIMISED_KERNELS);
  }

  /** Returns a runner of one chip with the given L1, in bytes, on this host. */
  static ChipRunner runner(long l1) {
    Map<String, Quantity> settings = Map.of("l1", Quantity.parse(l1 + " B").orElseThrow());
    return new ChipRunner(
        ChipTarget.of("siracusa", settings), Optional.empty(), Port.HOST, "", List.of(), KERNELS);
  }

  /**
   * Returns a runner with sanitizers for addresses and undefined behaviour.
   *
   * @param transfers when transfers copy: early or late
   */
  static ChipRunner sanitised(Optional<Strategy> strategy, String transfers) {
    return sanitised(ChipTarget.of("siracusa", Map.of()), strategy, transfers);
  }

  static ChipRunner sanitised(ChipTarget target, Optional<Strategy> strategy, String transfers) {
    return new ChipRunner(
        target,
        strategy.map(Sharding::of),
        Port.HOST,
        SANITISED,
        List.of("--transfers", transfers),
        SANITISED_KERNELS);
  }
}
