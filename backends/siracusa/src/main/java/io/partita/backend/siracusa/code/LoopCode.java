package io.partita.backend.siracusa.code;

import io.partita.backend.siracusa.model.Loop;
import io.partita.backend.siracusa.model.LoopFunction;
import io.partita.backend.siracusa.model.LoopFunction.BoxCall;
import io.partita.backend.siracusa.model.LoopFunction.Chain;
import io.partita.backend.siracusa.model.LoopFunction.Scalar;
import io.partita.backend.siracusa.model.LoopFunction.Variable;
import io.partita.backend.siracusa.model.Piece;
import io.partita.backend.siracusa.model.ScalarStore;
import io.partita.backend.siracusa.model.Tile;
import io.partita.backend.siracusa.model.Tile.Wrap;
import io.partita.ir.schedule.Direction;
import io.partita.ir.schedule.NearCopy;
import io.partita.ir.schedule.Stage;
import io.partita.ir.schedule.TileAxis;
import io.partita.ir.schedule.TileOperand;
import io.partita.ir.schedule.TiledKernel;
import io.partita.ir.schedule.kernel.ElementRun;
import io.partita.ir.schedule.kernel.ScalarCall;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A loop over tiles as a function, which follows the order of its stage. */
final class LoopCode {
  private static final String IS_END = "is_end";

  private final TiledKernel kernel;
  private final Expressions expressions;
  private final BoxCode boxes;
  private final KernelCode code;

  /** Axes of more than one tile, outermost first. */
  private final List<Integer> loops;

  /** Runs of calls that are one kernel of this loop, by their first call. */
  private final SortedMap<Integer, ElementRun> runs = new TreeMap<>();

  private final Map<Integer, ElementCode.Code> kernels = new LinkedHashMap<>();

  /** What the cores run at once. */
  private final List<Chain> chains = new ArrayList<>();

  /** Whether the first kernel of the last tile starts a transfer that a step has asked for. */
  private final boolean preloads;

  /** What the loop copies without a kernel. */
  private final Optional<NearCopy> copy;

  /** Whether the last kernel still runs when the function ends. */
  private final boolean isLeftRunning;

  private LoopCode(TiledKernel kernel, boolean preloads, boolean isLeftRunning) {
    this.kernel = kernel;
    this.preloads = preloads;
    this.isLeftRunning = isLeftRunning;
    this.expressions = new Expressions(kernel);
    this.copy = preloads ? Optional.empty() : NearCopy.of(kernel);
    this.boxes = new BoxCode(kernel, expressions, copy);
    this.code = new KernelCode(kernel, expressions, boxes);
    this.loops =
        IntStream.range(0, kernel.axes().size()).filter(expressions::isLoop).boxed().toList();
    for (ElementRun run :
        copy.isPresent() ? List.<ElementRun>of() : ElementRun.of(kernel.calls())) {
      String name = kernel.name() + "_elements" + (runs.isEmpty() ? "" : "" + (runs.size() + 1));
      runs.put(run.first(), run);
      String functions =
          kernel.calls().subList(run.first(), run.end()).stream()
              .map(call -> call.kernel().name())
              .collect(Collectors.joining(", "));
      kernels.put(run.first(), ElementCode.of(name, run, functions));
    }
  }

  /**
   * @param preloads whether the loop starts preloads
   * @param isLeftRunning whether its last kernel still runs when the function ends
   */
  static LoopFunction of(TiledKernel kernel, boolean preloads, boolean isLeftRunning) {
    LoopCode code = new LoopCode(kernel, preloads, isLeftRunning);
    // A loop that starts a preload does so while others compute.
    return preloads
        ? code.function()
        : ScalarCall.of(kernel.calls()).map(code::scalar).orElseGet(code::function);
  }

  private LoopFunction scalar(ScalarCall call) {
    String wide = call.element() == ElementType.I64 ? "_64" : "";
    String function = (call.function().equals("add") ? "add" : "multiply") + "_wrapping" + wide;
    return new LoopFunction(
        kernel.name(),
        List.of(kernel.calls().getFirst().function() + ", by the control core"),
        List.of(),
        List.of(),
        List.of(),
        parameters(),
        List.of(),
        List.of(),
        List.of(),
        new ScalarStore(
            call.element() == ElementType.I64 ? "int64_t" : "int32_t",
            "partita_" + function,
            boxes.place(call.left()),
            boxes.place(call.right()),
            boxes.place(call.out())),
        List.of());
  }

  private List<String> parameters() {
    List<String> parameters = new ArrayList<>();
    for (int i = 0; i < kernel.operands().size(); i++) {
      TileOperand operand = kernel.operands().get(i);
      boolean isWritable = operand.direction() == Direction.STORE || operand.isNear();
      parameters.add((isWritable ? "uint8_t *" : "const uint8_t *") + boxes.place(i));
    }
    return parameters;
  }

  private LoopFunction function() {
    List<Scalar> scalars = new ArrayList<>();
    List<String> slots = new ArrayList<>();
    List<BoxCall> first = new ArrayList<>();
    List<String> last = new ArrayList<>();
    List<LoopFunction.BoxFunction> functions = new ArrayList<>();
    for (int i = 0; i < kernel.operands().size(); i++) {
      TileOperand operand = kernel.operands().get(i);
      boolean isStored = operand.direction() == Direction.STORE;
      if (operand.isNear()) {
        continue;
      }
      if (operand.direction() == Direction.SCALAR) {
        scalars.add(
            new Scalar(
                expressions.scalar(i),
                "partita_scalar_" + operand.element().text(),
                boxes.address(i)));
        continue;
      }
      functions.add(boxes.function(i));
      if (boxes.alternates(i)) {
        slots.add(boxes.slot(i));
      }
      if (isStored) {
        last.addAll(boxes.stores(i));
      } else {
        first.add(boxes.call(i, Optional.empty(), Optional.empty(), axis -> "0"));
      }
    }
    Piece body = body(0);
    return new LoopFunction(
        kernel.name(),
        comment(),
        functions,
        kernels.values().stream().map(ElementCode.Code::function).toList(),
        List.copyOf(chains),
        parameters(),
        scalars,
        slots,
        first,
        body,
        last);
  }

  private List<String> comment() {
    String calls =
        kernel.calls().stream().map(call -> call.function()).collect(Collectors.joining(", "));
    String tiles =
        kernel.axes().stream()
            .map(LoopCode::extent)
            .collect(Collectors.joining(", ", " over ", ""));
    List<String> lines = new ArrayList<>();
    if (copy.isPresent()) {
      return List.of(calls + ", by a transfer");
    }
    lines.add(calls + (kernel.axes().isEmpty() ? "" : tiles));
    lines.add(
        "%s tile%s, %s bytes of L1"
            .formatted(
                Comments.grouped(kernel.tiles()),
                kernel.tiles() == 1 ? "" : "s",
                Comments.grouped(kernel.workingBytes())));
    return lines;
  }

  private static String extent(TileAxis axis) {
    return axis.name()
        + " "
        + axis.extent()
        + (axis.count() == 1 ? "" : " by " + axis.tile())
        + (axis.limit().isPresent() ? " up to its limit" : "");
  }

  private Piece body(int depth) {
    if (copy.isPresent()) {
      return store(copy.get().to());
    }
    if (depth == loops.size()) {
      return tile();
    }
    int axis = loops.get(depth);
    List<Variable> ends =
        kernel.axes().get(axis).limit().isPresent()
            ? List.of(new Variable(expressions.end(axis), expressions.endInitialiser(axis)))
            : List.of();
    return new Loop(
        ends,
        expressions.variable(axis),
        expressions.end(axis),
        kernel.axes().get(axis).tile(),
        body(depth + 1));
  }

  private Tile tile() {
    List<Variable> next = new ArrayList<>();
    List<Wrap> wraps = new ArrayList<>();
    for (int depth = loops.size() - 1; depth >= 0; depth--) {
      int axis = loops.get(depth);
      String step = depth == loops.size() - 1 ? " + " + kernel.axes().get(axis).tile() : "";
      next.add(new Variable(next(axis), expressions.variable(axis) + step));
      if (depth > 0) {
        int outer = loops.get(depth - 1);
        long tile = kernel.axes().get(outer).tile();
        wraps.add(new Wrap(next(axis), expressions.end(axis), next(outer), tile));
      }
    }
    List<Piece> actions = actions();
    boolean asksForEnd = actions.stream().anyMatch(LoopCode::asksForEnd);
    return new Tile(
        asksForEnd ? next : List.of(),
        asksForEnd ? wraps : List.of(),
        asksForEnd ? Optional.of(isEnd()) : Optional.empty(),
        sizes(),
        boxes.pointers(),
        boxes.queued(),
        actions);
  }

  private static boolean asksForEnd(Piece action) {
    return switch (action) {
      case BoxCall call -> call.condition().isPresent();
      case Tile.Run run -> !run.loads().isEmpty() || run.preloads() && !run.isOnlyTile();
      case Piece other -> false;
    };
  }

  /** The control core does everything except kernels. */
  private Stage control() {
    if (kernel.stages().size() != 1) {
      throw new IllegalArgumentException(
          kernel.name()
              + " has "
              + kernel.stages().size()
              + " stages, and a chip one control core");
    }
    return kernel.stages().getFirst();
  }

  /** Whether an action isn't part of one before it: a call in a run, after the first one. */
  private boolean isOwn(Stage.Action action) {
    return !(action instanceof Stage.Call(int call, var meanwhile)
        && runs.headMap(call).values().stream().anyMatch(run -> call < run.end()));
  }

  /**
   * Returns the actions on a tile. Calls are chained if the control core has nothing to do between
   * them.
   */
  private List<Piece> actions() {
    List<List<Stage.Action>> groups = new ArrayList<>();
    for (Stage.Action each : control().actions()) {
      if (isOwn(each)) {
        if (groups.isEmpty() || !isChained(groups.getLast().getLast(), each)) {
          groups.add(new ArrayList<>());
        }
        groups.getLast().add(each);
      }
    }
    boolean isScoped =
        groups.stream().filter(group -> group.getFirst() instanceof Stage.Call).count() > 1;
    List<Piece> pieces = new ArrayList<>();
    List<String> awaited = new ArrayList<>();
    for (List<Stage.Action> group : groups) {
      if (group.getFirst() instanceof Stage.Await(int operand)) {
        awaited.add(boxes.awaited(operand));
        continue;
      }
      // The arguments of calls are built while transfers are on their way.
      boolean isRun =
          group.getFirst() instanceof Stage.Call call && code.condition(call.call()).isEmpty();
      if (!isRun) {
        awaited.forEach(box -> pieces.add(new Tile.Wait(box)));
      }
      pieces.add(piece(group, isRun ? awaited : List.of(), isScoped, group == groups.getLast()));
      awaited.clear();
    }
    awaited.forEach(box -> pieces.add(new Tile.Wait(box)));
    return pieces;
  }

  private boolean isChained(Stage.Action before, Stage.Action next) {
    return before instanceof Stage.Call(int first, var loads)
        && next instanceof Stage.Call(int second, var meanwhile)
        && meanwhile.isEmpty()
        && code.condition(first).equals(code.condition(second));
  }

  /**
   * Returns an action, or several calls that are chained.
   *
   * @param awaited the transfers that calls await
   * @param isScoped whether the tile has other calls
   * @param isLast whether no other action comes after it
   */
  private Piece piece(
      List<Stage.Action> group, List<String> awaited, boolean isScoped, boolean isLast) {
    return switch (group.getFirst()) {
      case Stage.LoadNext(int operand) -> loadNext(operand);
      case Stage.Call first -> run(first, awaited, calls(group), isScoped, isLast && isLeftRunning);
      case Stage.Store(int operand) -> store(operand);
      case Stage.Await await -> throw new IllegalArgumentException("not before a call: " + await);
      case Stage.Load load -> throw new IllegalArgumentException("the control core: " + load);
    };
  }

  private Tile.Run run(
      Stage.Call first,
      List<String> awaited,
      List<Tile.Call> calls,
      boolean isScoped,
      boolean isLeft) {
    Optional<String> chain = Optional.empty();
    if (calls.size() > 1) {
      String name = kernel.name() + "_chain" + (chains.isEmpty() ? "" : chains.size() + 1);
      chains.add(new Chain(name, calls));
      chain = Optional.of(name);
    }
    return new Tile.Run(
        code.condition(first.call()),
        chain,
        isScoped,
        calls,
        List.copyOf(awaited),
        first.meanwhile().stream().map(each -> loadNext(each.operand())).toList(),
        preloads && first.call() == 0,
        kernel.tiles() == 1,
        isLeft);
  }

  /** Returns calls whose members have different names. */
  private List<Tile.Call> calls(List<Stage.Action> group) {
    List<Tile.Call> calls = new ArrayList<>();
    for (Stage.Action each : group) {
      int number = ((Stage.Call) each).call();
      Tile.Call call =
          runs.containsKey(number)
              ? code.call(runs.get(number), kernels.get(number))
              : code.call(number);
      long same = calls.stream().filter(other -> other.function().equals(call.function())).count();
      String member = call.member() + (same == 0 ? "" : "_" + (same + 1));
      calls.add(new Tile.Call(member, call.struct(), call.function(), call.arguments()));
    }
    return calls;
  }

  private Variable isEnd() {
    int outermost = loops.getFirst();
    return new Variable(IS_END, next(outermost) + " >= " + expressions.end(outermost));
  }

  private List<Variable> sizes() {
    return loops.stream()
        .filter(expressions::hasRemainder)
        .filter(
            axis ->
                kernel.calls().stream()
                    .flatMap(call -> call.arguments().stream())
                    .anyMatch(argument -> Uses.size(argument, axis)))
        .map(
            axis -> new Variable(expressions.sizeVariable(axis), expressions.sizeInitialiser(axis)))
        .toList();
  }

  private String next(int axis) {
    return "next_" + expressions.variable(axis);
  }

  /** Loads an operand for the next tile, if its tile changes. */
  private BoxCall loadNext(int operand) {
    String changes = changes(operand).orElseThrow();
    String all = changes.isEmpty() ? "" : " && (" + changes + ")";
    return boxes.call(operand, Optional.of("!" + IS_END + all), flip(operand), this::next);
  }

  private BoxCall store(int operand) {
    Optional<String> condition =
        loops.isEmpty()
            ? Optional.empty()
            : changes(operand)
                .map(text -> text.isEmpty() ? text : IS_END + " || " + text)
                .or(() -> Optional.of(IS_END))
                .filter(text -> !text.isEmpty());
    return boxes.call(operand, condition, flip(operand), expressions::variable);
  }

  private Optional<String> flip(int operand) {
    return boxes.alternates(operand) ? Optional.of(boxes.slot(operand)) : Optional.empty();
  }

  /**
   * The condition under which an operand's next tile differs from the current one: none if never,
   * an empty condition if always.
   */
  private Optional<String> changes(int operand) {
    int innermost = -1;
    for (int depth = 0; depth < loops.size(); depth++) {
      if (kernel.operands().get(operand).dependsOn(loops.get(depth))) {
        innermost = depth;
      }
    }
    if (innermost < 0) {
      return Optional.empty();
    }
    if (innermost == loops.size() - 1) {
      return Optional.of("");
    }
    return Optional.of(
        loops.subList(0, innermost + 1).stream()
            .map(axis -> next(axis) + " != " + expressions.variable(axis))
            .collect(Collectors.joining(" || ")));
  }
}
