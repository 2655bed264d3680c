package io.partita.backend.emitted.measure;

import io.partita.backend.emitted.DescriptionFields;
import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ScheduleStep;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A description of a step of a program.
 *
 * @param origin the origin of the node
 * @param call the function of a loop; else empty
 * @param transfer the number of a transfer that starts or is awaited; else -1
 * @param l3 the L3 address of a transfer that starts; else 0
 * @param bytes the bytes of a transfer that starts; else 0
 */
public record StepLabel(Kind kind, Origin origin, String call, int transfer, long l3, long bytes) {
  /** The kinds of {@link ScheduleStep}s. */
  public enum Kind {
    /** Cores compute a loop over tiles. */
    LOOP("loop"),
    /** A transfer from L3 to L2 starts. */
    FETCH("fetch"),
    /** A transfer from L2 to L3 starts. */
    SPILL("spill"),
    /** The chip waits for a transfer. */
    WAIT("wait"),
    /** A transfer of a constant from L2 to L1 starts. */
    PRELOAD("preload"),
    /** The chip waits for one. */
    AWAIT("await"),
    /** Fetches of rows of a table in L3 start. */
    ROWS("rows"),
    /** The chip waits for them. */
    AWAIT_ROWS("await rows"),
    /** Messages to and from other chips begin. */
    BEGIN("begin"),
    /** Messages to and from other chips. */
    EXCHANGE("exchange"),
    /** The conditions of a guarded region are read. */
    GUARD("guard"),
    /** Memory is filled with zeros. */
    CLEAR("clear");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }

    /** Whether the chip only waits for L3 during the step. */
    public boolean waitsForL3() {
      return this == WAIT || this == AWAIT_ROWS;
    }

    private static Kind of(String text) {
      return Arrays.stream(values())
          .filter(kind -> kind.text.equals(text))
          .findFirst()
          .orElseThrow(() -> new IllegalArgumentException("an unknown kind of step: " + text));
    }
  }

  static StepLabel of(ScheduleStep step, ChipSchedule chip) {
    Origin origin = step.origin();
    return switch (step) {
      case ScheduleStep.RunTiles loop ->
          new StepLabel(Kind.LOOP, origin, chip.kernels().get(loop.kernel()).name(), -1, 0, 0);
      case ScheduleStep.StartTransfer start ->
          new StepLabel(
              start.fetch() ? Kind.FETCH : Kind.SPILL,
              origin,
              "",
              start.transfer(),
              start.far().offset(),
              start.bytes());
      case ScheduleStep.WaitTransfer wait ->
          new StepLabel(Kind.WAIT, origin, "", wait.transfer(), 0, 0);
      case ScheduleStep.Preload preload ->
          new StepLabel(Kind.PRELOAD, origin, "", -1, 0, preload.bytes());
      case ScheduleStep.AwaitPreload await -> new StepLabel(Kind.AWAIT, origin, "", -1, 0, 0);
      case ScheduleStep.FetchRows rows -> new StepLabel(Kind.ROWS, origin, "", -1, 0, 0);
      case ScheduleStep.AwaitRows await -> new StepLabel(Kind.AWAIT_ROWS, origin, "", -1, 0, 0);
      case ScheduleStep.BeginExchange begin -> new StepLabel(Kind.BEGIN, origin, "", -1, 0, 0);
      case ScheduleStep.Exchange exchange -> new StepLabel(Kind.EXCHANGE, origin, "", -1, 0, 0);
      case ScheduleStep.Guard guard -> new StepLabel(Kind.GUARD, origin, "", -1, 0, 0);
      case ScheduleStep.Clear clear -> new StepLabel(Kind.CLEAR, origin, "", -1, 0, 0);
    };
  }

  static StepLabel of(DescriptionFields fields) {
    return new StepLabel(
        Kind.of(fields.text("kind")),
        fields.origin(),
        fields.has("call") ? fields.text("call") : "",
        fields.has("transfer") ? Math.toIntExact(fields.extent("transfer")) : -1,
        fields.has("l3") ? fields.extent("l3") : 0,
        fields.has("bytes") ? fields.extent("bytes") : 0);
  }

  /** The fields for JSON. */
  public Map<String, Object> fields() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("kind", kind.text);
    DescriptionFields.put(origin, fields);
    if (!call.isEmpty()) {
      fields.put("call", call);
    }
    if (transfer >= 0) {
      fields.put("transfer", transfer);
    }
    if (bytes > 0) {
      fields.put("l3", l3);
      fields.put("bytes", bytes);
    }
    return fields;
  }
}
