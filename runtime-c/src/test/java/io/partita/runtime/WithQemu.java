package io.partita.runtime;

import java.util.Optional;

/** An emulated 32-bit device. */
final class WithQemu extends WithTool<Qemu> {
  WithQemu() {
    super(
        Qemu.class,
        "NO QEMU OR RISC-V COMPILER: the C runtime is NOT TESTED on rv32; get them by:"
            + " apt-get install qemu-system-misc gcc-riscv64-unknown-elf");
  }

  @Override
  Optional<Qemu> find() {
    return Qemu.find();
  }
}
