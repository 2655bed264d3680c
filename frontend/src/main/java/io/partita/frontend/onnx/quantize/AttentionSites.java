package io.partita.frontend.onnx.quantize;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import io.partita.frontend.onnx.quantize.AttentionSite.Cache;
import io.partita.frontend.onnx.quantize.AttentionSite.Use;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Finds the attentions of a graph. */
final class AttentionSites {
  /** Operators that only move their first operand. */
  private static final Set<String> MOVEMENTS =
      Set.of("Transpose", "Reshape", "Unsqueeze", "Squeeze", "Expand", "Identity", "Flatten");

  /** Operators between a softmax and a product, apart from which there are constants and masks. */
  private static final Set<String> ON_SCORES =
      Set.of("Mul", "Div", "Add", "Sub", "Where", "Max", "Cast", "Reshape", "Identity");

  private static final Set<String> ON_PROBABILITIES =
      Set.of("Cast", "Where", "Dropout", "Reshape", "Identity");

  private static final Set<String> PRODUCTS = Set.of("MatMul", "Gemm", "Conv");

  /** Operators that scale keys after they were read from a cache. */
  private static final Set<String> SCALES = Set.of("Mul", "Div");

  private static final int MAX_STEPS = 16;

  private final QuantizableModel model;
  private final GraphProto graph;
  private final Set<String> inputs;
  private final Set<String> outputs;

  private AttentionSites(QuantizableModel model) {
    this.model = model;
    graph = model.proto().getGraph();
    inputs =
        graph.getInputList().stream().map(input -> input.getName()).collect(Collectors.toSet());
    outputs =
        graph.getOutputList().stream().map(output -> output.getName()).collect(Collectors.toSet());
  }

  static List<AttentionSite> of(QuantizableModel model) {
    AttentionSites sites = new AttentionSites(model);
    List<AttentionSite> found = new ArrayList<>();
    for (int i = 0; i < sites.graph.getNodeCount(); i++) {
      sites.site(i).ifPresent(found::add);
    }
    return found;
  }

  private Optional<AttentionSite> site(int index) {
    NodeProto product = graph.getNode(index);
    if (!isProduct(product)) {
      return Optional.empty();
    }
    return above(product.getInput(0), ON_PROBABILITIES, node -> node.getOpType().equals("Softmax"))
        .flatMap(softmax -> above(softmax.getInput(0), ON_SCORES, this::isProduct))
        .flatMap(
            scores -> site(product, index, model.producerIndex(scores.getOutput(0)).orElseThrow()));
  }

  /**
   * Returns the attention of two products. One over keys or values of the past that aren't in a
   * cache which can hold integers stays float.
   */
  private Optional<AttentionSite> site(NodeProto product, int index, int scores) {
    Use key = unmoved(scores, 1);
    Use value = unmoved(index, 1);
    if (isOfFloatPast(key, scores) || isOfFloatPast(value, index)) {
      return Optional.empty();
    }
    return Optional.of(
        new AttentionSite(
            product.getName().isEmpty() ? product.getOutput(0) : product.getName(),
            product.getOutput(0),
            unmoved(scores, 0),
            key,
            value,
            new Use(product.getInput(0), index, 0, Optional.empty())));
  }

  private boolean isOfFloatPast(Use use, int product) {
    return use.cache().isEmpty() && isJoined(graph.getNode(product).getInput(1), new HashSet<>());
  }

  /**
   * Whether a value is computed from an input joined with new values, without a product between.
   */
  private boolean isJoined(String value, Set<String> seen) {
    NodeProto node = model.producer(value).orElse(null);
    if (node == null || !seen.add(value) || PRODUCTS.contains(node.getOpType())) {
      return false;
    }
    return node.getOpType().equals("Concat") && inputs.contains(node.getInput(0))
        || node.getInputList().stream().anyMatch(input -> isJoined(input, seen));
  }

  /** Whether a node multiplies two values that aren't constant. */
  private boolean isProduct(NodeProto node) {
    return node.getOpType().equals("MatMul")
        && node.getDomain().isEmpty()
        && node.getInputList().stream().allMatch(this::isComputed);
  }

  private boolean isComputed(String value) {
    return model.constant(value).isEmpty() && model.producer(value).isPresent();
  }

  /** Returns the nearest node above a value with nothing but some operators between. */
  private Optional<NodeProto> above(String value, Set<String> between, Predicate<NodeProto> test) {
    return above(value, between, test, MAX_STEPS);
  }

  private Optional<NodeProto> above(
      String value, Set<String> between, Predicate<NodeProto> test, int steps) {
    NodeProto node = model.producer(value).orElse(null);
    if (node == null || steps == 0) {
      return Optional.empty();
    }
    if (test.test(node)) {
      return Optional.of(node);
    }
    if (!between.contains(node.getOpType())) {
      return Optional.empty();
    }
    return node.getInputList().stream()
        .flatMap(input -> above(input, between, test, steps - 1).stream())
        .findFirst();
  }

  /** Walks from an operand up to what is appended to a cache, or else to what is only moved. */
  private Use unmoved(int index, int operand) {
    Use scaled = walked(index, operand, true);
    return scaled.cache().isPresent() ? scaled : walked(index, operand, false);
  }

  private Use walked(int index, int operand, boolean isScaled) {
    int node = index;
    int at = operand;
    while (true) {
      String value = graph.getNode(node).getInput(at);
      NodeProto above = model.producer(value).orElse(null);
      Optional<Cache> cache = above == null ? Optional.empty() : cache(above);
      boolean isPassed =
          above != null
              && (MOVEMENTS.contains(above.getOpType())
                  || isScaled && SCALES.contains(above.getOpType()));
      if (cache.isEmpty() && !isPassed) {
        return new Use(value, node, at, Optional.empty());
      }
      node = model.producerIndex(value).orElseThrow();
      if (cache.isPresent()) {
        return new Use(above.getInput(1), node, 1, cache);
      }
      at = 0;
    }
  }

  /** Returns the cache whose concatenation with a new value the node is. */
  private Optional<Cache> cache(NodeProto node) {
    if (!node.getOpType().equals("Concat") || node.getInputCount() != 2) {
      return Optional.empty();
    }
    String past = node.getInput(0);
    String present = node.getOutput(0);
    boolean isRead =
        model.readers(past).stream()
            .map(graph::getNode)
            .allMatch(reader -> reader == node || reader.getOpType().equals("Shape"));
    return inputs.contains(past) && outputs.contains(present) && isRead
        ? Optional.of(new Cache(past, present))
        : Optional.empty();
  }
}
