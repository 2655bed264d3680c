package io.partita.backend.siracusa.code;

import io.partita.backend.siracusa.model.RoleFile.Stream;
import io.partita.backend.siracusa.model.StepCall;
import io.partita.backend.siracusa.model.StepCall.Team;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.RunningTeam;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.AwaitPreload;
import io.partita.ir.schedule.ScheduleStep.AwaitRows;
import io.partita.ir.schedule.ScheduleStep.BeginExchange;
import io.partita.ir.schedule.ScheduleStep.Clear;
import io.partita.ir.schedule.ScheduleStep.Exchange;
import io.partita.ir.schedule.ScheduleStep.FetchRows;
import io.partita.ir.schedule.ScheduleStep.Guard;
import io.partita.ir.schedule.ScheduleStep.Preload;
import io.partita.ir.schedule.ScheduleStep.RunTiles;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.schedule.ScheduleStep.WaitTransfer;
import io.partita.ir.schedule.StateLines;
import io.partita.ir.schedule.TiledKernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The steps of a run as function calls. */
final class StepCode {
  /** {@code PARTITA_STREAM_PART} of the runtime. */
  private static final long PART = 131_068;

  private final ChipSchedule chip;
  private final Set<Integer> running;
  private final PlaceNames places;
  private String lastComment = "";
  private int exchanges;

  /**
   * @param running the loops some of whose steps leave their kernel running
   */
  StepCode(ChipSchedule chip, Set<Integer> running, PlaceNames places) {
    this.chip = chip;
    this.running = running;
    this.places = places;
  }

  /** The steps that run once, before the first run. */
  List<StepCall> start() {
    lastComment = "";
    return chip.start().stream().map(step -> call(chip, -1, step)).toList();
  }

  /**
   * Returns the steps of a run, in order.
   *
   * @param entry one of the role's entry points
   */
  List<StepCall> run(ChipSchedule entry) {
    lastComment = "";
    RunningTeam team = RunningTeam.of(entry);
    List<StepCall> calls = new ArrayList<>();
    Optional<String> region = Optional.empty();
    int end = 0;
    for (int i = 0; i < entry.steps().size(); i++) {
      ScheduleStep step = entry.steps().get(i);
      if (step instanceof Guard guard) {
        region = Optional.of("region_" + i);
        end = i + 1 + guard.steps();
        calls.add(
            StepCall.flag(comment(guard.origin().text()), holds(entry, i, guard), region.get())
                .with(team(team, step, i)));
      } else {
        StepCall call = call(entry, i, step).with(team(team, step, i));
        calls.add(i < end && step.isSkippable() ? call.in(region.orElseThrow()) : call);
      }
    }
    return calls;
  }

  /** A loop awaits its own kernel itself, unless some step of it leaves that running. */
  private Team team(RunningTeam team, ScheduleStep step, int index) {
    boolean isAwaitedAfter =
        step instanceof RunTiles run && running.contains(run.kernel()) && !team.isLeft(index);
    return new Team(team.isAwaitedBefore(index), isAwaitedAfter);
  }

  /** Reads the conditions of a guarded region. */
  private String holds(ChipSchedule entry, int index, Guard guard) {
    return guard.conditions().stream()
        .map(
            each ->
                "*(%s) %s 0"
                    .formatted(places.l2(entry, index, each.home()), each.expected() ? "!=" : "=="))
        .collect(Collectors.joining(" && "));
  }

  private StepCall call(ChipSchedule entry, int index, ScheduleStep step) {
    return switch (step) {
      case RunTiles run -> {
        TiledKernel kernel = chip.kernels().get(run.kernel());
        List<String> operands = new ArrayList<>();
        for (int i = 0; i < run.operands().size(); i++) {
          int memory = kernel.operands().get(i).isNear() ? ChipSchedule.WORKING : ChipSchedule.HOME;
          operands.add(places.name(entry, index, new Address(memory, run.operands().get(i))));
        }
        String text = run.text().isEmpty() ? "" : ": " + run.text();
        yield call(run.origin().text() + text, kernel.name(), operands);
      }
      case StartTransfer start -> {
        String name = start.fetch() ? "fetch" : "spill";
        String l2 = places.l2(entry, index, start.home());
        String l3 = places.l3(start.far());
        String comment =
            "%s: %s %s bytes"
                .formatted(start.origin().text(), name, Comments.grouped(start.bytes()));
        if (start.lines().isPresent()) {
          StateLines lines = start.lines().get();
          String position = places.l2(entry, index, lines.position());
          yield call(
              comment,
              "partita_stream_spill_lines_start",
              List.of(stream(start.transfer()), lines(lines, l3, l2, position)));
        }
        yield call(
            comment,
            "partita_stream_" + name + "_start",
            List.of(
                stream(start.transfer()),
                start.fetch() ? l2 : l3,
                start.fetch() ? l3 : l2,
                Long.toString(start.bytes())));
      }
      case WaitTransfer wait ->
          call(wait.origin().text(), "partita_stream_wait", List.of(stream(wait.transfer())));
      case Preload preload -> {
        String text =
            "%s: preload %s bytes"
                .formatted(preload.origin().text(), Comments.grouped(preload.bytes()));
        String box = preload(preload.preload());
        String l1 = places.name(entry, index, new Address(ChipSchedule.WORKING, preload.working()));
        String l2 = places.l2(entry, index, preload.home());
        String bytes = Long.toString(preload.bytes());
        yield entry.isStartedByNext(index)
            ? call(text, "partita_preload", List.of(box, l1, l2, bytes))
            : call(text, "partita_box_load_start", List.of(box, l1, l2, "0", "0", bytes));
      }
      case AwaitPreload await ->
          call(await.origin().text(), "partita_box_wait", List.of(preload(await.preload())));
      case FetchRows rows ->
          call(
              "%s: %s of %s rows of %s bytes"
                  .formatted(
                      rows.origin().text(),
                      Comments.grouped(rows.count()),
                      Comments.grouped(rows.rows()),
                      Comments.grouped(rows.rowBytes())),
              "partita_fetch_rows_start",
              List.of(fetch(rows.number()), rows(entry, index, rows)));
      case AwaitRows await ->
          call(await.origin().text(), "partita_fetch_rows_wait", List.of(fetch(await.number())));
      case BeginExchange begin ->
          call(begin.origin().text(), "partita_exchange_begin", List.of(exchange(exchanges)));
      case Exchange exchange ->
          call(exchange.origin().text(), "partita_exchange", List.of(exchange(exchanges++)));
      case Clear clear ->
          call(
              clear.origin().text(),
              "partita_clear",
              List.of(places.l2(entry, index, clear.home()), Long.toString(clear.bytes())));
      case Guard guard -> throw new IllegalArgumentException("a guard before the first run");
    };
  }

  private static String exchange(int number) {
    return "&partita_model_exchanges[" + number + "]";
  }

  private StepCall call(String text, String function, List<String> arguments) {
    return StepCall.of(comment(text), function, arguments);
  }

  /** Returns a comment, unless the last one was the same. */
  private Optional<String> comment(String text) {
    String comment = Comments.clean(text);
    boolean isNew = !comment.equals(lastComment) && !comment.isBlank();
    lastComment = comment;
    return isNew ? Optional.of(comment) : Optional.empty();
  }

  private static String lines(StateLines lines, String l3, String l2, String position) {
    return ("&(const struct partita_lines){.l3 = %s, .l2 = %s, .parts = %s, .capacity = %s,"
            + " .line_bytes = %s, .count = %s, .position = %s, .position_bytes = %s,"
            + " .circular = %s}")
        .formatted(
            l3,
            l2,
            lines.parts(),
            lines.capacity(),
            lines.lineBytes(),
            lines.count(),
            position,
            lines.index().packedBytes(1),
            lines.circular() ? 1 : 0);
  }

  private String rows(ChipSchedule entry, int index, FetchRows rows) {
    return ("&(const struct partita_rows){.l3 = %s, .rows = %s, .row_bytes = %s, .indices = %s,"
            + " .index_bytes = %s, .count = %s, .l2 = %s}")
        .formatted(
            places.l3(rows.table()),
            rows.rows(),
            rows.rowBytes(),
            places.l2(entry, index, rows.indices()),
            rows.index().packedBytes(1),
            rows.count(),
            places.l2(entry, index, rows.home()));
  }

  /** Sets all states to zero. */
  List<StepCall> clear() {
    lastComment = "";
    List<StepCall> calls = new ArrayList<>();
    for (ChipSchedule.Port state : chip.states()) {
      boolean isNear = state.at().isHome();
      calls.add(
          call(
              "%s: %s, %s bytes"
                  .formatted(state.name(), state.type(), Comments.grouped(state.type().bytes())),
              isNear ? "partita_clear" : "partita_clear_l3",
              List.of(
                  isNear ? places.l2(chip, -1, state.at().offset()) : places.l3(state.at()),
                  Long.toString(state.type().bytes()))));
    }
    return calls;
  }

  /** The parts that the largest transfer of each number needs. */
  static List<Stream> streams(ChipSchedule chip) {
    Map<Integer, Long> parts = new TreeMap<>();
    List<ScheduleStep> all = new ArrayList<>(chip.start());
    all.addAll(chip.steps());
    for (ScheduleStep step : all) {
      if (step instanceof StartTransfer start) {
        parts.merge(start.transfer(), parts(start), Math::max);
      }
    }
    List<Stream> streams = new ArrayList<>();
    int count = parts.keySet().stream().mapToInt(number -> number + 1).max().orElse(0);
    for (int number = 0; number < count; number++) {
      streams.add(
          new Stream("stream_" + number + "_parts", Math.max(1, parts.getOrDefault(number, 1L))));
    }
    return streams;
  }

  /** Returns how many parts a transfer needs at most. */
  private static long parts(StartTransfer start) {
    return start
        .lines()
        .map(
            lines ->
                lines.parts()
                    * (Math.ceilDiv(lines.partBytes(), PART)
                        + (lines.circular() && lines.count() > 1 ? 1 : 0)))
        .orElse(Math.ceilDiv(start.bytes(), PART));
  }

  /** Returns how many preloads are in flight at most. */
  static int preloads(ChipSchedule chip) {
    return chip.steps().stream()
        .mapToInt(step -> step instanceof Preload preload ? preload.preload() + 1 : 0)
        .max()
        .orElse(0);
  }

  /** Returns how many fetches of rows are in flight at most. */
  static int fetches(ChipSchedule chip) {
    return chip.steps().stream()
        .mapToInt(step -> step instanceof FetchRows rows ? rows.number() + 1 : 0)
        .max()
        .orElse(0);
  }

  /** Returns the numbers of the loops that start preloads. */
  static Set<Integer> preloading(ChipSchedule chip) {
    Set<Integer> loops = new TreeSet<>();
    for (int i = 1; i < chip.steps().size(); i++) {
      if (chip.steps().get(i - 1) instanceof Preload
          && chip.steps().get(i) instanceof RunTiles loop) {
        loops.add(loop.kernel());
      }
    }
    return loops;
  }

  /** Returns the numbers of the loops some of whose steps leave their kernel running. */
  static Set<Integer> running(List<ChipSchedule> entries) {
    Set<Integer> loops = new TreeSet<>();
    for (ChipSchedule entry : entries) {
      RunningTeam team = RunningTeam.of(entry);
      for (int i = 0; i < entry.steps().size(); i++) {
        if (entry.steps().get(i) instanceof RunTiles loop && team.isLeft(i)) {
          loops.add(loop.kernel());
        }
      }
    }
    return loops;
  }

  private static String preload(int number) {
    return "&preloads[" + number + "]";
  }

  private static String fetch(int number) {
    return "&fetches[" + number + "]";
  }

  private static String stream(int number) {
    return "&streams[" + number + "]";
  }

  static String l2(long offset) {
    return "partita_l2 + " + hexadecimal(offset);
  }

  static String hexadecimal(long offset) {
    return "0x%05x".formatted(offset);
  }
}
