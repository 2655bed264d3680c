package io.partita.ir.propagate;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.factor.FactorRule;
import io.partita.ir.factor.FactorRules;
import io.partita.ir.factor.FactorSplits;
import io.partita.ir.factor.NodeLayouts;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshCode;
import io.partita.ir.mesh.Resharding;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Communication;
import io.partita.ir.op.TypeMismatch;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.BiConsumer;

/**
 * Infers the layouts of a module node by node, in execution order. Values whose layout can't be
 * inferred have none, and their users are skipped, so that each mistake is reported once.
 */
public final class LayoutDerivation {
  private static final String RESHARD = "reshard";

  private final Mesh mesh;
  private final Map<Value, Layout> layouts = new IdentityHashMap<>();

  /** Equal layouts are shared, because a layout on many devices may be large. */
  private final Map<Layout, Layout> distinct = new HashMap<>();

  private final BiConsumer<Node, NodeLayouts> found;
  private int count;

  public LayoutDerivation(Mesh mesh) {
    this(mesh, (node, layouts) -> {});
  }

  /**
   * @param found receives the layouts of each node that computes
   */
  LayoutDerivation(Mesh mesh, BiConsumer<Node, NodeLayouts> found) {
    this.mesh = mesh;
    this.found = found;
  }

  /** Adds an input of the graph; returns its violations. */
  public List<Diagnostic> input(Value input, Layout layout) {
    return hold(input, layout, "input " + input.name());
  }

  /**
   * Adds a node after those that define its operands; returns violations of its layouts, and none
   * if its operands don't fit at all.
   */
  public List<Diagnostic> add(Node node) {
    String where = "node " + count++ + ": " + node;
    List<Layout> given = new ArrayList<>();
    for (Value operand : node.operands()) {
      layout(operand).ifPresent(given::add);
    }
    if (node.op() instanceof Communication.Exchange) {
      String remedy = "use sync to change layouts";
      return List.of(
          new Diagnostic(
              MeshCode.DIALECT, where, "an operation on whole values", "exchange", remedy));
    } else if (node.op() instanceof Communication.Relayout change) {
      return given.isEmpty()
          ? hold(node.result(), change.to(), where)
          : relayout(node, change, given.getFirst(), where);
    } else if (given.size() < node.operands().size()) {
      return List.of();
    }
    return operation(node, given, where);
  }

  private List<Diagnostic> relayout(
      Node node, Communication.Relayout change, Layout from, String where) {
    List<Diagnostic> wrong = hold(node.result(), change.to(), where);
    if (!wrong.isEmpty()) {
      return wrong;
    }
    TensorType type = node.result().type();
    if (!isPossible(from, change.to())) {
      String expected = "a layout that " + new ShardedType(type, from) + " can change to";
      String found = new ShardedType(type, change.to()).toString();
      String remedy = from.varying().isEmpty() ? "" : exit(from, change.to());
      return List.of(new Diagnostic(MeshCode.RESHARD, where, expected, found, remedy));
    }
    String expected = exchanged(new Resharding(from, change.to()).kinds());
    String found = change instanceof Communication.Sync sync ? exchanged(sync.kinds()) : RESHARD;
    if (!found.equals(expected)) {
      String remedy = "it changes " + new ShardedType(type, from) + " to " + change.to();
      return List.of(new Diagnostic(MeshCode.SYNC, where, expected, found, remedy));
    }
    return List.of();
  }

  private static String exchanged(SequencedMap<String, SyncKind> kinds) {
    return kinds.isEmpty() ? RESHARD : "sync of kind " + SyncKind.text(kinds);
  }

  private static boolean isPossible(Layout from, Layout to) {
    try {
      new Resharding(from, to);
      return true;
    } catch (PartitaException e) {
      return false;
    }
  }

  private List<Diagnostic> operation(Node node, List<Layout> given, String where) {
    NodeLayouts derived;
    try {
      derived = derive(mesh, node, given);
    } catch (PartitaException e) {
      return at(where, e);
    } catch (TypeMismatch | ArithmeticException e) {
      return List.of();
    }
    List<Diagnostic> wrong = new ArrayList<>();
    for (int i = 0; i < given.size(); i++) {
      if (!derived.operands().get(i).equals(given.get(i))) {
        wrong.add(mismatch(node.operand(i), derived.operands().get(i), given.get(i), where, i));
      }
    }
    if (!wrong.isEmpty()) {
      return wrong;
    }
    found.accept(node, derived);
    for (int i = 0; i < node.results().size(); i++) {
      wrong.addAll(hold(node.results().get(i), derived.results().get(i), where));
    }
    return wrong;
  }

  /**
   * Returns the layouts of a node for given layouts of operands, which it accepts if the result has
   * the same ones.
   */
  static NodeLayouts derive(Mesh mesh, Node node, List<Layout> given) {
    FactorRule rule = FactorRules.of(node.op(), node.operands().stream().map(Value::type).toList());
    return NodeLayouts.of(node.op(), FactorSplits.of(mesh, rule, given), given);
  }

  private static Diagnostic mismatch(
      Value operand, Layout expected, Layout found, String where, int index) {
    String remedy =
        isPossible(found, expected)
            ? "add a sync of the operand to " + expected
            : exit(found, expected);
    return new Diagnostic(
        MeshCode.OPERAND,
        where,
        "operand "
            + index
            + (operand.name().isEmpty() ? "" : " \"" + operand.name() + '"')
            + " as "
            + new ShardedType(operand.type(), expected),
        new ShardedType(operand.type(), found).toString(),
        remedy);
  }

  /** Suggests an operation that ends an obstructing variation. */
  private static String exit(Layout found, Layout expected) {
    for (String axis : found.varying()) {
      boolean isSplit = found.splitBy(axis) >= 0;
      boolean isPartial = found.partial().containsKey(axis);
      if (isSplit || isPartial) {
        String by = isSplit ? "part" : "term";
        return "end the variation first: settle {axis = \"" + axis + "\", by = \"" + by + "\"}";
      }
    }
    return expected.varying().equals(found.varying())
        ? ""
        : "end the variation over " + String.join(", ", found.varying()) + " by settle";
  }

  private List<Diagnostic> hold(Value value, Layout layout, String where) {
    if (!value.type().isStatic()) {
      String symbol =
          value.type().shape().dims().stream()
              .flatMap(dim -> dim.symbols().stream())
              .findFirst()
              .orElseThrow();
      return List.of(BoundDimensions.unbound(where, value, symbol));
    }
    if (!layout.mesh().equals(mesh)) {
      String expected = "a layout on " + mesh;
      return List.of(new Diagnostic(MeshCode.MESH, where, expected, "" + layout.mesh(), ""));
    }
    try {
      layout.verify(value.type());
    } catch (PartitaException e) {
      return at(where, e);
    }
    layouts.put(value, distinct.computeIfAbsent(layout, key -> layout));
    return List.of();
  }

  static List<Diagnostic> at(String where, PartitaException e) {
    return e.diagnostics().stream()
        .map(
            wrong ->
                new Diagnostic(
                    wrong.code(),
                    where + ", " + wrong.where(),
                    wrong.expected(),
                    wrong.found(),
                    wrong.remedy()))
        .toList();
  }

  /** Returns the layout of an added value; empty if it couldn't be inferred. */
  public Optional<Layout> layout(Value value) {
    return Optional.ofNullable(layouts.get(value));
  }

  /** Returns all inferred layouts. */
  Map<Value, Layout> layouts() {
    return layouts;
  }
}
