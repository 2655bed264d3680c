package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.partita.ir.diagnostic.Diagnostic;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Sorts nodes topologically and otherwise keeps their order. */
final class NodeOrder {
  private final List<NodeProto> nodes;
  private final Map<String, Integer> producers = new HashMap<>();
  private final List<List<Integer>> readers = new ArrayList<>();
  private final int[] missing;

  private NodeOrder(List<NodeProto> nodes) {
    this.nodes = nodes;
    this.missing = new int[nodes.size()];
  }

  /**
   * @param taken whether a name belongs to an input or initializer of the same graph
   * @param where the graph, for messages
   * @param report receives a diagnostic for each duplicate name, and one for a cycle; nodes on
   *     cycles and their users are omitted
   */
  static List<NodeProto> sort(
      List<NodeProto> nodes, Predicate<String> taken, String where, Consumer<Diagnostic> report) {
    NodeOrder order = new NodeOrder(nodes);
    order.findProducers(taken, where, report);
    order.findReaders();
    return order.sorted(where, report);
  }

  private void findProducers(Predicate<String> taken, String where, Consumer<Diagnostic> report) {
    for (int i = 0; i < nodes.size(); i++) {
      readers.add(null);
      for (String output : nodes.get(i).getOutputList()) {
        if (output.isEmpty()) {
          continue;
        }
        boolean isTaken = taken.test(output);
        if (isTaken || producers.putIfAbsent(output, i) != null) {
          report.accept(
              new Diagnostic(
                  ImportCode.DUPLICATE,
                  where + "node " + name(nodes.get(i)),
                  "a unique name for each output",
                  "\""
                      + output
                      + "\", also the name of "
                      + (isTaken
                          ? "an input or initializer"
                          : "an output of node " + name(nodes.get(producers.get(output)))),
                  "rename one of them"));
        }
      }
    }
  }

  static String name(NodeProto node) {
    String name =
        !node.getName().isEmpty()
            ? node.getName()
            : node.getOutputCount() > 0 ? node.getOutput(0) : "";
    return "\"" + name + "\" (" + node.getOpType() + ")";
  }

  private void findReaders() {
    for (int i = 0; i < nodes.size(); i++) {
      Set<String> reads = new LinkedHashSet<>();
      addReads(nodes.get(i), reads);
      for (String read : reads) {
        Integer producer = producers.get(read);
        if (producer != null) {
          if (readers.get(producer) == null) {
            readers.set(producer, new ArrayList<>(2));
          }
          readers.get(producer).add(i);
          missing[i]++;
        }
      }
    }
  }

  /** The names that a node reads, captures of its subgraphs included. */
  private static void addReads(NodeProto node, Set<String> reads) {
    reads.addAll(node.getInputList());
    for (AttributeProto attribute : node.getAttributeList()) {
      if (attribute.hasG()) {
        addCaptures(attribute.getG(), reads);
      }
      attribute.getGraphsList().forEach(graph -> addCaptures(graph, reads));
    }
  }

  private static void addCaptures(GraphProto graph, Set<String> reads) {
    Set<String> own = new HashSet<>();
    graph.getInputList().stream().map(ValueInfoProto::getName).forEach(own::add);
    graph.getInitializerList().stream().map(TensorProto::getName).forEach(own::add);
    graph.getNodeList().forEach(node -> own.addAll(node.getOutputList()));
    Set<String> inner = new LinkedHashSet<>();
    graph.getNodeList().forEach(node -> addReads(node, inner));
    graph.getOutputList().stream().map(ValueInfoProto::getName).forEach(inner::add);
    inner.removeAll(own);
    reads.addAll(inner);
  }

  private List<NodeProto> sorted(String where, Consumer<Diagnostic> report) {
    PriorityQueue<Integer> ready = new PriorityQueue<>();
    for (int i = 0; i < missing.length; i++) {
      if (missing[i] == 0) {
        ready.add(i);
      }
    }
    List<NodeProto> sorted = new ArrayList<>(nodes.size());
    while (!ready.isEmpty()) {
      int next = ready.poll();
      sorted.add(nodes.get(next));
      if (readers.get(next) != null) {
        for (int reader : readers.get(next)) {
          if (--missing[reader] == 0) {
            ready.add(reader);
          }
        }
      }
    }
    if (sorted.size() < nodes.size()) {
      reportCycle(where, report);
    }
    return sorted;
  }

  /**
   * Reports a cycle, found by following operands from a node that is never ready until a node
   * repeats.
   */
  private void reportCycle(String where, Consumer<Diagnostic> report) {
    int at = 0;
    while (missing[at] == 0) {
      at++;
    }
    Map<Integer, Integer> places = new HashMap<>();
    List<Integer> path = new ArrayList<>();
    while (places.putIfAbsent(at, path.size()) == null) {
      path.add(at);
      Set<String> reads = new LinkedHashSet<>();
      addReads(nodes.get(at), reads);
      at =
          reads.stream()
              .map(producers::get)
              .filter(producer -> producer != null && missing[producer] > 0)
              .findFirst()
              .orElseThrow();
    }
    List<Integer> cycle = path.subList(places.get(at), path.size()).reversed();
    List<String> names = cycle.stream().limit(5).map(i -> name(nodes.get(i))).toList();
    report.accept(
        new Diagnostic(
            ImportCode.CYCLE,
            where + "node " + names.getFirst(),
            "nodes that don't depend on themselves",
            "a cycle of "
                + cycle.size()
                + (cycle.size() == 1 ? " node: " : " nodes: ")
                + String.join(" -> ", names)
                + (cycle.size() > names.size() ? " -> …" : ""),
            "export the model again: ONNX graphs have no cycles"));
  }
}
