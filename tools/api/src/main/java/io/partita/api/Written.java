package io.partita.api;

import io.partita.backend.java.EmittedProgram;
import io.partita.backend.java.ModelDescription;
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
    ModelDescription description = program.description();
    return new CompiledModel(
        folder,
        paths(program.files()),
        inputs,
        switch (description.kind()) {
          case DECODER -> CompiledModel.Kind.DECODER;
          case PREFILL -> CompiledModel.Kind.PREFILL;
        },
        Optional.of(description.className()),
        description.devices().map(group -> group.parts().size()).orElse(1),
        description.devices().map(ModelDescription.DeviceGroup::mesh),
        summary(description));
  }

  static CompiledModel chips(Path folder, List<Path> inputs, EmittedC program) {
    io.partita.backend.emitted.ChipDescription description = program.description();
    int count = description.chips().size();
    return new CompiledModel(
        folder,
        paths(program.files()),
        inputs,
        description.hasState() ? CompiledModel.Kind.DECODER : CompiledModel.Kind.PREFILL,
        Optional.empty(),
        count,
        Optional.of(description.mesh().toString()),
        "C for %d chip%s of %s: 'make host' builds it"
            .formatted(count, count == 1 ? "" : "s", description.target()));
  }

  private static List<String> paths(List<EmittedFile> files) {
    return Stream.concat(files.stream().map(EmittedFile::path), Stream.of(Checksums.FILE)).toList();
  }

  private static String summary(ModelDescription description) {
    String devices =
        description
            .devices()
            .map(group -> ", on %d devices: %s".formatted(group.parts().size(), group.mesh()))
            .orElse("");
    return kind(description) + devices;
  }

  private static String kind(ModelDescription description) {
    return switch (description.kind()) {
      case DECODER ->
          "class %s: a decoder with step(…)%s and reset(), and a state of %,d bytes"
              .formatted(
                  description.className(),
                  description.chunk().isPresent() ? ", chunk(…)" : "",
                  description.states().stream().mapToLong(state -> state.type().bytes()).sum());
      case PREFILL -> "class %s: a function, run(…)".formatted(description.className());
    };
  }
}
