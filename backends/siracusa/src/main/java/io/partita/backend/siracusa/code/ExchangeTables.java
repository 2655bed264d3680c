package io.partita.backend.siracusa.code;

import io.partita.backend.siracusa.model.ChipFile;
import io.partita.backend.siracusa.model.ChipFile.Table;
import io.partita.backend.siracusa.model.LoopFunction.Variable;
import io.partita.ir.function.Combine;
import io.partita.ir.message.Action;
import io.partita.ir.message.Actions;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** One chip's messages as constant tables, which exchanges share where equal. */
final class ExchangeTables {
  private final Map<List<String>, String> slices = new LinkedHashMap<>();
  private final Map<List<String>, String> actions = new LinkedHashMap<>();
  private final List<ChipFile.Exchange> exchanges = new ArrayList<>();
  private final PlaceNames places;
  private final int member;

  private ExchangeTables(PlaceNames places, int member) {
    this.places = places;
    this.member = member;
  }

  static boolean has(ChipSchedule role) {
    return Stream.of(role.start(), role.steps())
        .flatMap(List::stream)
        .anyMatch(ScheduleStep.Exchange.class::isInstance);
  }

  /**
   * @param entries the entry points of the chip's role; the first one has the steps that run once
   * @param member the index of the chip in its role
   */
  static ChipFile of(List<ChipSchedule> entries, int member) {
    PlaceNames places = new PlaceNames(entries);
    ExchangeTables tables = new ExchangeTables(places, member);
    ChipSchedule first = entries.getFirst();
    first.start().forEach(step -> tables.add(first, -1, step));
    for (ChipSchedule entry : entries) {
      for (int step = 0; step < entry.steps().size(); step++) {
        tables.add(entry, step, entry.steps().get(step));
      }
    }
    return new ChipFile(
        first.devices().get(member),
        places.used(),
        tables(tables.slices),
        tables(tables.actions),
        tables.exchanges);
  }

  private static List<Table> tables(Map<List<String>, String> named) {
    List<Table> tables = new ArrayList<>();
    named.forEach((elements, name) -> tables.add(new Table(name, elements)));
    return tables;
  }

  private void add(ChipSchedule entry, int index, ScheduleStep any) {
    if (!(any instanceof ScheduleStep.Exchange step)) {
      return;
    }
    Communication.Exchange exchange = step.exchanges().get(member);
    Actions all = exchange.actions();
    List<Action> list = all.list();
    List<Variable> fields = new ArrayList<>();
    Optional<Action.Finish> resulting =
        step.result().isPresent() ? all.resulting(exchange.after()) : Optional.empty();
    fields.add(new Variable("actions", actionsOf(all, step, exchange.before(), resulting)));
    fields.add(new Variable("action_count", count(list)));
    fields.add(new Variable("copying", Integer.toString(all.copying())));
    fields.add(new Variable("beginning", Integer.toString(all.beginning())));
    if (step.operand().isPresent()) {
      fields.add(new Variable("keeping", Integer.toString(all.keeping(exchange.before()))));
      fields.add(new Variable("before", slicesOf(exchange.before())));
      fields.add(new Variable("before_count", count(exchange.before())));
    }
    if (step.result().isPresent() && resulting.isEmpty()) {
      fields.add(new Variable("after", slicesOf(exchange.after())));
      fields.add(new Variable("after_count", count(exchange.after())));
    }
    step.result().ifPresent(lines -> fields.addAll(result(entry, index, lines)));
    fields.add(new Variable("element_bytes", Long.toString(step.element().packedBytes(1))));
    List<String> memory = new ArrayList<>();
    memory.add("[PARTITA_VECTOR] = " + places.l2(entry, index, step.vector()));
    step.message()
        .ifPresent(place -> memory.add("[PARTITA_BUFFERS] = " + places.l2(entry, index, place)));
    step.operand()
        .ifPresent(place -> memory.add("[PARTITA_OPERAND] = " + places.l2(entry, index, place)));
    fields.add(new Variable("places", "{" + String.join(", ", memory) + "}"));
    fields.add(new Variable("workspace", "partita_l1 + " + step.working()));
    fields.add(new Variable("workspace_bytes", Long.toString(step.workingBytes())));
    String size =
        " (%s, %s elements)".formatted(step.element(), Comments.grouped(exchange.elements()));
    exchanges.add(new ChipFile.Exchange(Comments.clean(step.origin().text() + size), fields));
  }

  private List<Variable> result(ChipSchedule entry, int index, ScheduleStep.Lines lines) {
    Variable place = new Variable("result", places.l2(entry, index, lines.home()));
    return lines.isContiguous()
        ? List.of(place)
        : List.of(
            place,
            new Variable("line_bytes", Long.toString(lines.bytes())),
            new Variable("line_stride", Long.toString(lines.stride())));
  }

  private static String count(List<?> list) {
    return Integer.toString(list.size());
  }

  private String slicesOf(List<Slice> list) {
    return named(slices, "slices_", list.stream().map(ExchangeTables::text).toList());
  }

  private static String text(Slice slice) {
    return "{.start = %s, .size = %s}".formatted(slice.start(), slice.size());
  }

  private String actionsOf(
      Actions all,
      ScheduleStep.Exchange step,
      List<Slice> before,
      Optional<Action.Finish> resulting) {
    int fromOperand = step.operand().isPresent() ? all.keeping(before) : 0;
    List<String> elements = new ArrayList<>();
    for (int i = 0; i < all.list().size(); i++) {
      Action action = all.list().get(i);
      List<Slice> operand = i < fromOperand ? before : List.of();
      List<Variable> fields =
          fields(action, step.element(), isResulting(action, resulting), operand);
      elements.add(
          fields.stream()
              .map(field -> "." + field.name() + " = " + field.value())
              .collect(Collectors.joining(", ", "{", "}")));
    }
    return named(actions, "actions_", elements);
  }

  /** Whether the action joins what is stored in the result. */
  private static boolean isResulting(Action action, Optional<Action.Finish> resulting) {
    return action instanceof Action.Joining
        && resulting.isPresent()
        && action.step() == resulting.get().step();
  }

  /**
   * @param operand the elements of the operand, if messages of these are sent from there
   */
  private List<Variable> fields(
      Action action, ElementType element, boolean isResulting, List<Slice> operand) {
    List<Variable> fields = new ArrayList<>();
    Step step = action.message();
    fields.add(
        new Variable(
            "kind",
            switch (action) {
              case Action.Send send -> "PARTITA_SEND";
              case Action.Post post -> "PARTITA_POST";
              case Action.Load load -> "PARTITA_LOAD";
              case Action.Finish finish -> "PARTITA_FINISH";
            }));
    fields.add(new Variable("step", Integer.toString(action.step())));
    if (action.ended() > 0) {
      fields.add(new Variable("ended", Integer.toString(action.ended())));
    }
    fields.add(new Variable("chip", Integer.toString(step.peer())));
    fields.add(new Variable("bytes", Long.toString(step.bytes())));
    if (step instanceof Step.Receive receive) {
      combine(receive.combine(), element)
          .ifPresent(kernel -> fields.add(new Variable("combine", kernel)));
    }
    if (action instanceof Action.Joining joining) {
      fields.add(new Variable("messages", count(joining.messages())));
    }
    if (step.slices().size() == 1) {
      fields.add(new Variable("slice", text(step.slices().getFirst())));
    } else {
      fields.add(new Variable("slices", slicesOf(step.slices())));
      fields.add(new Variable("slice_count", count(step.slices())));
    }
    if (isResulting) {
      fields.add(new Variable("gives_result", "1"));
    }
    fields.addAll(place(action, element, operand));
    return fields;
  }

  /** Where the message is in L2, without what is 0. */
  private static List<Variable> place(Action action, ElementType element, List<Slice> operand) {
    Step step = action.message();
    List<Variable> fields = new ArrayList<>();
    long at = action.place();
    if (step.isInPlace()) {
      Slice slice = step.slices().getFirst();
      boolean isSentFromOperand = action instanceof Action.Send && !operand.isEmpty();
      at =
          element.packedBytes(1)
              * (isSentFromOperand ? Slice.offset(slice, operand) : slice.start());
      if (isSentFromOperand) {
        fields.add(new Variable("in", "PARTITA_OPERAND"));
      }
    } else {
      fields.add(new Variable("in", "PARTITA_BUFFERS"));
    }
    if (at > 0) {
      fields.add(new Variable("at", Long.toString(at)));
    }
    return fields;
  }

  private static String named(
      Map<List<String>, String> tables, String prefix, List<String> elements) {
    return elements.isEmpty()
        ? "0"
        : tables.computeIfAbsent(elements, key -> prefix + tables.size());
  }

  private static Optional<String> combine(Combine combine, ElementType element) {
    return combine
        .function()
        .map(function -> "partita_join_" + function.text() + "_" + element.text());
  }
}
