package io.partita.passes.planning.cost;

import io.partita.ir.graph.Node;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.program.Program;
import io.partita.passes.timing.SyncEvents;
import io.partita.passes.timing.Timeline;
import java.util.List;

/**
 * One sync of a program.
 *
 * @param sync the number in the program
 * @param name the name of the exchanged value
 * @param block the number of its transformer block, from 0; -1 before the first block, and the
 *     number of blocks after the last one
 * @param devices the devices that take part
 * @param messages the number of messages that devices send
 * @param bytes the bytes that devices send; forwarded messages count once
 * @param seconds the time from the arrival of the last device to the end of the last one
 */
public record SyncReport(
    int sync, String name, int block, int devices, int messages, long bytes, double seconds) {

  /** Returns the syncs of a program without times, which are 0: those depend on a target. */
  public static List<SyncReport> of(Program program) {
    SyncEvents events = new SyncEvents();
    Timeline none = new Timeline();
    int begin = none.join();
    for (int device = 0; device < program.devices().size(); device++) {
      for (Node node : program.devices().get(device).graph().nodes()) {
        if (node.op() instanceof Exchange exchange) {
          events.begin(exchange.sync(), device, node.name(), begin);
          exchange.steps().stream()
              .filter(Step.Send.class::isInstance)
              .forEach(send -> events.message(exchange.sync(), send.bytes()));
        }
      }
    }
    return new SyncBlocks(Plans.nodes(program), List.of()).reports(events.times(none.play()));
  }
}
