package io.partita.driver.chip;

import io.partita.driver.Distribution;
import io.partita.driver.Entries;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import io.partita.passes.Pass;
import io.partita.passes.PassCall;
import io.partita.passes.PassCode;
import io.partita.passes.Pipeline;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The last pass: what it gives is a schedule and no module.
 *
 * @param target such as {@code siracusa:chips=2}; by default as many chips of Siracusa as the
 *     module is on
 * @param l1 bytes that loops may use of L1
 */
public record SchedulePass(Optional<String> target, OptionalLong l1) implements Pass {
  public static final String NAME = "schedule";

  /** As {@code schedule(target=T, l1=BYTES)} says. */
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
    return "decide everything about how chips run the model";
  }

  /** The last pass of a pipeline, if it's this one. */
  public static Optional<SchedulePass> last(Pipeline pipeline) {
    return !pipeline.passes().isEmpty() && pipeline.passes().getLast() instanceof SchedulePass last
        ? Optional.of(last)
        : Optional.empty();
  }

  /** The passes before it. */
  public static Pipeline before(Pipeline pipeline) {
    List<Pass> passes = pipeline.passes();
    return last(pipeline).isEmpty() ? pipeline : new Pipeline(passes.subList(0, passes.size() - 1));
  }

  /**
   * When each device does what, where.
   *
   * @throws PartitaException as {@link ChipTarget#schedule}
   */
  public Schedule schedule(Module module) {
    int devices = module.placement().map(placed -> placed.mesh().devices()).orElse(1);
    Map<String, Quantity> settings =
        l1.isEmpty() ? Map.of() : Map.of("l1", new Quantity(l1.getAsLong(), Unit.B));
    ChipTarget chips = ChipTarget.of(target.orElse("siracusa:chips=" + devices), settings);
    return chips.schedule(new Entries.Programs(Distribution.program(module))).getFirst();
  }

  @Override
  public Module run(Module module) {
    throw new PartitaException(
        PassCode.PASS_ORDER,
        "pass " + NAME,
        "the last pass of partita opt",
        "a module that is needed after it",
        "put " + NAME + " at the end, and use partita opt");
  }
}
