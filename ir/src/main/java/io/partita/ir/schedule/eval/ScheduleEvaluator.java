package io.partita.ir.schedule.eval;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.EvaluationCode;
import io.partita.ir.eval.Shards;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleFault;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The meaning of a schedule, or of the schedules of the entry points of a program: the computation
 * of devices on the bytes of their memories. Kernels give the bits of C kernels that are exact, and
 * stay within the same error bounds otherwise. Devices take turns, and each runs until it has to
 * wait.
 *
 * <p>A byte that is read must have been written in its live range; bytes of constants and of
 * transfers in flight must not be written; tiles and accesses of kernels must stay inside their
 * memory. Weights and states persist between runs.
 */
public final class ScheduleEvaluator {
  private final List<Schedule> entries;
  private final Mailbox mailbox = new Mailbox();
  private final List<ChipRun> chips = new ArrayList<>();

  /** The state before the first run. */
  public ScheduleEvaluator(Schedule schedule) {
    this(List.of(schedule));
  }

  /**
   * @param entries the schedules, which {@link io.partita.ir.schedule.ScheduleVerifier} must accept
   *     together
   */
  public ScheduleEvaluator(List<Schedule> entries) {
    this.entries = List.copyOf(entries);
    List<ChipSchedule> roles = entries.getFirst().roles();
    for (int role = 0; role < roles.size(); role++) {
      int number = role;
      List<ChipSchedule> own = entries.stream().map(entry -> entry.roles().get(number)).toList();
      for (int member = 0; member < roles.get(role).devices().size(); member++) {
        chips.add(new ChipRun(own, member, mailbox));
      }
    }
    chips.sort(java.util.Comparator.comparingInt(ChipRun::device));
    chips.forEach(ChipRun::start);
    advance();
  }

  /** Resets states to zeros, as before the first run. */
  public void reset() {
    chips.forEach(ChipRun::clearStates);
  }

  /** Runs the first entry point, like {@link #run(int, Map)}. */
  public SortedMap<String, Tensor> run(Map<String, Tensor> inputs) {
    return run(0, inputs);
  }

  /**
   * Runs an entry point once.
   *
   * @param inputs the whole inputs by name
   * @return the whole outputs by name, without states
   * @throws PartitaException with {@link EvaluationCode#INPUT_MISMATCH} if an input is missing or
   *     has another type, with a {@link ScheduleFault} if a device breaks a rule, with its step,
   *     loop and tile
   */
  public SortedMap<String, Tensor> run(int entry, Map<String, Tensor> inputs) {
    Schedule schedule = entries.get(entry);
    for (ChipRun chip : chips) {
      chip.begin(entry, parts(schedule, chip.device(), inputs));
    }
    advance();
    if (!mailbox.isEmpty()) {
      throw ScheduleFault.TRANSFER.at("a run", "every message received", "unreceived messages");
    }
    Map<Integer, Map<String, Tensor>> outputs = new HashMap<>();
    chips.forEach(chip -> outputs.put(chip.device(), chip.outputs()));
    SortedMap<String, Tensor> whole = new TreeMap<>();
    schedule
        .outputs()
        .forEach(
            (name, sharded) -> {
              if (isGiven(name, sharded, outputs)) {
                whole.put(name, whole(name, sharded, outputs));
              }
            });
    return whole;
  }

  /** States are not returned; they stay on the devices. */
  private static boolean isGiven(
      String name, ShardedType sharded, Map<Integer, Map<String, Tensor>> outputs) {
    return sharded.type().shape().elements() == 0
        || outputs.values().stream().anyMatch(own -> own.containsKey(name));
  }

  private void advance() {
    boolean moves = true;
    while (moves) {
      moves = false;
      for (ChipRun chip : chips) {
        moves |= chip.advance();
      }
    }
    for (ChipRun chip : chips) {
      if (!chip.isDone()) {
        throw ScheduleFault.TRANSFER.at(chip.toString(), "a matching send", "a deadlock");
      }
    }
  }

  private static Map<String, Tensor> parts(
      Schedule schedule, int device, Map<String, Tensor> inputs) {
    Map<String, Tensor> parts = new HashMap<>();
    schedule
        .inputs()
        .forEach(
            (name, sharded) -> {
              Tensor whole = inputs.get(name);
              if (whole != null && !whole.type().equals(sharded.type())) {
                throw mismatch(name, sharded, whole);
              } else if (whole != null && sharded.layout().holds(device)) {
                parts.put(name, Shards.part(whole, sharded.layout(), device));
              } else if (whole == null && isAsked(schedule, device, name)) {
                throw mismatch(name, sharded, null);
              }
            });
    return parts;
  }

  private static boolean isAsked(Schedule schedule, int device, String name) {
    return schedule.roles().stream()
        .filter(role -> role.devices().contains(device))
        .flatMap(role -> role.inputs().stream())
        .anyMatch(port -> port.name().equals(name));
  }

  private static PartitaException mismatch(String name, ShardedType sharded, Tensor whole) {
    return new PartitaException(
        EvaluationCode.INPUT_MISMATCH,
        "input \"" + name + "\"",
        sharded.type().toString(),
        whole == null ? "nothing" : whole.type().toString(),
        "give a tensor of this type");
  }

  /** Adds empty parts, which no device holds. */
  private static Tensor whole(
      String name, ShardedType sharded, Map<Integer, Map<String, Tensor>> outputs) {
    Layout layout = sharded.layout();
    SortedMap<Integer, Tensor> held = new TreeMap<>();
    for (int device : layout.holders()) {
      Tensor part = outputs.get(device).get(name);
      TensorType local = sharded.localType(device);
      boolean isEmpty = part == null && local.shape().elements() == 0;
      if (part != null || isEmpty) {
        held.put(device, isEmpty ? Tensor.filled(local, 0) : part);
      }
    }
    return Shards.assemble(held, sharded.type(), layout);
  }
}
