package io.partita.passes.program.collective;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.message.Step;
import java.util.List;

/**
 * Proves that a schedule terminates with the result of its collective, regardless of the speed of
 * devices.
 */
public final class ScheduleProof {
  /** The position of a step: its device and its index, from 0. */
  public record Position(int device, int index) {}

  private ScheduleProof() {}

  /**
   * @param capacity the number of messages that each channel holds
   * @return all steps in a possible order
   * @throws PartitaException with a {@link CollectiveCode} if it can't be proved
   */
  public static List<Position> verify(Schedule schedule, int capacity) {
    List<Position> order = MessageOrder.verify(new SchedulePlan(schedule), capacity);
    new ResultProof(schedule).verify(order);
    return order;
  }

  /**
   * A plan of one schedule.
   *
   * @param elements those of its collective, which are a sum over all devices
   */
  private record SchedulePlan(Schedule schedule, long elements) implements MessagePlan {
    SchedulePlan(Schedule schedule) {
      this(schedule, schedule.collective().elements());
    }

    @Override
    public List<List<Step>> steps() {
      return schedule.steps();
    }

    @Override
    public int collective(Position position) {
      return 0;
    }

    @Override
    public long elements(Position position) {
      return elements;
    }

    @Override
    public String scope() {
      return schedule.collective().toString();
    }

    @Override
    public String name(Position position, String separator) {
      return "device " + position.device() + separator + "step " + position.index();
    }
  }

  static String where(Schedule schedule, Position position) {
    return schedule.collective() + ", " + new SchedulePlan(schedule).where(position);
  }

  static Step step(Schedule schedule, Position position) {
    return schedule.steps().get(position.device()).get(position.index());
  }
}
