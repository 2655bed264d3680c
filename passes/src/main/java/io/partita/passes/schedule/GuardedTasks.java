package io.partita.passes.schedule;

import io.partita.ir.graph.GatedRegions;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.program.ForeseenFlags;
import io.partita.ir.program.Program;
import io.partita.ir.program.Verdict;
import io.partita.ir.schedule.ScheduleStep.Foreseen;
import io.partita.passes.schedule.place.Task;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Storage;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.Predicate;

/**
 * Collects the tasks of a chip. Tasks of the guarded regions of its graph follow a {@link
 * Task.Guard} that reads their conditions; successive tasks with equal conditions share one. Rows
 * of tables are awaited before the first task that uses them; those of a guarded region at once.
 */
final class GuardedTasks {
  private final GatedRegions regions;
  private final List<Integer> devices;
  private final List<Value> flags;
  private final Optional<ForeseenFlags> hits;
  private final Optional<ForeseenFlags> misses;
  private final List<Task> tasks = new ArrayList<>();

  /** Rows that are on their way. */
  private final List<Fetch> fetches = new ArrayList<>();

  /** The conditions of the next tasks. */
  private List<Condition> conditions = List.of();

  /** The index of the guard whose region has the last task; -1 without. */
  private int open = -1;

  private record Condition(Value flag, boolean expected, Storage storage) {}

  /**
   * @param ended is called when they have been awaited
   */
  private record Fetch(Task.Rows rows, Runnable ended) {}

  /**
   * @param devices the devices of a role, whose flags correspond
   */
  GuardedTasks(Program program, List<Integer> devices) {
    Graph graph = program.devices().get(devices.getFirst()).graph();
    this.regions = GatedRegions.of(graph);
    this.devices = devices;
    this.flags = regions.flags(graph);
    this.hits = foreseen(program, Verdict.HIT);
    this.misses = foreseen(program, Verdict.MISS);
  }

  private Optional<ForeseenFlags> foreseen(Program program, Verdict verdict) {
    return flags.isEmpty() ? Optional.empty() : ForeseenFlags.of(program, verdict);
  }

  /** The next tasks compute these nodes. */
  void enter(List<Node> nodes, Map<Value, Storage> storages) {
    Set<Value> all = new LinkedHashSet<>();
    nodes.forEach(node -> all.addAll(regions.conditions(node)));
    conditions = all.stream().map(flag -> new Condition(flag, true, storages.get(flag))).toList();
  }

  /** The next tasks compute a node where a flag has a value. */
  void enter(Node node, Value flag, boolean expected, Map<Value, Storage> storages) {
    enter(List.of(node), storages);
    List<Condition> all = new ArrayList<>(conditions);
    all.add(new Condition(flag, expected, storages.get(flag)));
    conditions = List.copyOf(all);
  }

  /** The next tasks are unconditional. */
  void leave() {
    conditions = List.of();
  }

  /** Whether a device may skip the next tasks. */
  boolean isGuarded() {
    return !conditions.isEmpty();
  }

  /** Whether the tasks of two nodes have the same conditions. */
  boolean areTogether(Node one, Node other) {
    return regions.conditions(one).equals(regions.conditions(other));
  }

  /** {@link GatedRegions#isChoice}. */
  boolean isChoice(Node node) {
    return regions.isChoice(node);
  }

  /**
   * Adds a task that fetches rows, and later one that awaits them.
   *
   * @param rows returns the task with a number
   * @param ended is called when the last task is the one that awaits them
   */
  void fetch(IntFunction<Task.Rows> rows, Runnable ended) {
    int number = TransferNumbers.unused(fetches.stream().map(each -> each.rows.number()).toList());
    Fetch fetch = new Fetch(rows.apply(number), ended);
    add(fetch.rows);
    if (isGuarded()) {
      await(fetch);
    } else {
      fetches.add(fetch);
    }
  }

  /** Awaits all rows that are on their way, after the last task that may use any. */
  void awaitAll() {
    await(each -> true);
  }

  private void await(Predicate<Fetch> which) {
    List<Condition> own = conditions;
    leave();
    List<Fetch> ended = fetches.stream().filter(which).toList();
    fetches.removeAll(ended);
    ended.forEach(this::await);
    conditions = own;
  }

  private void await(Fetch fetch) {
    Task.Rows rows = fetch.rows;
    append(new Task.AwaitRows(rows.number(), rows.result().region(), rows.origin()));
    fetch.ended.run();
  }

  void add(Task task) {
    List<Region> used = new ArrayList<>(task.used());
    conditions.forEach(each -> used.add(each.storage.region()));
    await(fetch -> used.contains(fetch.rows.result().region()));
    append(task);
  }

  private void append(Task task) {
    List<Task.Condition> read =
        conditions.stream().map(each -> new Task.Condition(each.storage, each.expected)).toList();
    if (read.isEmpty()) {
      open = -1;
    } else if (open >= 0 && ((Task.Guard) tasks.get(open)).conditions().equals(read)) {
      tasks.set(open, ((Task.Guard) tasks.get(open)).with(tasks.size() - open));
    } else {
      open = tasks.size();
      tasks.add(new Task.Guard(read, 1, foreseen(), task.origin()));
    }
    tasks.add(task);
  }

  private Optional<Foreseen> foreseen() {
    return hits.isEmpty() || misses.isEmpty()
        ? Optional.empty()
        : Optional.of(new Foreseen(running(hits.get()), running(misses.get())));
  }

  /** Returns the devices on which all conditions hold. */
  private List<Integer> running(ForeseenFlags known) {
    return devices.stream()
        .filter(
            device ->
                conditions.stream()
                    .allMatch(
                        each -> known.holds(device, flags.indexOf(each.flag)) == each.expected))
        .toList();
  }

  int size() {
    return tasks.size();
  }

  List<Task> tasks() {
    return List.copyOf(tasks);
  }
}
