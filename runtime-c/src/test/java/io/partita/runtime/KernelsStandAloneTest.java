package io.partita.runtime;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.opentest4j.TestAbortedException;

/** Tests that kernels link without a C library, except for functions that compilers call. */
@ExtendWith(WithCompiler.class)
class KernelsStandAloneTest {
  @Test
  void linksAlone(CCompiler compiler) {
    link(compiler, CCompiler.Build.OPTIMISED);
  }

  @Test
  void linksAloneOnRiscV() {
    link(
        CCompiler.find("riscv64-unknown-elf-gcc")
            .orElseThrow(
                () ->
                    new TestAbortedException(
                        "get one by: apt-get install gcc-riscv64-unknown-elf")),
        CCompiler.Build.RISCV);
  }

  private static void link(CCompiler compiler, CCompiler.Build build) {
    List<Path> sources = new ArrayList<>(CCompiler.sources("kernels"));
    sources.add(CCompiler.MODULE.resolve("src/test/c/stand_alone.c"));
    compiler.executable("stand-alone", build, sources, "-nostdlib", "-static", "-lgcc");
  }
}
