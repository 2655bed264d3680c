package io.partita.api;

import io.partita.backend.emitted.Description;
import io.partita.backend.emitted.EmittedProgram;
import io.partita.backend.emitted.EmittedSchedule;
import io.partita.ir.file.Checksums;
import io.partita.ir.file.EmittedFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Describes emitted programs. */
final class FileListing {
  private FileListing() {}

  static CompiledModel of(Path folder, List<Path> inputs, EmittedProgram program) {
    Description description = program.description();
    boolean hasMesh = !description.whole().mesh().axes().isEmpty();
    return new CompiledModel(
        folder,
        Stream.concat(program.files().stream().map(EmittedFile::path), Stream.of(Checksums.FILE))
            .toList(),
        inputs,
        description.whole().isDecoder() ? CompiledModel.Kind.DECODER : CompiledModel.Kind.PREFILL,
        description.mainClass(),
        description.devices(),
        hasMesh ? Optional.of(description.whole().mesh().toString()) : Optional.empty(),
        program.schedule().flatMap(FileListing::speculation),
        description.summary());
  }

  private static Optional<CompiledModel.Speculation> speculation(EmittedSchedule schedule) {
    return schedule
        .hits()
        .map(
            hits -> new CompiledModel.Speculation(hits.seconds(), schedule.prediction().seconds()));
  }
}
