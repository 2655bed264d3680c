package io.partita.ir.schedule;

import static io.partita.ir.schedule.MemoryContents.ARRIVING;
import static io.partita.ir.schedule.MemoryContents.EMPTY;
import static io.partita.ir.schedule.MemoryContents.LEAVING;
import static io.partita.ir.schedule.MemoryContents.WRITTEN;

import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.type.ElementType;
import java.util.List;

/** Checks what the exchanges of a chip read and write in its memories. */
final class ExchangeVerifier {
  private final ChipSchedule chip;
  private final MemoryContents memory;

  /** The exchange that has begun, if any, and what the bytes of its operand hold. */
  private ScheduleStep.Exchange begun;

  private byte[] kept;

  ExchangeVerifier(ChipSchedule chip, MemoryContents memory) {
    this.chip = chip;
    this.memory = memory;
  }

  boolean isUnderWay() {
    return begun != null;
  }

  /** Checks that no exchange is under way after a run. */
  void requireEnded() {
    memory.requireTransfer(begun == null, "no exchange under way after a run", begun);
  }

  /**
   * Until the exchange, messages use its vector and its buffers, and its operand is kept, also in
   * the vector where messages leave it alone.
   */
  void begin(ScheduleStep.Exchange exchange) {
    requireWorkspace(exchange);
    requireBefore(exchange);
    exchange.operand().ifPresent(at -> keep(at, bytes(exchange, before(exchange))));
    memory.write("vector", exchange.vector(), vectorBytes(exchange));
    memory.fill(exchange.vector(), vectorBytes(exchange), ARRIVING);
    if (exchange.operand().isEmpty()) {
      before(exchange).stream()
          .filter(own -> isLeft(exchange, own))
          .forEach(own -> memory.fill(place(exchange, own), bytes(exchange, own), LEAVING));
    }
    long message = exchange.messageBytes();
    exchange
        .message()
        .ifPresent(
            at -> {
              memory.write("message", at, message);
              memory.fill(at, message, ARRIVING);
            });
    begun = exchange;
  }

  /** Whether no message writes elements. */
  private static boolean isLeft(ScheduleStep.Exchange exchange, Slice own) {
    return exchange.exchanges().stream()
        .flatMap(each -> each.steps().stream())
        .filter(Step.Receive.class::isInstance)
        .flatMap(receive -> receive.slices().stream())
        .noneMatch(own::overlaps);
  }

  private static long place(ScheduleStep.Exchange exchange, Slice slice) {
    return exchange.vector() + exchange.element().packedBytes(slice.start());
  }

  private static long bytes(ScheduleStep.Exchange exchange, Slice slice) {
    return exchange.element().packedBytes(slice.size());
  }

  /** Marks an operand as being sent; the exchange gives its bytes back what they held. */
  private void keep(long operand, long bytes) {
    kept = memory.contents(operand, bytes);
    memory.fill(operand, bytes, LEAVING);
  }

  void play(ScheduleStep.Exchange exchange) {
    ElementType element = exchange.element();
    memory.require(element.bits() >= Byte.SIZE, "elements of at least a byte in messages", element);
    requireWorkspace(exchange);
    long message = exchange.messageBytes();
    if (begun == exchange) {
      exchange.operand().ifPresent(at -> memory.restore(at, kept));
      memory.fill(exchange.vector(), vectorBytes(exchange), WRITTEN);
      exchange.message().ifPresent(at -> memory.fill(at, message, WRITTEN));
      begun = null;
    }
    requireBefore(exchange);
    for (Step step :
        exchange.exchanges().stream().flatMap(each -> each.steps().stream()).toList()) {
      long bytes = element.packedBytes(Slice.elements(step.slices()));
      memory.require(step.bytes() == bytes, "a message of " + bytes + " B", step);
    }
    memory.write("vector", exchange.vector(), vectorBytes(exchange));
    if (message > 0) {
      memory.require(
          exchange.message().isPresent(),
          "a buffer for messages of " + message + " B",
          "no buffer");
      memory.write("message", exchange.message().get(), message);
    }
    if (exchange.result().isPresent()) {
      ScheduleStep.Lines result = exchange.result().get();
      long bytes = bytes(exchange, exchange.exchanges().getFirst().after());
      memory.require(
          result.bytes() > 0 && bytes % result.bytes() == 0 && result.stride() >= result.bytes(),
          "whole lines of " + bytes + " B",
          result);
      for (long at = 0; at < bytes; at += result.bytes()) {
        memory.write("result", result.place(at), result.bytes());
      }
    }
  }

  private void requireWorkspace(ScheduleStep.Exchange exchange) {
    memory.require(
        exchange.working() >= 0
            && exchange.working() + exchange.workingBytes() <= chip.working().used(),
        chip.working().name() + " below " + chip.working().used(),
        exchange.workingBytes() + " from " + exchange.working());
    Address workspace = new Address(ChipSchedule.WORKING, exchange.working());
    memory.requireIdle(workspace, exchange.workingBytes());
    memory.fill(workspace, exchange.workingBytes(), EMPTY);
  }

  private void requireBefore(ScheduleStep.Exchange exchange) {
    if (exchange.operand().isPresent()) {
      memory.read("operand", exchange.operand().get(), bytes(exchange, before(exchange)));
    } else {
      for (Slice own : before(exchange)) {
        memory.read("vector", place(exchange, own), bytes(exchange, own));
      }
    }
  }

  private static List<Slice> before(ScheduleStep.Exchange exchange) {
    return exchange.exchanges().getFirst().before();
  }

  private static long bytes(ScheduleStep.Exchange exchange, List<Slice> slices) {
    return exchange.element().packedBytes(Slice.elements(slices));
  }

  private static long vectorBytes(ScheduleStep.Exchange exchange) {
    return exchange.element().packedBytes(exchange.exchanges().getFirst().elements());
  }
}
