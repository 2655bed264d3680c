package io.partita.runtime;

import java.util.Optional;

/** The system's C++ compiler, which compiles programs of the emulated Tenstorrent chip. */
final class WithCppCompiler extends WithTool<MetaliumPrograms> {
  WithCppCompiler() {
    super(
        MetaliumPrograms.class,
        "NO C++ COMPILER: the emulated Tenstorrent chip is NOT TESTED; get one by: apt-get install"
            + " g++");
  }

  @Override
  Optional<MetaliumPrograms> find() {
    return CCompiler.find("g++", "clang++", "c++")
        .map(found -> new MetaliumPrograms(found.program()));
  }
}
