package io.partita.api;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.java.EmittedProgram;
import io.partita.backend.java.JavaDescription;
import io.partita.backend.siracusa.EmittedC;
import io.partita.ir.file.Checksums;
import io.partita.ir.file.EmittedFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Describes emitted programs. */
final class Written {
  private Written() {}

  static CompiledModel java(Path folder, List<Path> inputs, EmittedProgram program) {
    JavaDescription description = program.description();
    return new CompiledModel(
        folder,
        paths(program.files()),
        inputs,
        kindOf(description.whole()),
        Optional.of(description.className()),
        description.devices().map(group -> group.parts().size()).orElse(1),
        description.devices().map(group -> description.whole().mesh().toString()),
        summary(description));
  }

  static CompiledModel chips(Path folder, List<Path> inputs, EmittedC program) {
    ChipDescription description = program.description();
    int count = description.chips().size();
    return new CompiledModel(
        folder,
        paths(program.files()),
        inputs,
        kindOf(description.whole()),
        Optional.empty(),
        count,
        Optional.of(description.whole().mesh().toString()),
        "C for %d chip%s of %s: 'make host' builds it"
            .formatted(count, count == 1 ? "" : "s", description.target()));
  }

  private static List<String> paths(List<EmittedFile> files) {
    return Stream.concat(files.stream().map(EmittedFile::path), Stream.of(Checksums.FILE)).toList();
  }

  private static String summary(JavaDescription description) {
    String devices =
        description
            .devices()
            .map(
                group ->
                    ", on %d devices: %s"
                        .formatted(group.parts().size(), description.whole().mesh()))
            .orElse("");
    return kind(description) + devices;
  }

  private static String kind(JavaDescription description) {
    if (!description.whole().isDecoder()) {
      return "class %s: a function, run(…)".formatted(description.className());
    }
    return "class %s: a decoder with step(…)%s and reset(), and a state of %,d bytes"
        .formatted(
            description.className(),
            description.whole().chunk().isPresent() ? ", chunk(…)" : "",
            description.whole().states().stream().mapToLong(state -> state.type().bytes()).sum());
  }

  private static CompiledModel.Kind kindOf(ProgramInterface description) {
    return description.isDecoder() ? CompiledModel.Kind.DECODER : CompiledModel.Kind.PREFILL;
  }
}
