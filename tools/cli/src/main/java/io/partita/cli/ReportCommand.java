package io.partita.cli;

import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.driver.OutputFile;
import io.partita.driver.report.ReportFile;
import io.partita.ir.file.Checksums;
import io.partita.ir.file.OutputTarget;
import io.partita.report.ProgramReport;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes the report of a compiled program. */
@Command(
    name = "report",
    description = {
      "Write one HTML page about a compiled program: its partition, timeline, memories, syncs,"
          + " kernels and energy, and measured figures if it was run with --profile.",
      "The page needs no other file and no network."
    })
final class ReportCommand implements Callable<Integer> {
  private static final String PAGE = "report.html";

  @Parameters(paramLabel = "DIR", description = "A folder that 'partita compile' wrote.")
  Path folder;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "The page; by default " + PAGE + " in the folder.")
  Path output;

  @Option(
      names = "--run",
      paramLabel = "FILE",
      description =
          "The figures of a run, as 'partita run --profile --json' prints them; by default those of"
              + " the last run with --profile or --json.")
  Path run;

  @Option(names = "--json", description = "Print the path of the page as JSON.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    verify(folder);
    Path page = output == null ? folder.resolve(PAGE) : output;
    try (Progress _ = Progress.start(spec.commandLine().getErr(), "writing " + page)) {
      write(
          ProgramReport.page(folder, Optional.ofNullable(run), Optional.empty(), Version.text()),
          page);
    }
    PrintWriter said =
        OutputTarget.isStandardOutput(page)
            ? spec.commandLine().getErr()
            : spec.commandLine().getOut();
    said.println(json ? Json.text(Map.of("output", page.toString())) : page.toString());
    return ExitCode.DONE;
  }

  /** Refuses a folder whose figures have been changed; its other files don't matter. */
  private static void verify(Path folder) {
    if (Files.exists(folder.resolve(Checksums.FILE))) {
      List<String> read = List.of(ReportFile.FILE, PredictedRun.FILE);
      List<String> changed = new ArrayList<>(Checksums.changed(folder, read::contains));
      changed.retainAll(read);
      if (!changed.isEmpty()) {
        throw Checksums.refusal(folder, changed, "");
      }
    }
  }

  /** Writes a page atomically. */
  static void write(String page, Path file) {
    OutputFile.write(file, out -> out.write(page.getBytes(StandardCharsets.UTF_8)));
  }
}
