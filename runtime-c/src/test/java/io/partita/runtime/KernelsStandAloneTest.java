package io.partita.runtime;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Kernels and collectives link without a C library: with a port, and what compilers call. */
@ExtendWith(WithCompiler.class)
class KernelsStandAloneTest {
  @Test
  void linksAlone(CCompiler compiler) {
    List<Path> sources = new ArrayList<>(CCompiler.sources("kernels"));
    sources.add(CCompiler.MODULE.resolve("src/test/c/stand_alone.c"));
    compiler.executable(
        "stand-alone", CCompiler.Build.OPTIMISED, sources, "-nostdlib", "-static", "-lgcc");
  }
}
