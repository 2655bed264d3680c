package io.partita.driver.report;

import io.partita.backend.emitted.Description;
import io.partita.backend.emitted.EmittedProgram;
import io.partita.backend.emitted.EmittedSchedule;
import io.partita.ir.file.EmittedFile;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** An emitted program with the file of its report. */
public record ReportedProgram(EmittedProgram program, EmittedFile report)
    implements EmittedProgram {
  /** Adds the report's {@link ReportFile#fields} to a program. */
  public static ReportedProgram of(EmittedProgram program, Map<String, Object> fields) {
    return new ReportedProgram(program, ReportFile.file(fields));
  }

  @Override
  public Description description() {
    return program.description();
  }

  @Override
  public List<EmittedFile> files() {
    return Stream.concat(program.files().stream(), Stream.of(report)).toList();
  }

  @Override
  public Optional<EmittedSchedule> schedule() {
    return program.schedule();
  }
}
