package io.partita.driver.chip;

import io.partita.driver.Entries;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.stage.Stage;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import io.partita.passes.Pass;
import io.partita.passes.PassCall;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Schedules a program for chips.
 *
 * @param target such as {@code siracusa:chips=2}; by default as many Siracusa chips as the program
 *     has devices
 * @param l1 the bytes of L1 that loops may use
 */
public record SchedulePass(Optional<String> target, OptionalLong l1)
    implements Pass<Program, Schedule> {
  public static final String NAME = "schedule";
  public static final String PURPOSE = "decide the tiles, memories and transfers of each chip";

  /** Parses {@code schedule(target=T, l1=BYTES)}. */
  public static SchedulePass of(PassCall call) {
    call.requireOptions("target", "l1");
    return new SchedulePass(
        Optional.ofNullable(call.arguments().get("target")), call.integer("l1"));
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String purpose() {
    return PURPOSE;
  }

  @Override
  public Stage<Program> takes() {
    return Stage.PROGRAM;
  }

  @Override
  public Stage<Schedule> gives() {
    return Stage.SCHEDULE;
  }

  /**
   * Schedules a program.
   *
   * @throws PartitaException as {@link ChipTarget#schedule}
   */
  @Override
  public Schedule run(Program program) {
    int devices = program.devices().size();
    Map<String, Quantity> settings =
        l1.isEmpty() ? Map.of() : Map.of("l1", new Quantity(l1.getAsLong(), Unit.B));
    ChipTarget chips = ChipTarget.of(target.orElse("siracusa:chips=" + devices), settings);
    return chips.schedule(new Entries.Programs(program)).getFirst();
  }
}
