package io.partita.passes.program.collective;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.program.Program;
import io.partita.passes.program.collective.ScheduleProof.Position;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Proves that a whole program terminates, regardless of the speed of devices, that each message is
 * received as it was sent, and that exchanges don't interfere.
 */
public final class ProgramProof {
  private ProgramProof() {}

  /**
   * Verifies a program in time linear in the number of messages.
   *
   * @param capacity the number of messages that each channel between two devices holds
   * @throws PartitaException with a {@link CollectiveCode}, which names device, sync and step, if
   *     it can't be proved
   */
  public static void verify(Program program, int capacity) {
    MessageOrder.verify(new ProgramPlan(program), capacity);
  }

  private static final class ProgramPlan implements MessagePlan {
    private final String name;
    private final List<DeviceSteps> devices = new ArrayList<>();

    ProgramPlan(Program program) {
      name = program.name();
      program.devices().forEach(device -> devices.add(DeviceSteps.of(device.graph())));
    }

    @Override
    public List<List<Step>> steps() {
      return devices.stream().map(DeviceSteps::steps).toList();
    }

    private Exchange exchange(Position position) {
      return (Exchange) node(position).op();
    }

    private Node node(Position position) {
      return devices.get(position.device()).owners().get(position.index());
    }

    @Override
    public int collective(Position position) {
      return exchange(position).sync();
    }

    @Override
    public long elements(Position position) {
      return exchange(position).elements();
    }

    @Override
    public String scope() {
      return "program \"" + name + "\"";
    }

    @Override
    public String name(Position position, String separator) {
      Node node = node(position);
      int step = position.index() - devices.get(position.device()).starts().get(node);
      return "device "
          + position.device()
          + separator
          + "sync "
          + exchange(position).sync()
          + (node.name().isEmpty() ? "" : " \"" + node.name() + "\"")
          + separator
          + "step "
          + step;
    }
  }

  /**
   * The steps of a device.
   *
   * @param owners the exchange of each step
   * @param starts the index of the first step of each exchange
   */
  private record DeviceSteps(List<Step> steps, List<Node> owners, Map<Node, Integer> starts) {
    static DeviceSteps of(Graph graph) {
      DeviceSteps all =
          new DeviceSteps(new ArrayList<>(), new ArrayList<>(), new IdentityHashMap<>());
      for (Node node : graph.nodes()) {
        if (node.op() instanceof Exchange exchange) {
          all.starts.put(node, all.steps.size());
          all.steps.addAll(exchange.steps());
          all.owners.addAll(Collections.nCopies(exchange.steps().size(), node));
        }
      }
      return all;
    }
  }
}
