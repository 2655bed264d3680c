package io.partita.passes.program.localize;

import io.partita.ir.function.Combine;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Movement;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.localize.Cuts.Range;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Divides the first product of a gathered value, and the elementwise operations on its result, by
 * rows: those that the device has itself, and those of other devices. The own ones don't depend on
 * messages, so {@link DelayReceives} lets the device compute them while the others are on their
 * way.
 */
public final class OwnPartsFirst {
  /**
   * The fewest own rows. Each part of a product reads all weights, and kernels compute blocks of
   * several rows.
   */
  private static final long MIN_ROWS = 16;

  private final GraphEditor editor;
  private final Map<Value, List<Node>> readers;
  private final Map<Node, Integer> numbers = new IdentityHashMap<>();

  private OwnPartsFirst(Graph graph) {
    this.editor = new GraphEditor(graph);
    this.readers = graph.readers();
    graph.nodes().forEach(node -> numbers.put(node, numbers.size()));
  }

  /**
   * Returns the gathers before products, each with the first product that reads the gathered value,
   * in execution order.
   *
   * @param module a module of the mesh dialect
   */
  public static List<Gather> gathers(Module module) {
    Map<Value, List<Node>> readers = module.graph().readers();
    List<Gather> gathers = new ArrayList<>();
    for (Node node : module.graph().nodes()) {
      if (Gather.isGather(node)) {
        readers.getOrDefault(node.result(), List.of()).stream()
            .filter(Cuts::isProduct)
            .findFirst()
            .ifPresent(product -> gathers.add(new Gather(node, product)));
      }
    }
    return gathers;
  }

  /** Returns a device's graph with such products divided. */
  static Graph run(Graph graph) {
    OwnPartsFirst parts = new OwnPartsFirst(graph);
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Exchange exchange && isGather(exchange)) {
        parts.visit(node, exchange.before().getFirst());
      }
    }
    return parts.editor.freeze();
  }

  /** Whether the device sends its own elements first, and receives all others. */
  private static boolean isGather(Exchange exchange) {
    return exchange.before().size() == 1
        && exchange.after().equals(List.of(new Slice(0, exchange.elements())))
        && exchange.steps().stream().limit(1).anyMatch(Step.Send.class::isInstance)
        && exchange.steps().stream().noneMatch(OwnPartsFirst::combines);
  }

  private static boolean combines(Step step) {
    return step instanceof Step.Receive receive && receive.combine() != Combine.REPLACE;
  }

  private void visit(Node exchange, Slice own) {
    List<Node> shaped = readers.getOrDefault(exchange.result(), List.of());
    if (shaped.size() != 1 || !(shaped.getFirst().op() instanceof Movement.Reshape)) {
      return;
    }
    Value gathered = shaped.getFirst().result();
    TensorType type = gathered.type();
    if (type.rank() < 2 || own.size() < MIN_ROWS) {
      return;
    }
    int dim = 0;
    while (dim < type.rank() - 1 && type.dim(dim).is(1)) {
      dim++;
    }
    long size = type.shape().elements() / type.shape().extent(dim);
    if (own.start() % size != 0 || own.size() % size != 0 || own.size() / size < MIN_ROWS) {
      return;
    }
    Range rows = new Range(dim, own.start() / size, own.end() / size);
    for (Node reader : readers.getOrDefault(gathered, List.of())) {
      List<Link> chain =
          Cuts.isProduct(reader) ? chain(reader, gathered, dim, exchange) : List.of();
      if (!chain.isEmpty()) {
        divide(chain, gathered, rows, exchange.operand(0));
        return;
      }
    }
  }

  /**
   * A node that is computed in parts.
   *
   * @param dim of its result
   * @param cuts of each operand, or -1
   * @param source the operand that is the result of the link before
   */
  private record Link(Node node, int dim, List<Integer> cuts, Value source) {}

  /** Returns a product and the elementwise operations that alone read its result. */
  private List<Link> chain(Node product, Value gathered, int dim, Node exchange) {
    List<Link> chain = new ArrayList<>();
    Value source = gathered;
    int along = dim;
    for (Node node = product; node != null; ) {
      Link link = link(node, source, along, exchange);
      if (link == null) {
        return chain;
      }
      chain.add(link);
      source = node.result();
      along = link.dim();
      List<Node> next =
          editor.uses(source) == 1 ? readers.getOrDefault(source, List.of()) : List.of();
      node = next.size() == 1 && Cuts.isElementwise(next.getFirst()) ? next.getFirst() : null;
    }
    return chain;
  }

  /** Returns a node whose other operands exist before the exchange; null if it can't be divided. */
  private Link link(Node node, Value source, int along, Node exchange) {
    boolean waits =
        node.operands().stream().anyMatch(value -> value != source && !isBefore(value, exchange));
    if (waits || node.operands().stream().filter(value -> value == source).count() != 1) {
      return null;
    }
    int operand = node.operands().indexOf(source);
    for (int dim = 0; dim < node.result().type().rank(); dim++) {
      List<Integer> cuts = Cuts.of(node, dim);
      if (cuts != null && cuts.get(operand) == along) {
        return new Link(node, dim, cuts, source);
      }
    }
    return null;
  }

  private boolean isBefore(Value value, Node exchange) {
    Node node = value.definition();
    return node == null || node.constant().isPresent() || numbers.get(node) < numbers.get(exchange);
  }

  private void divide(List<Link> chain, Value gathered, Range own, Value held) {
    Link last = chain.getLast();
    editor.before(chain.getFirst().node());
    List<Value> parts = new ArrayList<>();
    TensorType type = gathered.type();
    for (Range range : around(own, type.shape().extent(own.dim()))) {
      editor.from(gathered);
      Value part =
          range.equals(own)
              ? editor.add(new Movement.Reshape(range.of(type).shape()), held)
              : editor.add(range.slice(type), gathered);
      for (Link link : chain) {
        part = part(link, part, range);
      }
      parts.add(part);
    }
    editor.before(last.node());
    editor.replace(last.node().result(), editor.add(new Movement.Concat(last.dim()), parts));
  }

  private static List<Range> around(Range own, long extent) {
    List<Range> ranges = new ArrayList<>();
    if (own.from() > 0) {
      ranges.add(new Range(own.dim(), 0, own.from()));
    }
    ranges.add(own);
    if (own.to() < extent) {
      ranges.add(new Range(own.dim(), own.to(), extent));
    }
    return ranges;
  }

  private Value part(Link link, Value source, Range range) {
    List<Value> operands = new ArrayList<>();
    for (int i = 0; i < link.cuts().size(); i++) {
      Value operand = link.node().operand(i);
      editor.from(operand);
      if (operand == link.source()) {
        operands.add(source);
      } else if (link.cuts().get(i) < 0) {
        operands.add(operand);
      } else {
        operands.add(editor.add(range.along(link.cuts().get(i)).slice(operand.type()), operand));
      }
    }
    editor.from(link.node());
    return editor.add(link.node().op(), operands);
  }
}
