package io.partita.runtime;

import java.util.Optional;

/** The compiler for Siracusa, with its binutils. */
final class WithCrossCompiler extends WithTool<CCompiler> {
  WithCrossCompiler() {
    super(
        CCompiler.class,
        "NO RISC-V COMPILER: code for Siracusa is NOT LOOKED AT; get it by: apt-get install"
            + " gcc-riscv64-unknown-elf");
  }

  @Override
  Optional<CCompiler> find() {
    return CCompiler.find("riscv64-unknown-elf-gcc");
  }
}
