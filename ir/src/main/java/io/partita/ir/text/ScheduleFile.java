package io.partita.ir.text;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.Schedule;
import java.nio.file.Path;

/**
 * A schedule in files: {@code x.sched} with the text, and {@code x.sched.weights} beside it with
 * constants to which the text refers, if any.
 */
public final class ScheduleFile {
  public static final String SUFFIX = ".sched";

  private ScheduleFile() {}

  /**
   * Writes both files like {@link PirFile#write}.
   *
   * @throws PartitaException {@link TextCode#FILE}
   */
  public static void write(Schedule schedule, Path file) {
    WeightTable table = SchedulePrinter.weights(schedule);
    PirFile.write(SchedulePrinter.print(schedule, table), table, file);
  }

  /**
   * Parses the text and maps the weights, which are read at their use.
   *
   * @throws PartitaException with a {@link TextCode}
   */
  public static Schedule read(Path file) {
    return ScheduleParser.parse(
        PirFile.text(file), file.toString(), PirFile.map(PirFile.weights(file)));
  }
}
