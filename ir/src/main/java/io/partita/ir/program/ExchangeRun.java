package io.partita.ir.program;

import io.partita.ir.eval.Shards;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.tensor.Tensor;
import java.util.List;

/** The part of one device in a collective: its elements of the vector, and its progress. */
final class ExchangeRun {
  private final int device;
  private final Communication.Exchange exchange;
  private final Channels channels;

  private final ElementStore elements;

  private int next;
  private boolean isSending;
  private boolean moved;

  ExchangeRun(
      int device, Communication.Exchange exchange, List<Tensor> operands, Channels channels) {
    this.device = device;
    this.exchange = exchange;
    this.channels = channels;
    this.elements = new ElementStore(exchange.elements(), exchange.element());
    if (!operands.isEmpty()) {
      elements.write(exchange.before(), operands.getFirst());
    }
  }

  boolean isDone() {
    return next == exchange.steps().size();
  }

  Tensor result() {
    return elements.read(exchange.after());
  }

  /** Runs until it would wait; returns whether it made progress. */
  boolean advance() {
    moved = false;
    while (!isDone()) {
      boolean isDone =
          switch (exchange.steps().get(next)) {
            case Step.Send send -> send(send);
            case Step.Receive receive -> receive(receive);
          };
      if (!isDone) {
        return moved;
      }
      next++;
      moved = true;
    }
    return moved;
  }

  private boolean send(Step.Send send) {
    if (!isSending) {
      if (!channels.hasRoom(device, send.to())) {
        return false;
      }
      channels.send(device, send.to(), elements.read(send.slices()));
      moved = true;
    }
    isSending = !channels.isSent(device, send.to());
    return !isSending;
  }

  private boolean receive(Step.Receive receive) {
    Tensor message = channels.receive(receive.from(), device);
    if (message == null) {
      return false;
    }
    Tensor own = elements.read(receive.slices());
    elements.write(receive.slices(), Shards.combine(receive.combine(), own, message));
    return true;
  }

  @Override
  public String toString() {
    return "step " + next + " (" + exchange.steps().get(next) + ")";
  }
}
