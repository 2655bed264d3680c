package io.partita.ir.schedule.eval;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.BinaryFunctions;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.Combine;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.schedule.ScheduleFault;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.kernel.Place;
import io.partita.ir.type.ElementType;
import java.util.List;

/**
 * The messages of a device in a collective, as defined by {@code collectives/exchange.h}: on a
 * vector in the home memory, in which a received slice replaces the own one or is combined with it.
 */
final class ExchangeSteps {
  private final ScheduleStep.Exchange step;
  private final Communication.Exchange exchange;
  private final int device;
  private final LocalMemory home;
  private final Mailbox mailbox;
  private final String where;
  private final int elementBytes;

  /** Where the buffer of each message begins, relative to the first. */
  private final List<Long> places;

  private int next;

  ExchangeSteps(
      ScheduleStep.Exchange step,
      int member,
      int device,
      LocalMemory home,
      Mailbox mailbox,
      String where) {
    this.step = step;
    this.exchange = step.exchanges().get(member);
    this.device = device;
    this.home = home;
    this.mailbox = mailbox;
    this.where = where;
    this.elementBytes = (int) step.element().packedBytes(1);
    if (step.workingBytes() < 4L * elementBytes) {
      throw fault("a working memory of at least four elements", step.workingBytes() + " B");
    }
    this.places = exchange.actions().places();
    begin();
  }

  boolean isDone() {
    return next > exchange.steps().size();
  }

  private void begin() {
    long vector = exchange.elements() * elementBytes;
    requireInside(step.vector(), vector);
    if (step.operand().isPresent()) {
      home.forget((int) step.vector(), (int) vector);
      long from = step.operand().get();
      for (Slice slice : exchange.before()) {
        int bytes = (int) slice.size() * elementBytes;
        copy(from, place(slice), bytes);
        from += bytes;
      }
    }
  }

  /** Runs up to the first message that is received. */
  void sendFirst() {
    while (next < exchange.steps().size() && exchange.steps().get(next) instanceof Step.Send send) {
      send(send);
      next++;
    }
  }

  /** Runs until it would wait; returns whether it made progress. */
  boolean advance() {
    int before = next;
    while (next < exchange.steps().size()) {
      boolean isDone =
          switch (exchange.steps().get(next)) {
            case Step.Send send -> send(send);
            case Step.Receive receive -> receive(receive);
          };
      if (!isDone) {
        return next > before;
      }
      next++;
    }
    if (next == exchange.steps().size()) {
      end();
      next++;
    }
    return true;
  }

  private void end() {
    if (step.result().isPresent()) {
      ScheduleStep.Lines result = step.result().get();
      long to = 0;
      for (Slice slice : exchange.after()) {
        long bytes = slice.size() * elementBytes;
        for (long done = 0; done < bytes; ) {
          long left = result.bytes() - to % result.bytes();
          int part = (int) Math.min(left, bytes - done);
          copy(place(slice) + done, result.place(to), part);
          done += part;
          to += part;
        }
      }
    }
  }

  private long place(Slice slice) {
    return step.vector() + slice.start() * elementBytes;
  }

  private int bytes(List<Slice> slices) {
    return (int) Slice.elements(slices) * elementBytes;
  }

  private boolean send(Step.Send send) {
    byte[] message = new byte[bytes(send.slices())];
    int at = 0;
    for (Slice slice : send.slices()) {
      int bytes = (int) slice.size() * elementBytes;
      requireRead(place(slice), bytes);
      System.arraycopy(home.bytes(), (int) place(slice), message, at, bytes);
      at += bytes;
    }
    mailbox.send(device, send.to(), message);
    return true;
  }

  private boolean receive(Step.Receive receive) {
    byte[] message = mailbox.receive(receive.from(), device);
    if (message == null) {
      return false;
    }
    if (message.length != bytes(receive.slices())) {
      throw fault(
          "a message of " + bytes(receive.slices()) + " B from " + receive.from(),
          message.length + " B");
    }
    if (!receive.isInPlace()) {
      long room =
          places.get(next)
              + step.message()
                  .orElseThrow(
                      () -> fault("a buffer for a message of " + message.length + " B", "none"));
      requireWritable(room, message.length);
      home.forget((int) room, message.length);
    }
    int at = 0;
    for (Slice slice : receive.slices()) {
      int bytes = (int) slice.size() * elementBytes;
      requireWritable(place(slice), bytes);
      if (receive.combine() == Combine.REPLACE) {
        System.arraycopy(message, at, home.bytes(), (int) place(slice), bytes);
      } else {
        requireRead(place(slice), bytes);
        combine(receive.combine(), slice, new Place(message, at));
      }
      home.write((int) place(slice), bytes);
      at += bytes;
    }
    return true;
  }

  /** Combines own and received elements, in that order. */
  private void combine(Combine combine, Slice slice, Place received) {
    BinaryFunction function = combine.function().orElseThrow();
    ElementType element = step.element();
    int count = (int) slice.size();
    Place own = new Place(home.bytes(), (int) place(slice));
    if (element.isFloat()) {
      var operator = BinaryFunctions.ofDouble(function);
      double[] left = own.doubles(element, count);
      double[] right = received.doubles(element, count);
      for (int i = 0; i < count; i++) {
        left[i] = operator.applyAsDouble(left[i], right[i]);
      }
      own.write(element, left);
    } else {
      var operator = BinaryFunctions.ofLong(function, element);
      long[] left = own.longs(element, count);
      long[] right = received.longs(element, count);
      for (int i = 0; i < count; i++) {
        left[i] = operator.applyAsLong(left[i], right[i]);
      }
      own.write(element, left);
    }
  }

  private void copy(long from, long to, int bytes) {
    requireRead(from, bytes);
    requireWritable(to, bytes);
    System.arraycopy(home.bytes(), (int) from, home.bytes(), (int) to, bytes);
    home.write((int) to, bytes);
  }

  private void requireInside(long from, long bytes) {
    if (!home.contains(from, bytes)) {
      throw fault(
          "bytes below " + home.bytes().length + " of " + home.name(), bytes + " from " + from);
    }
  }

  private void requireRead(long from, int bytes) {
    requireInside(from, bytes);
    int missing = home.unwritten((int) from, bytes);
    if (missing >= 0) {
      throw fault(
          "bytes of " + home.name() + " that are initialised",
          "byte " + missing + " that isn't initialised");
    }
  }

  private void requireWritable(long from, int bytes) {
    requireInside(from, bytes);
    int held = home.held((int) from, bytes);
    if (held >= 0) {
      throw fault(
          "bytes of " + home.name() + " that may be written",
          "byte " + held + " of a constant or a transfer");
    }
  }

  private PartitaException fault(Object expected, Object found) {
    return ScheduleFault.MEMORY.at(toString(), expected, found);
  }

  @Override
  public String toString() {
    return next < exchange.steps().size()
        ? where + ", message " + next + " (" + exchange.steps().get(next) + ")"
        : where;
  }
}
