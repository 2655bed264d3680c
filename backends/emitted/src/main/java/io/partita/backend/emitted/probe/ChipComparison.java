package io.partita.backend.emitted.probe;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.probe.Finding.Kind;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Shards;
import io.partita.ir.function.Combine;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;

/** Compares the records of one chip with the reference, up to the first wrong step. */
final class ChipComparison {
  private final int chip;
  private final ChipReference reference;
  private final ReferenceValues values;
  private final List<StepRecords> records;
  private final List<Map<Integer, List<Optional<ProbeRecord>>>> sent;
  private final double tolerance;
  private final Map<Integer, Integer> received = new HashMap<>();
  private Optional<Finding> finding = Optional.empty();
  private double largest;
  private String largestAt = "";

  /**
   * @param sent the messages that each chip sent, by sender and receiver
   */
  ChipComparison(
      int chip,
      ChipReference reference,
      ReferenceValues values,
      List<StepRecords> records,
      List<Map<Integer, List<Optional<ProbeRecord>>>> sent,
      double tolerance) {
    this.chip = chip;
    this.reference = reference;
    this.values = values;
    this.records = records;
    this.sent = sent;
    this.tolerance = tolerance;
  }

  /** Returns the first step that is wrong or unfinished. */
  Optional<Finding> run() {
    for (int step = 0; step < reference.steps().size() && finding.isEmpty(); step++) {
      StepRecords own =
          step < records.size() ? records.get(step) : new StepRecords(List.of(), Optional.empty());
      Optional<Node> exchange = reference.steps().get(step).exchange();
      if (exchange.isPresent()) {
        exchange(step, own, exchange.get());
      }
      if (finding.isEmpty()) {
        end(step, own);
      }
    }
    return finding;
  }

  double largest() {
    return largest;
  }

  /** The location of the largest error. */
  String largestAt() {
    return largestAt;
  }

  private void found(Kind kind, int step, String part, String expected, String found) {
    Origin origin = reference.steps().get(step).origin();
    int steps = reference.steps().size();
    finding = Optional.of(new Finding(kind, chip, step, steps, origin, part, expected, found));
  }

  private void end(int step, StepRecords own) {
    if (own.end().isEmpty()) {
      found(Kind.STOPS, step, "", "that the step ends", "that it doesn't");
      return;
    }
    ProbeRecord record = own.end().get();
    List<ChipReference.Result> results = reference.resultsOf(step);
    long bytes = results.stream().mapToLong(result -> result.value().type().bytes()).sum();
    if (record.number() != step || record.bytes() != bytes) {
      throw new PartitaException(
          ProgramCode.REFERENCE,
          "chip " + chip + ", step " + step,
          bytes + " bytes of values",
          record.bytes() + " bytes after step " + record.number(),
          "compile the model again");
    }
    long offset = 0;
    for (ChipReference.Result result : results) {
      TensorType type = result.value().type();
      Tensor found = record.tensor(type, offset);
      Tensor expected = values.get(result.value());
      if (finding.isEmpty()) {
        compare(step, "", expected, found, index -> position(type.shape(), index).toString());
      }
      values.put(result.value(), found);
      offset += type.bytes();
    }
  }

  /**
   * Reports the first wrong element.
   *
   * @param name returns the name of the element at an index
   */
  private void compare(
      int step, String part, Tensor expected, Tensor found, IntFunction<String> name) {
    if (values.damage().isPresent()) {
      found(Kind.DIVERGES, step, part, "the weights that were compiled", values.damage().get());
      return;
    }
    Agreement agreement = Agreement.of(expected, found, tolerance);
    if (agreement.first().isPresent()) {
      int index = agreement.first().getAsInt();
      found(
          Kind.DIVERGES,
          step,
          (part.isEmpty() ? "" : part + ", ") + "element " + name.apply(index),
          Agreement.text(expected, index),
          Agreement.text(found, index)
              + " (%d of %d elements differ)".formatted(agreement.wrong(), expected.size()));
    } else if (agreement.largest() > largest) {
      largest = agreement.largest();
      largestAt =
          "chip "
              + chip
              + ", step "
              + step
              + ", node "
              + reference.steps().get(step).origin().text();
    }
  }

  private static List<Long> position(Shape shape, int index) {
    List<Long> position = new ArrayList<>();
    long left = index;
    for (int i = shape.rank() - 1; i >= 0; i--) {
      position.addFirst(left % shape.extent(i));
      left /= shape.extent(i);
    }
    return position;
  }

  private void exchange(int step, StepRecords own, Node node) {
    Communication.Exchange op = (Communication.Exchange) node.op();
    Vector vector = new Vector(op.element(), op.elements());
    if (!node.operands().isEmpty()) {
      vector.write(op.before(), values.get(node.operand(0)));
    }
    for (int number = 0; number < op.steps().size() && finding.isEmpty(); number++) {
      Step message = op.steps().get(number);
      String part = "message %d of %d (%s)".formatted(number, op.steps().size(), message);
      switch (message) {
        case Step.Send send -> send(step, own, number, part, send, vector);
        case Step.Receive receive -> receive(step, own, number, part, receive, vector);
      }
    }
    values.put(node.result(), vector.read(op.after()));
  }

  /** Whether the message began correctly. */
  private boolean begins(
      int step,
      StepRecords own,
      Optional<ProbeRecord> record,
      String part,
      Step message,
      TensorType type) {
    if (record.isEmpty()) {
      Kind kind = own.end().isPresent() ? Kind.DIVERGES : Kind.STOPS;
      found(kind, step, part, "that the message begins", "that it doesn't");
    } else if (record.get().chip() != message.peer() || record.get().bytes() != type.bytes()) {
      boolean isSend = message instanceof Step.Send;
      found(
          Kind.DIVERGES,
          step,
          part,
          "%d B %s chip %d".formatted(type.bytes(), isSend ? "to" : "from", message.peer()),
          "%d B %s chip %d"
              .formatted(record.get().bytes(), isSend ? "to" : "from", record.get().chip()));
    }
    return finding.isEmpty();
  }

  private void send(
      int step, StepRecords own, int number, String part, Step.Send send, Vector vector) {
    Optional<ProbeRecord> record = own.message(ProbeRecord.Kind.SEND, number);
    TensorType type = vector.type(send.slices());
    if (begins(step, own, record, part, send, type)) {
      compareSlices(
          step, part, send.slices(), vector.read(send.slices()), record.get().tensor(type, 0));
    }
  }

  private void receive(
      int step, StepRecords own, int number, String part, Step.Receive receive, Vector vector) {
    int place = received.merge(receive.from(), 1, Integer::sum) - 1;
    Optional<ProbeRecord> begun = own.message(ProbeRecord.Kind.RECEIVE, number);
    TensorType type = vector.type(receive.slices());
    if (!begins(step, own, begun, part, receive, type)) {
      return;
    }
    Optional<ProbeRecord> done = own.message(ProbeRecord.Kind.RECEIVED, number);
    if (done.isEmpty()) {
      found(Kind.STOPS, step, part, "a message from chip " + receive.from(), "none");
      return;
    }
    Tensor found = done.get().tensor(type, 0);
    List<Optional<ProbeRecord>> channel = sent.get(receive.from()).getOrDefault(chip, List.of());
    Optional<ProbeRecord> message = place < channel.size() ? channel.get(place) : Optional.empty();
    // A wrong receiver or size is the sender's fault.
    if (message.isPresent()
        && message.get().chip() == chip
        && message.get().bytes() == type.bytes()) {
      Tensor given = message.get().tensor(type, 0);
      Combine combine = receive.combine();
      Tensor expected = Shards.combine(combine, vector.read(receive.slices()), given);
      compareSlices(step, part, receive.slices(), expected, found);
    }
    vector.write(receive.slices(), found);
  }

  /** Elements of messages are named by their index in the collective's vector. */
  private void compareSlices(
      int step, String part, List<Slice> slices, Tensor expected, Tensor found) {
    compare(step, part, expected, found, index -> Vector.place(slices, index) + " of the vector");
  }
}
