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
    fields.add(
        new Variable(
            "actions",
            actionsOf(new Places(entry, index, step), all, exchange.before(), resulting)));
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
    fields.add(new Variable("vector", places.l2(entry, index, step.vector())));
    step.operand()
        .ifPresent(place -> fields.add(new Variable("operand", places.l2(entry, index, place))));
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

  /** Where the elements and messages of an exchange are. */
  private record Places(ChipSchedule entry, int index, ScheduleStep.Exchange step) {}

  private String actionsOf(
      Places at, Actions all, List<Slice> before, Optional<Action.Finish> resulting) {
    int fromOperand = at.step.operand().isPresent() ? all.keeping(before) : 0;
    List<String> elements = new ArrayList<>();
    int ended = 0;
    for (int i = 0; i < all.list().size(); i++) {
      Action action = all.list().get(i);
      List<Slice> operand = i < fromOperand ? before : List.of();
      List<Variable> fields = fields(action, at, isResulting(action, resulting), operand);
      if (action.ended() > ended) {
        ended = action.ended();
        fields.add(new Variable("ended", Integer.toString(ended)));
      }
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
      Action action, Places at, boolean isResulting, List<Slice> operand) {
    List<Variable> fields = new ArrayList<>();
    Step step = action.message();
    ElementType element = at.step.element();
    Optional<String> combine =
        action instanceof Action.Joining joining
            ? combine(joining.message().combine(), element)
            : Optional.empty();
    fields.add(new Variable("kind", kind(action, combine.isPresent())));
    fields.add(new Variable("step", Integer.toString(action.step())));
    fields.add(new Variable("chip", Integer.toString(step.peer())));
    fields.add(new Variable("bytes", Long.toString(step.bytes())));
    fields.add(new Variable("data", data(action, at, operand)));
    if (combine.isPresent()) {
      fields.add(new Variable("combine", combine.get()));
      fields.add(new Variable("messages", count(((Action.Joining) action).messages())));
    }
    if (combine.isPresent() || step.slices().size() > 1 && !(action instanceof Action.Post)) {
      fields.add(new Variable("slices", slicesOf(step.slices())));
      fields.add(new Variable("slice_count", count(step.slices())));
    }
    if (isResulting) {
      fields.add(new Variable("gives_result", "1"));
    }
    return fields;
  }

  private static String kind(Action action, boolean isJoined) {
    String slices = action.message().slices().size() == 1 ? "" : "_SLICES";
    return switch (action) {
      case Action.Send send -> "PARTITA_SEND" + slices;
      case Action.Post post -> "PARTITA_POST";
      case Action.Load load -> "PARTITA_LOAD";
      case Action.Finish finish -> isJoined ? "PARTITA_JOIN" : "PARTITA_FINISH" + slices;
    };
  }

  /** Returns where the message is in L2. */
  private String data(Action action, Places at, List<Slice> operand) {
    Step message = action.message();
    ScheduleStep.Exchange step = at.step;
    long place;
    if (!message.isInPlace()) {
      place = step.message().orElseThrow() + action.place();
    } else {
      Slice slice = message.slices().getFirst();
      long bytes = step.element().packedBytes(1);
      boolean isSentFromOperand = action instanceof Action.Send && !operand.isEmpty();
      place =
          isSentFromOperand
              ? step.operand().orElseThrow() + bytes * Slice.offset(slice, operand)
              : step.vector() + bytes * slice.start();
    }
    return places.l2(at.entry, at.index, place);
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
