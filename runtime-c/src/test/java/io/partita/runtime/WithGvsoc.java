package io.partita.runtime;

import java.util.Optional;

/** Simulated Siracusa chips. */
final class WithGvsoc extends WithTool<Gvsoc> {
  WithGvsoc() {
    super(
        Gvsoc.class,
        "NO GVSOC OR RISC-V COMPILER: programs for Siracusa are NOT TESTED; build"
            + " https://github.com/gvsoc/gvsoc with TARGETS=siracusa and name where it's installed:"
            + " -Dpartita.gvsoc=PATH, or its bin on the PATH; and apt-get install"
            + " gcc-riscv64-unknown-elf (targets/gvsoc/README.md)");
  }

  @Override
  Optional<Gvsoc> find() {
    return Gvsoc.find();
  }
}
