package io.partita.passes.program.collective;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.message.Step;
import java.util.List;

/** Proves that a schedule ends and gives what its collective asks for, however fast devices are. */
public final class ScheduleProof {
  /** A step: that of a device at an index, from 0. */
  public record Position(int device, int index) {}

  private ScheduleProof() {}

  /**
   * @param capacity messages that each channel holds
   * @return all steps in an order in which they can happen
   * @throws PartitaException with a {@link CollectiveCode} when it can't be proved
   */
  public static List<Position> verify(Schedule schedule, int capacity) {
    List<Position> order = MessageOrder.verify(new SchedulePlan(schedule), capacity);
    new ResultProof(schedule).verify(order);
    return order;
  }

  private record SchedulePlan(Schedule schedule) implements MessagePlan {
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
      return schedule.collective().elements();
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
