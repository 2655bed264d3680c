package io.partita.backend.java.code;

import io.partita.backend.java.plan.DeviceNumbers;
import io.partita.backend.java.plan.Storage;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * The messages of an exchange, on an array that holds the device's part of the vector: the result,
 * if the device has the whole part afterwards; the operand, if the device has it before and only
 * sends; else a separate array.
 */
final class ExchangeCode {
  private final StepCode code;

  /** The part of each device of the role, on the elements of the vector that it touches. */
  private final List<Exchange> devices;

  private final Exchange first;
  private final long elements;
  private final Storage storage;
  private String vector;

  private ExchangeCode(StepCode code) {
    this.code = code;
    List<TouchedElements> touched =
        code.plan.role().operations(code.node).stream()
            .map(op -> new TouchedElements((Exchange) op))
            .toList();
    devices = touched.stream().map(TouchedElements::exchange).toList();
    first = devices.getFirst();
    elements = devices.stream().mapToLong(Exchange::elements).max().orElseThrow();
    storage = Storage.of(first.element());
  }

  static void emit(StepCode code) {
    new ExchangeCode(code).emit();
  }

  private void emit() {
    code.body.comment(
        "sync %s: %s; %s bytes are sent from here in %s messages, %s received in %s"
            .formatted(
                devices.stream().map(Exchange::sync).distinct().count() == 1 ? first.sync() : "",
                code.plan.sync(first.sync()),
                bytes(Step.Send.class),
                count(Step.Send.class),
                bytes(Step.Receive.class),
                count(Step.Receive.class))
            .replace("sync :", "sync:"));
    boolean givesAll = devices.stream().allMatch(device -> isAll(device.after()));
    boolean hasAll = devices.stream().allMatch(device -> isAll(device.before()));
    if (givesAll) {
      vector = code.result();
      unpackOperand();
    } else if (hasAll && count(Step.Receive.class) == 0) {
      vector = code.array(0);
    } else {
      vector = code.scratch.take(storage, elements);
      unpackOperand();
    }
    for (int i = 0; i < first.steps().size(); i++) {
      message(i);
    }
    if (!givesAll) {
      packResult();
    }
  }

  private boolean isAll(List<Slice> slices) {
    return slices.equals(List.of(new Slice(0, elements)));
  }

  private long count(Class<? extends Step> kind) {
    return first.steps().stream().filter(kind::isInstance).count();
  }

  /** {@code 512}, or {@code 448 to 512} if devices differ. */
  private String bytes(Class<? extends Step> kind) {
    List<Long> each =
        devices.stream()
            .map(
                device ->
                    device.steps().stream().filter(kind::isInstance).mapToLong(Step::bytes).sum())
            .sorted()
            .distinct()
            .toList();
    return each.size() == 1 ? "" + each.getFirst() : each.getFirst() + " to " + each.getLast();
  }

  private String offset(ToLongFunction<Exchange> number) {
    return number(code.plan.offsets(), number);
  }

  private String number(DeviceNumbers numbers, ToLongFunction<Exchange> number) {
    return numbers.of(devices.stream().map(number::applyAsLong).toList());
  }

  private void unpackOperand() {
    copies(Exchange::before, true);
  }

  private void packResult() {
    copies(Exchange::after, false);
  }

  /** Copies between the vector, at slices, and the packed operand or result. */
  private void copies(Function<Exchange, List<Slice>> slices, boolean unpacks) {
    for (int i = 0; i < slices.apply(first).size(); i++) {
      int at = i;
      String start = offset(device -> slices.apply(device).get(at).start());
      String size = offset(device -> slices.apply(device).get(at).size());
      String packed = offset(device -> Slice.elements(slices.apply(device).subList(0, at)));
      code.body.line(
          unpacks
              ? "System.arraycopy(%s, %s, %s, %s, %s)"
                  .formatted(code.array(0), packed, vector, start, size)
              : "System.arraycopy(%s, %s, %s, %s, %s)"
                  .formatted(vector, start, code.result(), packed, size));
    }
  }

  private void message(int step) {
    Kernel kernel =
        switch (first.steps().get(step)) {
          case Step.Send send -> ExchangeKernels.send(first.element());
          case Step.Receive receive ->
              ExchangeKernels.receive(
                  first.element(), receive.combine(), code.kernels, code.expressions);
        };
    List<Object> arguments = new ArrayList<>();
    arguments.add(number(code.plan.peers(), device -> device.steps().get(step).peer()));
    arguments.add(offset(Exchange::sync));
    arguments.add(vector);
    for (int i = 0; i < first.steps().get(step).slices().size(); i++) {
      int at = i;
      arguments.add(offset(device -> device.steps().get(step).slices().get(at).start()));
      arguments.add(offset(device -> device.steps().get(step).slices().get(at).size()));
    }
    code.body.line(code.call(kernel, arguments.toArray()), described(step));
  }

  /** {@code 2048 bytes}, if all devices send the same number. */
  private String described(int step) {
    List<Long> bytes =
        devices.stream().map(device -> device.steps().get(step).bytes()).distinct().toList();
    return bytes.size() == 1 ? bytes.getFirst() + " bytes" : "";
  }
}
