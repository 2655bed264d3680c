package io.partita.report;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.backend.emitted.measure.PredictedRun;
import io.partita.driver.DriverCode;
import io.partita.driver.OutputFile;
import io.partita.driver.report.ReportFile;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.FileFailure;
import io.partita.ir.file.SmallFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The report of a compiled program's folder, or of a plan. */
public final class ProgramReport {
  /** The file in which {@code run} keeps the figures of the last run, in the program's folder. */
  public static final String RUN = "build/run.json";

  /** What the field {@code format} of such figures says. */
  public static final String RUN_FORMAT = "partita-run-1";

  private ProgramReport() {}

  /**
   * Returns the page of a program.
   *
   * @param folder the folder that {@code compile} wrote
   * @param run measured figures, as {@code run --json} prints them; empty for those of the folder's
   *     last run, if there are any
   * @param command the exact command line; empty for that of the folder, which has no paths
   * @param version of Partita
   * @throws PartitaException P6032 if the folder has no report; P5107 if the prediction can't be
   *     read; P6005 if the measured figures can't be
   */
  public static String page(
      Path folder, Optional<Path> run, Optional<String> command, String version) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("version", version);
    data.put("folder", folder.toString());
    Map<String, Object> report = report(folder.resolve(ReportFile.FILE));
    command.ifPresent(line -> report.put("command", line));
    data.put("report", report);
    if (Files.exists(folder.resolve(PredictedRun.FILE))) {
      PredictedRun.read(folder);
      data.put("prediction", json(folder.resolve(PredictedRun.FILE)));
    }
    Path last = folder.resolve(RUN);
    run.or(() -> Files.exists(last) ? Optional.of(last) : Optional.empty())
        .ifPresent(file -> data.put("run", measured(file)));
    return page(data);
  }

  /**
   * Returns the page of a plan.
   *
   * @param fields those of {@link ReportFile}
   */
  public static String page(Map<String, Object> fields, String version) {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("version", version);
    data.put("report", fields);
    return page(data);
  }

  private static String page(Map<String, Object> data) {
    Map<?, ?> report = (Map<?, ?>) data.get("report");
    return ReportPage.of(report.get("model") + " on " + report.get("target"), data);
  }

  private static Map<String, Object> report(Path file) {
    try {
      if (JSON.std.anyFrom(SmallFile.text(file)) instanceof Map<?, ?> report
          && ReportFile.FORMAT.equals(report.get("format"))) {
        Map<String, Object> fields = new LinkedHashMap<>();
        report.forEach((name, value) -> fields.put(name.toString(), value));
        return fields;
      }
      throw missing(file, "another format");
    } catch (IOException e) {
      throw missing(file, FileFailure.words(file, e));
    } catch (IllegalArgumentException e) {
      throw missing(file, e.getMessage());
    }
  }

  private static PartitaException missing(Path file, String found) {
    return new PartitaException(
        DriverCode.NO_REPORT,
        file.toString(),
        "what 'partita compile' wrote about the program",
        found,
        "name a folder that this version of Partita wrote, or compile the model again");
  }

  private static Object json(Path file) {
    try {
      return JSON.std.anyFrom(SmallFile.text(file));
    } catch (IOException e) {
      throw OutputFile.failure(file, e);
    }
  }

  private static Map<String, Object> measured(Path file) {
    try {
      if (JSON.std.anyFrom(SmallFile.text(file)) instanceof Map<?, ?> run
          && RUN_FORMAT.equals(run.get("format"))) {
        return ShownRun.of(run);
      }
      throw notRun(file, "another format");
    } catch (JacksonException e) {
      throw notRun(file, e.getOriginalMessage());
    } catch (IllegalArgumentException e) {
      throw notRun(file, e.getMessage());
    } catch (IOException e) {
      throw OutputFile.failure(file, e);
    }
  }

  private static PartitaException notRun(Path file, String found) {
    return new PartitaException(
        DriverCode.FILE,
        file.toString(),
        "the figures of a run, as 'partita run --profile --json' prints them",
        found,
        "run the program again");
  }
}
