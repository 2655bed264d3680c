package io.partita.tests.recorded;

import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.siracusa.run.Build;
import io.partita.driver.cases.ChipRunner;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.target.Quantity;
import io.partita.passes.shard.Strategy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs emitted C on this host, where there's a compiler. */
final class EmittedC {
  private static final String SANITISED = "-fsanitize=address,undefined -fno-sanitize-recover=all";

  /** Kernels are compiled once for all tests of a process. */
  private static final Path KERNELS = scratch();

  private static final Path SANITISED_KERNELS = scratch();

  private EmittedC() {}

  private static Path scratch() {
    try {
      return new ScratchFolder().path();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Skips the test, and says so, where C can't be compiled. */
  static void requireCompiler() {
    boolean isThere = Build.find("gcc").isPresent() && Build.find("make").isPresent();
    if (!isThere) {
      System.err.println(
          "NO C COMPILER: emitted C is NOT TESTED; get one by: apt-get install gcc libc6-dev make");
    }
    assumeThat(isThere).as("gcc and make").isTrue();
  }

  /** On Siracusa chips. */
  static ChipRunner runner(Optional<Strategy> strategy) {
    return new ChipRunner(ChipTarget.of("siracusa", Map.of()), strategy, "", List.of(), KERNELS);
  }

  /** With so much of L1 for a loop. */
  static ChipRunner runner(long l1) {
    Map<String, Quantity> settings = Map.of("l1", Quantity.parse(l1 + " B").orElseThrow());
    return new ChipRunner(
        ChipTarget.of("siracusa", settings), Optional.empty(), "", List.of(), KERNELS);
  }

  /**
   * With the sanitizers for addresses and undefined behaviour.
   *
   * @param transfers early or late: when they copy
   */
  static ChipRunner sanitised(Optional<Strategy> strategy, String transfers) {
    return new ChipRunner(
        ChipTarget.of("siracusa", Map.of()),
        strategy,
        SANITISED,
        List.of("--transfers", transfers),
        SANITISED_KERNELS);
  }
}
