package io.partita.backend.siracusa.code;

import io.partita.backend.siracusa.model.ChipFile;
import io.partita.backend.siracusa.model.LoopFunction;
import io.partita.backend.siracusa.model.RoleFile;
import io.partita.backend.siracusa.model.StepCall;
import io.partita.ir.graph.InputRange;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.MemoryUse;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.ElementRun;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The C files of roles and chips. */
public final class RoleCode {
  private RoleCode() {}

  /**
   * Returns the C file of one role.
   *
   * @param chunk the schedule of the same chips for several tokens at once
   */
  public static RoleFile role(Schedule schedule, Optional<Schedule> chunk, int number) {
    ChipSchedule chip = schedule.roles().get(number);
    Optional<ChipSchedule> several = chunk.map(entry -> entry.roles().get(number));
    ChipSchedule all = joined(chip, several);
    List<ChipSchedule> entries = several.map(own -> List.of(chip, own)).orElse(List.of(chip));
    PlaceNames places = new PlaceNames(entries);
    Set<Integer> running = StepCode.running(entries);
    StepCode steps = new StepCode(chip, running, places);
    List<StepCall> clear = steps.clear();
    List<StepCall> start = steps.start();
    List<StepCall> calls = steps.run(chip);
    List<RoleFile.Port> inputs = ports(places, chip, -1, chip.inputs());
    List<RoleFile.Port> outputs = ports(places, chip, chip.steps().size(), chip.outputs());
    Optional<RoleFile.Chunk> other =
        several.map(
            own ->
                new RoleFile.Chunk(
                    steps.run(own),
                    ports(places, own, -1, own.inputs()),
                    ports(places, own, own.steps().size(), own.outputs())));
    List<RoleFile.Probe> probes = ProbeCode.probes(chip, places);
    return new RoleFile(
        comment(schedule, all),
        includes(all),
        places.used(),
        most(chip, Direction.LOAD),
        most(chip, Direction.STORE),
        loops(chip, StepCode.preloading(all), running),
        StepCode.preloads(all),
        StepCode.fetches(all),
        StepCode.streams(all),
        ExchangeTables.has(all),
        clear,
        start,
        calls,
        probes,
        inputs,
        outputs,
        other);
  }

  private static List<LoopFunction> loops(
      ChipSchedule chip, Set<Integer> preloading, Set<Integer> running) {
    return IntStream.range(0, chip.kernels().size())
        .mapToObj(
            i -> LoopCode.of(chip.kernels().get(i), preloading.contains(i), running.contains(i)))
        .toList();
  }

  /** The steps of both entry points in sequence, for tables that both use. */
  public static ChipSchedule joined(ChipSchedule chip, Optional<ChipSchedule> chunk) {
    return chunk
        .map(
            own ->
                new ChipSchedule(
                    chip.devices(),
                    chip.cores(),
                    larger(chip.memories(), own.memories()),
                    chip.kernels(),
                    chip.start(),
                    Stream.concat(chip.steps().stream(), own.steps().stream()).toList(),
                    chip.inputs(),
                    chip.outputs(),
                    chip.states(),
                    chip.constants(),
                    List.of(),
                    Optional.empty()))
        .orElse(chip);
  }

  private static List<MemoryUse> larger(List<MemoryUse> one, List<MemoryUse> other) {
    return IntStream.range(0, one.size())
        .mapToObj(i -> one.get(i).used() >= other.get(i).used() ? one.get(i) : other.get(i))
        .toList();
  }

  /** The most boxes of one direction in a loop; at least 1, since C has no empty arrays. */
  private static long most(ChipSchedule chip, Direction direction) {
    return chip.kernels().stream()
        .mapToLong(kernel -> BoxCode.count(kernel, direction))
        .reduce(1, Math::max);
  }

  /** Whether each chip of the role has its own file. */
  public static boolean hasChipFiles(ChipSchedule role) {
    return ExchangeTables.has(role);
  }

  /**
   * Returns the C file of one chip of a role.
   *
   * @param chunk the schedule of the same chips for several tokens at once
   */
  public static ChipFile chip(Schedule schedule, Optional<Schedule> chunk, int number, int member) {
    List<ChipSchedule> entries = new ArrayList<>(List.of(schedule.roles().get(number)));
    chunk.ifPresent(own -> entries.add(own.roles().get(number)));
    return ExchangeTables.of(entries, member);
  }

  private static List<String> comment(Schedule schedule, ChipSchedule chip) {
    String chips = chip.devices().stream().map(Object::toString).collect(Collectors.joining(", "));
    List<String> lines = new ArrayList<>();
    lines.add(Comments.clean(schedule.program().name()) + " on chip " + chips + ".");
    lines.add("");
    chip.memories().forEach(use -> lines.add(memory(use)));
    return lines;
  }

  private static String memory(MemoryUse use) {
    return "%s: %s of %s bytes"
        .formatted(
            use.name().toUpperCase(Locale.ROOT),
            Comments.grouped(use.used()),
            Comments.grouped(use.available()));
  }

  private static List<String> includes(ChipSchedule chip) {
    SortedSet<String> headers = new TreeSet<>();
    for (TiledKernel kernel : chip.kernels()) {
      kernel.calls().forEach(call -> headers.add("kernels/" + call.kernel().struct().header()));
      for (ElementRun run : ElementRun.of(kernel.calls())) {
        headers.add(run.isGrouped() ? "kernels/levels.h" : "kernels/requantized.h");
      }
    }
    headers.add("tiles/box.h");
    if (StepCode.preloads(chip) > 0) {
      headers.add("tiles/preload.h");
    }
    headers.add("tiles/stream.h");
    if (ExchangeTables.has(chip)) {
      headers.add("collectives/exchange.h");
    }
    return new ArrayList<>(headers);
  }

  /**
   * @param step the step at which the ports have their values
   */
  private static List<RoleFile.Port> ports(
      PlaceNames places, ChipSchedule entry, int step, List<ChipSchedule.Port> ports) {
    return ports.stream()
        .map(
            port -> {
              if (!port.at().isHome()) {
                throw new IllegalArgumentException("input or output in L3: " + port);
              }
              return new RoleFile.Port(
                  Comments.quoted(port.name()),
                  Comments.quoted(port.type().toString()),
                  places.l2(entry, step, port.at().offset()),
                  port.type().bytes(),
                  port.range().isPresent() ? port.type().element().bits() / Byte.SIZE : 0,
                  literal(port.range().map(InputRange::least)),
                  literal(port.range().map(InputRange::most)));
            })
        .toList();
  }

  /** Bounds that fit {@code int} on all targets need no suffix. */
  private static String literal(Optional<Long> bound) {
    long value = bound.orElse(0L);
    return value == (int) value && value != Integer.MIN_VALUE ? "" + value : value + "LL";
  }
}
