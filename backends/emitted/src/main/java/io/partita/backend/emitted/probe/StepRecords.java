package io.partita.backend.emitted.probe;

import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The records of one step of a chip.
 *
 * @param messages the messages of its collective
 * @param end empty if the step hasn't ended
 */
record StepRecords(List<ProbeRecord> messages, Optional<ProbeRecord> end) {
  StepRecords {
    messages = List.copyOf(messages);
  }

  /** Returns the records of each step that has written any. */
  static List<StepRecords> of(List<ProbeRecord> records) {
    List<StepRecords> steps = new ArrayList<>();
    List<ProbeRecord> messages = new ArrayList<>();
    for (ProbeRecord record : records) {
      if (record.kind() == ProbeRecord.Kind.STEP) {
        steps.add(new StepRecords(messages, Optional.of(record)));
        messages.clear();
      } else {
        messages.add(record);
      }
    }
    steps.add(new StepRecords(messages, Optional.empty()));
    return steps;
  }

  Optional<ProbeRecord> message(ProbeRecord.Kind kind, int number) {
    return messages.stream()
        .filter(record -> record.kind() == kind && record.number() == number)
        .findFirst();
  }

  /**
   * The messages that a chip sent, by receiver: as many as it should send, in order; empty if it
   * didn't get that far.
   */
  static Map<Integer, List<Optional<ProbeRecord>>> sent(
      ChipReference reference, List<StepRecords> records) {
    Map<Integer, List<Optional<ProbeRecord>>> sent = new HashMap<>();
    for (int step = 0; step < reference.steps().size(); step++) {
      if (reference.steps().get(step).exchange().isEmpty()) {
        continue;
      }
      List<Step> messages =
          ((Communication.Exchange) reference.steps().get(step).exchange().get().op()).steps();
      for (int number = 0; number < messages.size(); number++) {
        if (messages.get(number) instanceof Step.Send send) {
          int message = number;
          sent.computeIfAbsent(send.to(), chip -> new ArrayList<>())
              .add(
                  step < records.size()
                      ? records.get(step).message(ProbeRecord.Kind.SEND, message)
                      : Optional.empty());
        }
      }
    }
    return sent;
  }
}
