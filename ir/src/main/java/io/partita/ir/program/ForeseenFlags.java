package io.partita.ir.program;

import io.partita.ir.graph.GatedRegions;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The flags of guarded regions in a run in which all comparisons of floats have the same outcome.
 * What the flags depend on is computed, messages of priorities included; comparisons aren't.
 */
public final class ForeseenFlags {
  /** By device, whether each of its {@link GatedRegions#flags} is true. */
  private final List<List<Boolean>> flags;

  private ForeseenFlags(List<List<Boolean>> flags) {
    this.flags = flags;
  }

  /**
   * Returns the flags of all devices.
   *
   * @return empty without guarded regions, or if a flag depends on other data than comparisons
   */
  public static Optional<ForeseenFlags> of(Program program, Verdict verdict) {
    List<Graph> graphs = program.devices().stream().map(device -> device.graph()).toList();
    List<List<Value>> flags =
        graphs.stream().map(graph -> GatedRegions.of(graph).flags(graph)).toList();
    if (flags.stream().allMatch(List::isEmpty)) {
      return Optional.empty();
    }
    List<Slice> slices =
        IntStream.range(0, graphs.size())
            .mapToObj(device -> new Slice(graphs.get(device), flags.get(device)))
            .toList();
    Set<Integer> syncs = new HashSet<>();
    int before;
    do {
      before = syncs.size();
      slices.forEach(slice -> slice.extend(syncs));
    } while (syncs.size() > before);
    return slices.stream().allMatch(slice -> slice.isClosed)
        ? Optional.of(new ForeseenFlags(run(slices, verdict)))
        : Optional.empty();
  }

  private static List<List<Boolean>> run(List<Slice> slices, Verdict verdict) {
    List<Graph> graphs = slices.stream().map(slice -> slice.graph(verdict)).toList();
    List<Map<String, Tensor>> inputs = Collections.nCopies(graphs.size(), Map.of());
    List<List<Boolean>> flags = new ArrayList<>();
    for (Map<String, Tensor> outputs : ProgramEvaluator.run(graphs, inputs, 1)) {
      List<Boolean> own = new ArrayList<>();
      for (int flag = 0; flag < outputs.size(); flag++) {
        Tensor value = outputs.get(name(flag));
        own.add(value != null && value.getBoolean(0));
      }
      flags.add(own);
    }
    return flags;
  }

  private static String name(int flag) {
    return "flag" + flag;
  }

  /**
   * Whether a flag is true.
   *
   * @param number the index in {@link GatedRegions#flags} of the device's graph
   */
  public boolean holds(int device, int number) {
    return flags.get(device).get(number);
  }

  /** The nodes of a device on which flags depend, up to comparisons of floats. */
  private static final class Slice {
    private final Graph graph;
    private final List<Value> flags;
    private final Set<Node> needed = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean isClosed = true;

    Slice(Graph graph, List<Value> flags) {
      this.graph = graph;
      this.flags = flags;
    }

    /** Adds the exchanges of some syncs and what is needed for them, and all needed syncs. */
    void extend(Set<Integer> syncs) {
      Set<Value> values = Collections.newSetFromMap(new IdentityHashMap<>());
      values.addAll(flags);
      for (Node node : graph.nodes().reversed()) {
        boolean isShared =
            node.op() instanceof Exchange exchange && syncs.contains(exchange.sync());
        if (isShared || node.results().stream().anyMatch(values::contains)) {
          needed.add(node);
          if (node.op() instanceof Exchange exchange) {
            syncs.add(exchange.sync());
          }
          if (!isComparison(node)) {
            values.addAll(node.operands());
          }
        }
      }
      isClosed = graph.inputs().stream().noneMatch(values::contains);
    }

    Graph graph(Verdict verdict) {
      GraphBuilder builder = new GraphBuilder(graph.name());
      Map<Value, Value> copies = new IdentityHashMap<>();
      for (Node node : graph.nodes()) {
        if (needed.contains(node)) {
          List<Value> operands = new ArrayList<>();
          boolean isComparison = isComparison(node);
          if (!isComparison) {
            node.operands().forEach(operand -> operands.add(copies.get(operand)));
          }
          Op op = isComparison ? outcome(node, verdict) : node.op();
          Node copy = builder.at(node).addNode(op, operands);
          for (int i = 0; i < copy.results().size(); i++) {
            copies.put(node.results().get(i), copy.results().get(i));
          }
        }
      }
      for (int flag = 0; flag < flags.size(); flag++) {
        builder.output(name(flag), copies.get(flags.get(flag)));
      }
      return builder.finish();
    }

    private static boolean isComparison(Node node) {
      return node.op() instanceof Elementwise.Binary binary
          && binary.function().isComparison()
          && node.operand(0).type().element().isFloat();
    }

    private static Op outcome(Node comparison, Verdict verdict) {
      return new Source.Constant(
          Tensor.filled(comparison.result().type(), verdict == Verdict.HIT ? 1 : 0));
    }
  }
}
