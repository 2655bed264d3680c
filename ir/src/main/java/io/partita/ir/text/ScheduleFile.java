package io.partita.ir.text;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.Schedule;
import java.nio.file.Path;

/**
 * A schedule in files: {@code x.sched} with the text, and {@code x.sched.weights} beside it with
 * the constants that the text only refers to, where there are any.
 */
public final class ScheduleFile {
  public static final String SUFFIX = ".sched";

  private ScheduleFile() {}

  /**
   * Writes both files as {@link PirFile#write} does.
   *
   * @throws PartitaException {@link TextCode#FILE}
   */
  public static void write(Schedule schedule, Path file) {
    WeightTable table = SchedulePrinter.weights(schedule);
    PirFile.write(SchedulePrinter.print(schedule, table), table, file);
  }

  /**
   * Reads the text and maps the weights, which are read when they are used.
   *
   * @throws PartitaException with a {@link TextCode}
   */
  public static Schedule read(Path file) {
    return ScheduleParser.parse(
        PirFile.text(file), file.toString(), PirFile.map(PirFile.weights(file)));
  }
}
