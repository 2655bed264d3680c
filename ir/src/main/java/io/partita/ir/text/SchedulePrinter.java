package io.partita.ir.text;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Origin;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.Port;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.StateLines;
import io.partita.ir.syntax.TextVersion;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Prints a schedule as text for {@link ScheduleParser}, without the graphs from which it was made
 * and the meaning of its steps.
 */
public final class SchedulePrinter {
  private final StringBuilder out = new StringBuilder();
  private final WeightTable weights;

  private SchedulePrinter(WeightTable weights) {
    this.weights = weights;
  }

  /** Returns the text alone; larger constants refer to a file that isn't written. */
  public static String print(Schedule schedule) {
    return print(schedule, weights(schedule));
  }

  static String print(Schedule schedule, WeightTable weights) {
    SchedulePrinter printer = new SchedulePrinter(weights);
    printer.print(schedule, schedule.program().mesh());
    return printer.out.toString();
  }

  /** The places in a file of constants to which the text refers. */
  static WeightTable weights(Schedule schedule) {
    GraphBuilder constants = new GraphBuilder("constants");
    for (ChipSchedule role : schedule.roles()) {
      for (StoredConstant constant : role.constants()) {
        constant.tensors().forEach(constants::constant);
      }
    }
    return WeightTable.of(constants.finish(), Long.MAX_VALUE);
  }

  private void line(int depth, String format, Object... arguments) {
    out.append("  ".repeat(depth)).append(format.formatted(arguments)).append('\n');
  }

  static String quoted(String text) {
    StringBuilder quoted = new StringBuilder();
    QuotedText.write(quoted, text);
    return quoted.toString();
  }

  private static String origin(Origin origin) {
    String part = origin.part();
    return quoted(origin.name()) + (part.isEmpty() ? "" : " @" + part);
  }

  /** Prints an address. */
  static String hexadecimal(long offset) {
    return "0x%05x".formatted(offset);
  }

  private void print(Schedule schedule, Mesh mesh) {
    out.append(TextVersion.SCHEDULE.line());
    String model = schedule.program().name();
    line(0, "schedule %s of %s {", quoted(schedule.target()), quoted(model));
    line(
        1,
        "mesh(%s)",
        mesh.axes().stream()
            .map(axis -> axis.name() + "=" + axis.size())
            .collect(Collectors.joining(", ")));
    schedule.inputs().forEach((name, type) -> whole("input", name, type));
    schedule.outputs().forEach((name, type) -> whole("output", name, type));
    schedule.roles().forEach(this::print);
    line(0, "}");
  }

  private void whole(String kind, String name, ShardedType type) {
    line(1, "%s %s %s", kind, quoted(name), quoted(type.toString()));
  }

  private void print(ChipSchedule role) {
    line(
        1,
        "role devices %s {",
        role.devices().stream().map(Object::toString).collect(Collectors.joining(", ")));
    CoreGrid cores = role.cores();
    String sums = cores.sums() == ElementType.F32 ? "" : ", sums " + cores.sums().text();
    line(2, "cores %d x %d%s", cores.rows(), cores.columns(), sums);
    role.memories().forEach(this::memory);
    role.inputs().forEach(port -> port("in", port, role));
    role.outputs().forEach(port -> port("out", port, role));
    role.states().forEach(port -> port("state", port, role));
    role.constants().forEach(constant -> constant(constant, role));
    role.residences()
        .forEach(
            each ->
                line(
                    2,
                    "holds %s at %s, %d B from %d to %d",
                    quoted(each.name()),
                    address(each.at(), role),
                    each.bytes(),
                    each.first(),
                    each.last()));
    role.kernels().forEach(loop -> out.append(new LoopText(loop, role.working().name()).print()));
    steps("start", role.start(), role);
    steps("run", role.steps(), role);
    line(1, "}");
  }

  private void memory(MemoryUse use) {
    line(
        2,
        "memory %s %s, aligned %d B { used %d B, needed %d B, of %d B }",
        use.name(),
        use.isPrivate() ? "private" : "shared",
        use.alignment(),
        use.used(),
        use.needed(),
        use.available());
  }

  private static String address(Address at, ChipSchedule role) {
    return role.memories().get(at.memory()).name() + " " + hexadecimal(at.offset());
  }

  private static String home(long offset, ChipSchedule role) {
    return address(Address.home(offset), role);
  }

  private void port(String kind, Port port, ChipSchedule role) {
    line(
        2,
        "%s %s: %s at %s%s",
        kind,
        quoted(port.name()),
        port.type(),
        address(port.at(), role),
        port.range().map(range -> " from " + range).orElse(""));
  }

  private void constant(StoredConstant constant, ChipSchedule role) {
    line(
        2,
        "constant %s at %s, %d B {",
        origin(constant.origin()),
        address(constant.at(), role),
        constant.bytes());
    constant.tensors().forEach(tensor -> line(3, "%s", data(tensor)));
    line(2, "} %s", quoted(constant.text()));
  }

  private String data(Tensor tensor) {
    if (!WeightTable.isInline(tensor)) {
      WeightTable.Place place = weights.place(tensor);
      return "weight %d : %s %s".formatted(place.offset(), tensor.type(), quoted(place.hash()));
    }
    String elements =
        IntStream.range(0, tensor.size())
            .mapToObj(i -> ElementText.write(tensor, i))
            .collect(Collectors.joining(", "));
    return (tensor.type().rank() == 0 ? elements : "[" + elements + "]") + " : " + tensor.type();
  }

  private void steps(String name, List<ScheduleStep> steps, ChipSchedule role) {
    line(2, "%s {", name);
    for (int i = 0; i < steps.size(); i++) {
      line(3, "%d: %s %s", i, step(steps.get(i), role), origin(steps.get(i).origin()));
    }
    line(2, "}");
  }

  private static String lines(StateLines lines) {
    return "lines %d of %d x %d, %d B by %s %s%s"
        .formatted(
            lines.count(),
            lines.capacity(),
            lines.parts(),
            lines.lineBytes(),
            lines.index(),
            hexadecimal(lines.position()),
            lines.circular() ? " circular" : "");
  }

  private static String step(ScheduleStep step, ChipSchedule role) {
    return switch (step) {
      case ScheduleStep.RunTiles run ->
          "tiles %s(%s) %s"
              .formatted(
                  role.kernels().get(run.kernel()).name(),
                  run.operands().stream()
                      .map(SchedulePrinter::hexadecimal)
                      .collect(Collectors.joining(", ")),
                  quoted(run.text()));
      case ScheduleStep.StartTransfer start ->
          "%s %d %s %s, %s"
              .formatted(
                  start.fetch() ? "fetch" : "spill",
                  start.transfer(),
                  address(start.far(), role),
                  home(start.home(), role),
                  start.lines().map(SchedulePrinter::lines).orElse(start.bytes() + " B"));
      case ScheduleStep.WaitTransfer wait -> "wait " + wait.transfer();
      case ScheduleStep.Preload preload ->
          "preload %d %s %s, %d B"
              .formatted(
                  preload.preload(),
                  home(preload.home(), role),
                  address(new Address(ChipSchedule.WORKING, preload.working()), role),
                  preload.bytes());
      case ScheduleStep.AwaitPreload await -> "await " + await.preload();
      case ScheduleStep.FetchRows rows ->
          "rows %d: %d of %d %s, %d B by %s %s %s"
              .formatted(
                  rows.number(),
                  rows.count(),
                  rows.rows(),
                  address(rows.table(), role),
                  rows.rowBytes(),
                  rows.index(),
                  hexadecimal(rows.indices()),
                  home(rows.home(), role));
      case ScheduleStep.AwaitRows await -> "await rows " + await.number();
      case ScheduleStep.BeginExchange begin -> "begin";
      case ScheduleStep.Exchange exchange -> exchange(exchange, role);
      case ScheduleStep.Guard guard ->
          "when %s for %d%s"
              .formatted(
                  guard.conditions().stream()
                      .map(each -> (each.expected() ? "" : "not ") + hexadecimal(each.home()))
                      .collect(Collectors.joining(", ")),
                  guard.steps(),
                  guard
                      .foreseen()
                      .map(
                          known ->
                              " hits %s misses %s"
                                  .formatted(numbers(known.hits()), numbers(known.misses())))
                      .orElse(""));
      case ScheduleStep.Clear clear ->
          "clear %s, %d B".formatted(home(clear.home(), role), clear.bytes());
    };
  }

  private static String numbers(List<Integer> numbers) {
    return numbers.stream().map(String::valueOf).collect(Collectors.joining(", ", "(", ")"));
  }

  private static String lines(ScheduleStep.Lines lines) {
    String place = hexadecimal(lines.home());
    return lines.isContiguous()
        ? place
        : "%s lines %d B step %d B".formatted(place, lines.bytes(), lines.stride());
  }

  private static String exchange(ScheduleStep.Exchange step, ChipSchedule role) {
    StringBuilder text = new StringBuilder("exchange " + step.element());
    step.operand().ifPresent(place -> text.append(" operand ").append(hexadecimal(place)));
    step.result().ifPresent(lines -> text.append(" result ").append(lines(lines)));
    text.append(" vector ").append(hexadecimal(step.vector()));
    step.message().ifPresent(place -> text.append(" message ").append(hexadecimal(place)));
    text.append(
        " %s, %d B {\n"
            .formatted(
                address(new Address(ChipSchedule.WORKING, step.working()), role),
                step.workingBytes()));
    for (Communication.Exchange one : step.exchanges()) {
      text.append(
          "        %d of %d before %s after %s steps %s\n"
              .formatted(
                  one.sync(),
                  one.elements(),
                  quoted(Slice.text(one.before())),
                  quoted(Slice.text(one.after())),
                  quoted(Step.text(one.steps()))));
    }
    return text.append("      }").toString();
  }
}
