package io.partita.ir.text;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Origin;
import io.partita.ir.message.Slice;
import io.partita.ir.message.StepReader;
import io.partita.ir.op.Communication;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.StateLines;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.antlr.v4.runtime.tree.TerminalNode;

/** Parses the steps of a role. */
final class StepTreeReader {
  private final ScheduleParser parser;
  private final Locator locator;
  private final Map<String, Integer> loops;

  /**
   * @param loops the numbers of loops by name
   */
  StepTreeReader(ScheduleParser parser, Locator locator, Map<String, Integer> loops) {
    this.parser = parser;
    this.locator = locator;
    this.loops = loops;
  }

  List<ScheduleStep> steps(ScheduleSyntaxParser.StepsContext tree) {
    List<ScheduleStep> steps = new ArrayList<>();
    for (ScheduleSyntaxParser.NumberedContext each : tree.numbered()) {
      if (!each.INTEGER().getText().equals(Integer.toString(steps.size()))) {
        throw locator.error(
            TextCode.ATTRIBUTE, each.start, "the step's number " + steps.size(), "");
      }
      steps.add(step(each, parser.origin(each.origin())));
    }
    return steps;
  }

  private ScheduleStep step(ScheduleSyntaxParser.NumberedContext tree, Origin origin) {
    if (tree.tiles() != null) {
      ScheduleSyntaxParser.TilesContext tiles = tree.tiles();
      Integer loop = loops.get(tiles.name().getText());
      if (loop == null) {
        throw locator.error(TextCode.UNDEFINED, tiles.name().start, "a loop of the role", "");
      }
      return new ScheduleStep.RunTiles(
          loop,
          tiles.integer().stream().map(parser::integer).toList(),
          origin,
          parser.text(tiles.STRING()));
    } else if (tree.transfer() != null) {
      ScheduleSyntaxParser.TransferContext transfer = tree.transfer();
      int number = parser.small(transfer.integer());
      Address far = parser.address(transfer.address(0));
      long home = parser.offset(transfer.address(1), ChipSchedule.HOME);
      return transfer.stateLines() == null
          ? new ScheduleStep.StartTransfer(
              number,
              transfer.start.getText().equals("fetch"),
              far,
              home,
              parser.bytes(transfer.bytes()),
              origin)
          : ScheduleStep.StartTransfer.spill(
              number, far, home, lines(transfer.stateLines()), origin);
    } else if (tree.wait_() != null) {
      return new ScheduleStep.WaitTransfer(parser.small(tree.wait_().integer()), origin);
    } else if (tree.preload() != null) {
      ScheduleSyntaxParser.PreloadContext preload = tree.preload();
      return new ScheduleStep.Preload(
          parser.small(preload.integer()),
          parser.offset(preload.address(0), ChipSchedule.HOME),
          parser.offset(preload.address(1), ChipSchedule.WORKING),
          parser.bytes(preload.bytes()),
          origin);
    } else if (tree.await_() != null) {
      return new ScheduleStep.AwaitPreload(parser.small(tree.await_().integer()), origin);
    } else if (tree.rows() != null) {
      ScheduleSyntaxParser.RowsContext rows = tree.rows();
      return new ScheduleStep.FetchRows(
          parser.small(rows.integer(0)),
          parser.address(rows.address(0)),
          parser.integer(rows.integer(2)),
          parser.bytes(rows.bytes()),
          parser.integer(rows.integer(3)),
          parser.element(rows.name()),
          parser.integer(rows.integer(1)),
          parser.offset(rows.address(1), ChipSchedule.HOME),
          origin);
    } else if (tree.awaitRows() != null) {
      return new ScheduleStep.AwaitRows(parser.small(tree.awaitRows().integer()), origin);
    } else if (tree.begin() != null) {
      return new ScheduleStep.BeginExchange(origin);
    } else if (tree.exchange() != null) {
      return exchange(tree.exchange(), origin);
    } else if (tree.guard() != null) {
      ScheduleSyntaxParser.GuardContext guard = tree.guard();
      return new ScheduleStep.Guard(
          guard.condition().stream().map(this::condition).toList(),
          parser.small(guard.integer()),
          Optional.ofNullable(guard.foreseen()).map(this::foreseen),
          origin);
    }
    return new ScheduleStep.Clear(
        parser.offset(tree.clear().address(), ChipSchedule.HOME),
        parser.bytes(tree.clear().bytes()),
        origin);
  }

  private StateLines lines(ScheduleSyntaxParser.StateLinesContext tree) {
    return new StateLines(
        parser.integer(tree.integer(3)),
        parser.element(tree.name()),
        parser.integer(tree.integer(0)),
        parser.integer(tree.integer(1)),
        parser.integer(tree.integer(2)),
        parser.bytes(tree.bytes()),
        tree.CIRCULAR() != null);
  }

  private ScheduleStep.Foreseen foreseen(ScheduleSyntaxParser.ForeseenContext tree) {
    return new ScheduleStep.Foreseen(numbers(tree.numbers(0)), numbers(tree.numbers(1)));
  }

  private List<Integer> numbers(ScheduleSyntaxParser.NumbersContext tree) {
    return tree.integer().stream().map(parser::small).toList();
  }

  private ScheduleStep.Condition condition(ScheduleSyntaxParser.ConditionContext tree) {
    boolean isNegated = tree.start.getText().equals("not");
    return new ScheduleStep.Condition(parser.integer(tree.integer()), !isNegated);
  }

  private ScheduleStep exchange(ScheduleSyntaxParser.ExchangeContext tree, Origin origin) {
    ElementType element = parser.element(tree.name());
    List<Communication.Exchange> devices =
        tree.device().stream().map(device -> exchange(device, element)).toList();
    return new ScheduleStep.Exchange(
        devices,
        element,
        optional(tree.operandPlace() == null ? null : tree.operandPlace().integer()),
        Optional.ofNullable(tree.resultPlace()).map(place -> lines(place, devices, element)),
        parser.integer(tree.integer()),
        optional(tree.messagePlace() == null ? null : tree.messagePlace().integer()),
        parser.offset(tree.address(), ChipSchedule.WORKING),
        parser.bytes(tree.bytes()),
        origin);
  }

  private ScheduleStep.Lines lines(
      ScheduleSyntaxParser.ResultPlaceContext tree,
      List<Communication.Exchange> devices,
      ElementType element) {
    long home = parser.integer(tree.integer());
    if (!tree.bytes().isEmpty()) {
      return new ScheduleStep.Lines(home, parser.bytes(tree.bytes(0)), parser.bytes(tree.bytes(1)));
    }
    long elements = devices.isEmpty() ? 0 : Slice.elements(devices.getFirst().after());
    return ScheduleStep.Lines.contiguous(home, element.packedBytes(elements));
  }

  private Optional<Long> optional(ScheduleSyntaxParser.IntegerContext tree) {
    return Optional.ofNullable(tree).map(parser::integer);
  }

  private Communication.Exchange exchange(
      ScheduleSyntaxParser.DeviceContext tree, ElementType element) {
    try {
      return new Communication.Exchange(
          parser.small(tree.integer(0)),
          parser.integer(tree.integer(1)),
          element,
          StepReader.slices(parser.text(tree.STRING(0))),
          StepReader.slices(parser.text(tree.STRING(1))),
          StepReader.steps(parser.text(tree.STRING(2))));
    } catch (IllegalArgumentException e) {
      throw wrong(tree.STRING(2), e.getMessage());
    }
  }

  private PartitaException wrong(TerminalNode place, String expected) {
    return locator.error(TextCode.ATTRIBUTE, place.getSymbol(), expected, "");
  }
}
