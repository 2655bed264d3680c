package io.partita.runtime;

import java.util.Optional;

/** The system's C compiler. */
final class WithCompiler extends WithTool<CCompiler> {
  WithCompiler() {
    super(
        CCompiler.class,
        "NO C COMPILER: the C runtime is NOT TESTED; get one by: apt-get install gcc libc6-dev");
  }

  @Override
  Optional<CCompiler> find() {
    return CCompiler.find();
  }
}
