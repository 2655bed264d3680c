package io.partita.passes.schedule;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Packing;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.ChipTasks.Named;
import io.partita.passes.schedule.legalize.Group;
import io.partita.passes.schedule.legalize.Groups;
import io.partita.passes.schedule.legalize.RowsBehindWork;
import io.partita.passes.schedule.legalize.SiblingProducts;
import io.partita.passes.schedule.lower.Lowerings;
import io.partita.passes.schedule.lower.TensorView;
import io.partita.passes.schedule.lower.TileSpace;
import io.partita.passes.schedule.view.Destinations;
import io.partita.passes.schedule.view.Region;
import io.partita.passes.schedule.view.Sharing;
import io.partita.passes.schedule.view.Storage;
import io.partita.passes.schedule.view.StoredTypes;
import io.partita.passes.schedule.view.ViewRules;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Lowers the program of the devices of a role to tasks. */
final class ChipLowering {
  private final List<Graph> holders;
  private final ExchangeTasks exchanges;
  private final DeadValues dead;
  private final NearCandidates nearCandidates;
  private final Optional<FetchedRows> rows;
  private final LoopKernels kernels;
  private final long nearBytes;
  private final Unsupported unsupported;
  private final Module module;
  private final Graph graph;
  private final Map<Value, List<Node>> readers;
  private final List<Group> groups;
  private final StoredTypes types;
  private final Sharing sharing;
  private final ColumnStorage columns;
  private final Destinations destinations;
  private final Map<Value, Storage> storages = new IdentityHashMap<>();
  private final ReorderedValues reordered;
  private final SharedRegions regions;
  private final KnownValues known;
  private final StoredConstants constants;
  private final PackedWeights weights;
  private final GuardedTasks tasks;
  private final LoopTasks loops;
  private final List<Named> inputs = new ArrayList<>();
  private final List<Named> states = new ArrayList<>();
  private final WrittenValues.Collector written;

  private ChipLowering(
      Program program,
      List<Integer> devices,
      List<Integer> holders,
      LoopKernels kernels,
      SharedRegions regions,
      boolean hasFar,
      long nearBytes,
      Packing weights,
      Unsupported unsupported) {
    this.regions = regions;
    this.nearBytes = nearBytes;
    this.known = new KnownValues(regions);
    this.weights = new PackedWeights(kernels.arePaged() ? weights : Packing.PLAIN, known, regions);
    this.holders = holders.stream().map(device -> program.devices().get(device).graph()).toList();
    this.kernels = kernels;
    this.unsupported = unsupported;
    this.module = program.devices().get(devices.getFirst());
    this.graph = module.graph();
    this.readers = graph.readers();
    this.tasks = new GuardedTasks(program, devices);
    this.loops = new LoopTasks(kernels, tasks, unsupported);
    this.written = new WrittenValues.Collector(graph);
    List<Group> found = Groups.of(graph, !kernels.arePaged());
    this.groups =
        kernels.arePaged() ? found : RowsBehindWork.order(SiblingProducts.together(found));
    Map<Node, Integer> steps = new IdentityHashMap<>();
    for (int i = 0; i < groups.size(); i++) {
      for (Node node : groups.get(i).nodes()) {
        steps.put(node, i);
      }
    }
    this.types = StoredTypes.of(graph, kernels.arePaged() && StoredTypes.areOfBf16(program));
    this.reordered = new ReorderedValues(types);
    RoleExchanges messages = new RoleExchanges(program, devices);
    this.sharing = new Sharing(graph, types, steps, messages::sharesVector);
    this.columns = new ColumnStorage(graph);
    this.constants = new StoredConstants(this.holders, types, columns, regions, known, storages);
    addInputs();
    this.destinations =
        Destinations.of(module, types, storages, sharing, steps, messages::gathered);
    this.exchanges =
        new ExchangeTasks(
            messages, destinations, sharing, storages, tasks, unsupported, this::wrote);
    this.nearCandidates = new NearCandidates(graph, destinations, nearBytes);
    this.dead = new DeadValues(sharing, exchanges, storages, nearBytes);
    this.rows =
        hasFar
            ? Optional.of(new FetchedRows(storages, tasks, this::placeFor, this::wrote))
            : Optional.empty();
  }

  /**
   * @param devices the devices of a role, which differ only in constants and exchanges
   * @param holders the devices whose constants are stored; the graphs of the others need only have
   *     the same exchanges
   * @param regions the regions that entry points share
   * @param workingBytes the bytes of the working memory that loops may use
   * @param hasFar whether rows of tables can be fetched from a memory farther than the home memory
   * @param nearBytes the bytes of the largest value that may stay in the working memory; 0 if none
   *     does
   * @param weights how constant weights are stored, if tiles are in pages
   * @param unsupported receives the nodes without kernel, which make the tasks unusable
   */
  static ChipTasks lower(
      Program program,
      List<Integer> devices,
      List<Integer> holders,
      LoopKernels kernels,
      SharedRegions regions,
      long workingBytes,
      boolean hasFar,
      long nearBytes,
      Packing weights,
      Unsupported unsupported) {
    ChipLowering made =
        new ChipLowering(
            program, devices, holders, kernels, regions, hasFar, nearBytes, weights, unsupported);
    made.constants.addAll(made.graph);
    made.keepInputs();
    for (int i = 0; i < made.groups.size(); i++) {
      made.visit(i, made.groups.get(i));
    }
    made.tasks.leave();
    List<Named> outputs =
        new RunResults(made.module, made.types, made.storages, made.loops, made.written).add();
    made.tasks.awaitAll();
    return new ChipTasks(
        devices,
        kernels.kernels(),
        made.tasks.tasks(),
        made.inputs,
        outputs,
        made.states,
        EmbeddingAndHead.of(made.graph, made.storages),
        made.values(),
        Map.of(),
        workingBytes,
        List.of());
  }

  private void addInputs() {
    for (Value input : graph.inputs()) {
      String name = input.name();
      boolean isState = module.states().stream().anyMatch(state -> state.input().equals(name));
      long bytes = input.type().bytes();
      Region region =
          isState ? regions.state(name, bytes) : Region.activation(input.origin(), bytes);
      storages.put(input, Storage.whole(region, input.type()));
      if (!isState || !isEmpty(input.type())) {
        (isState ? states : inputs)
            .add(new Named(name, input.type(), storages.get(input), module.range(name)));
      }
    }
  }

  /** Copies what {@link KeptInputs} finds, except for states. */
  private void keepInputs() {
    KeptInputs.of(graph, nearBytes)
        .forEach(
            (input, readers) -> {
              Storage storage = storages.get(input);
              if (storage.region().kind() == Region.Kind.ACTIVATION) {
                storages.put(input, Storage.fresh(input, types));
                loops.copy(input, readers.getFirst(), storage, storages.get(input));
              }
            });
  }

  private void visit(int step, Group group) {
    Node node = group.first();
    if (group.results().stream().allMatch(result -> isEmpty(result.type()))
        && !(node.op() instanceof Communication)) {
      return;
    }
    tasks.enter(group.nodes(), storages);
    boolean isKnown =
        group.operands().stream()
            .allMatch(operand -> storages.containsKey(operand) || reordered.contains(operand));
    if (group.nodes().size() > 1) {
      EpilogueFusion fusion =
          new EpilogueFusion(kernels, value -> view(group, value), nearBytes > 0, nearCandidates);
      List<Group> together = areTogether(group) ? List.of(group) : group.apart();
      List<Group> parts =
          isKnown
              ? together.stream().flatMap(part -> fusion.fastest(part).stream()).toList()
              : together;
      for (int i = 0; i < parts.size(); i++) {
        compute(step, parts.get(i), parts.subList(i + 1, parts.size()));
      }
      return;
    }
    switch (node.op()) {
      case Source.Constant known -> {}
      case Source source -> constants.add(node, source);
      case Communication.Exchange exchange -> exchanges.add(step, node);
      case Communication.Gate gate -> storages.put(node.result(), storages.get(node.operand(0)));
      case Elementwise.Select select when tasks.isChoice(node) -> choose(step, node);
      case Communication.Relayout change ->
          throw new IllegalArgumentException(node + " has no steps");
      case Movement.Concat(var axis) when !constants.fold(node) -> concat(node, axis);
      case Movement.Concat folded -> {}
      case Structured.CacheUpdate update -> update(step, node);
      case Structured.Embedding embedding when constants.fold(node) || fetch(node) -> {}
      case Movement.Gather(var axis) when axis == 0 && (constants.fold(node) || fetch(node)) -> {}
      case Op op -> viewOrCompute(step, node, group);
    }
  }

  /** Whether a device computes both results of a group or neither. */
  private boolean areTogether(Group group) {
    return group.results().stream()
        .allMatch(result -> tasks.areTogether(result.definition(), group.nodes().getLast()));
  }

  static boolean isEmpty(TensorType type) {
    return type.shape().elements() == 0;
  }

  private void viewOrCompute(int step, Node node, Group group) {
    if (node.operands().size() == 1
        && node.results().size() == 1
        && storages.containsKey(node.operand(0))) {
      Storage operand = storages.get(node.operand(0));
      Optional<Storage> view = view(node, operand);
      Optional<Storage> destination = destinations.of(node.result());
      if (view.isPresent() && (destination.isEmpty() || view.equals(destination))) {
        storages.put(node.result(), view.get());
        known.follow(node);
        return;
      }
    }
    if (constants.fold(node)) {
      return;
    }
    if (node.op() instanceof Movement.Reshape && storages.containsKey(node.operand(0))) {
      if (!isReadThere(node)) {
        copy(node);
      }
    } else {
      compute(step, group, List.of());
    }
  }

  /** Whether loops may read a reshape that no view of its operand has from this operand. */
  private boolean isReadThere(Node node) {
    List<Node> all = readers.getOrDefault(node.result(), List.of());
    return !kernels.arePaged()
        && destinations.of(node.result()).isEmpty()
        && graph.outputs().stream().noneMatch(output -> output.value() == node.result())
        && all.stream().allMatch(reader -> tasks.areTogether(node, reader))
        && reordered.add(node, storages.get(node.operand(0)), all);
  }

  /** Copies the elements of a reshape that no view of its operand has. */
  private void copy(Node node) {
    storages.put(node.result(), placeFor(node.result()));
    loops.reshape(
        node,
        (Movement.Reshape) node.op(),
        storages.get(node.operand(0)),
        storages.get(node.result()));
    wrote(node.result());
  }

  /**
   * Copies the reordered values that a group reads, unless their loads by the loop take less time
   * than the copy and loads of contiguous elements. Later loops read the copy, too.
   */
  private void copyReordered(Group group) {
    for (Value value : group.operands()) {
      if (!reordered.contains(value)) {
        continue;
      }
      Optional<TileSpace> space = contiguous(group);
      Node node = value.definition();
      Optional<TileSpace> copy =
          loops.reshaping(
              (Movement.Reshape) node.op(), storages.get(node.operand(0)), placeFor(value));
      boolean isFaster =
          kernels.isFaster(
              reordered.loads(space, group, null),
              List.of(copy, reordered.loads(space, group, value)),
              0);
      if (!isFaster) {
        reordered.remove(value);
        copy(node);
      }
    }
  }

  /** Returns the loop of a group if reordered values were contiguous. */
  private Optional<TileSpace> contiguous(Group group) {
    return Lowerings.lower(
        group,
        group.operands().stream().map(operand -> view(group, operand)).toList(),
        group.results().stream().map(result -> view(group, result)).toList(),
        kernels.arePaged());
  }

  /** The storage of a result that only reorders the elements of its operand. */
  private Optional<Storage> view(Node node, Storage operand) {
    Optional<Storage> view = ViewRules.view(node.op(), operand, types.type(node.result()));
    if (view.isEmpty()
        && node.op() instanceof Movement.Transpose(var permutation)
        && columns.serves(node.result())) {
      Storage turned = operand.transposed(permutation);
      return Optional.of(turned).filter(Storage::hasContiguousColumns);
    }
    return view;
  }

  private TensorView view(Group group, Value value) {
    Storage known = storage(group, value);
    return (known == null ? placeFor(value) : known).view();
  }

  /** The storage of a value as a group reads it; null if it has none. */
  private Storage storage(Group group, Value operand) {
    return weights.of(group, operand).orElse(storages.get(operand));
  }

  /**
   * @param later the loops that follow in the same step
   */
  private void compute(int step, Group group, List<Group> later) {
    tasks.enter(group.nodes(), storages);
    copyReordered(group);
    List<Storage> operands = new ArrayList<>();
    for (Value operand : group.operands()) {
      Storage storage = reordered.source(operand).orElse(storage(group, operand));
      if (storage == null) {
        unsupported.add(group.first(), "an operand without elements");
      } else {
        operands.add(storage);
      }
    }
    for (Value result : group.results()) {
      storages.put(result, placeFor(result));
    }
    if (operands.size() == group.operands().size()) {
      List<Storage> results = group.results().stream().map(storages::get).toList();
      Optional<TileSpace> space = reordered.loads(contiguous(group), group, null);
      space
          .flatMap(found -> inPlace(step, group, later, found, operands, results.getFirst()))
          .ifPresent(place -> storages.put(group.results().getFirst(), place));
      List<Storage> given = group.results().stream().map(storages::get).toList();
      loops.add(group.first(), NodeText.of(group), space, operands, given);
      group.results().forEach(this::wrote);
    }
  }

  /** Returns the place of an operand that the first result may overwrite. */
  private Optional<Storage> inPlace(
      int step,
      Group group,
      List<Group> later,
      TileSpace space,
      List<Storage> operands,
      Storage result) {
    return destinations.of(group.results().getFirst()).isPresent()
        ? Optional.empty()
        : InPlace.find(
            space,
            operands,
            result,
            operand -> dead.mayBeOverwritten(group.operands().get(operand), step, later),
            nearBytes);
  }

  /** Records that the last task has written a value to its place. */
  private void wrote(Value value) {
    written.add(tasks.size() - 1, value, storages.get(value), tasks.isGuarded());
  }

  private Storage placeFor(Value value) {
    return destinations.of(value).orElseGet(() -> Storage.fresh(value, types));
  }

  /** Copies the operand that a flag chooses, unless the result takes its place. */
  private void choose(int step, Node node) {
    Value first = node.operand(1);
    Storage one = storages.get(first);
    Storage other = storages.get(node.operand(2));
    boolean isInPlace =
        destinations.of(node.result()).isEmpty()
            && first.type().equals(node.result().type())
            && one.region().kind() == Region.Kind.ACTIVATION
            && one.isContiguous()
            && one.region() != other.region()
            && dead.mayBeOverwritten(first, step);
    Storage result = isInPlace ? one : placeFor(node.result());
    storages.put(node.result(), result);
    for (boolean chosen : List.of(true, false)) {
      Storage from = (chosen ? one : other).broadcast(result.shape());
      if (!from.equals(result)) {
        tasks.enter(node, node.operand(0), chosen, storages);
        loops.copy(node, from, result);
      }
    }
    tasks.enter(List.of(node), storages);
    wrote(node.result());
  }

  /** Copies operands that aren't in place to their part of the result. */
  private void concat(Node node, int axis) {
    Storage result = placeFor(node.result());
    storages.put(node.result(), result);
    int before = tasks.size();
    long start = 0;
    for (Value operand : node.operands()) {
      long size = operand.type().shape().extent(axis);
      if (size > 0) {
        Storage part = result.part(axis, start, size);
        Storage own = storages.get(operand);
        if (!own.equals(part)) {
          loops.copy(node, own, part);
        }
      }
      start += size;
    }
    if (tasks.size() > before) {
      wrote(node.result());
    }
  }

  private boolean fetch(Node node) {
    return rows.isPresent() && rows.get().add(node);
  }

  /** Updates the cache in place if its previous value has no other use. */
  private void update(int step, Node node) {
    Storage cache = storages.get(node.operand(0));
    if (isEmpty(node.operand(1).type())) {
      storages.put(node.result(), cache);
      return;
    }
    boolean inPlace =
        cache.region().kind() != Region.Kind.CONSTANT
            && cache.isWritable()
            && dead.mayBeOverwritten(node.operand(0), step)
            && node.operands().stream()
                .skip(1)
                .noneMatch(each -> storages.get(each).region() == cache.region());
    Storage result = inPlace ? cache : placeFor(node.result());
    if (!inPlace) {
      loops.copy(node, cache, result);
    }
    storages.put(node.result(), result);
    List<Storage> operands =
        List.of(result, storages.get(node.operand(1)), storages.get(node.operand(2)));
    loops.add(node, node.op(), operands, List.of(result));
    wrote(node.result());
  }

  private WrittenValues values() {
    return written.values(holders, storages);
  }
}
