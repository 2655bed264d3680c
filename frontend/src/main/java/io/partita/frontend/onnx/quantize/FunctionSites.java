package io.partita.frontend.onnx.quantize;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.partita.ir.tensor.Tensor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Finds the activation functions between the products of a graph. */
final class FunctionSites {
  /** Operators that take an instruction or two for each element, or none after a product. */
  private static final Set<String> CHEAP =
      Set.of("Add", "Sub", "Mul", "Div", "Neg", "Abs", "Relu", "Min", "Max", "Clip", "Identity");

  /** Operators that compute elements from those at the same place. */
  private static final Set<String> OTHER =
      Set.of(
          "Celu",
          "Elu",
          "Erf",
          "Exp",
          "FastGelu",
          "Gelu",
          "HardSigmoid",
          "HardSwish",
          "LeakyRelu",
          "Log",
          "Mish",
          "Pow",
          "QuickGelu",
          "Reciprocal",
          "Selu",
          "Sigmoid",
          "Softplus",
          "Softsign",
          "Sqrt",
          "Swish",
          "Tanh");

  private final QuantizableModel model;
  private final GraphProto graph;
  private final Set<String> inputs;
  private final Set<String> outputs;

  private FunctionSites(QuantizableModel model) {
    this.model = model;
    graph = model.proto().getGraph();
    inputs = model.products().stream().map(Product::input).collect(Collectors.toSet());
    outputs =
        graph.getOutputList().stream().map(ValueInfoProto::getName).collect(Collectors.toSet());
  }

  static List<FunctionSite> of(QuantizableModel model) {
    FunctionSites sites = new FunctionSites(model);
    return model.products().stream().flatMap(product -> sites.site(product).stream()).toList();
  }

  private Optional<FunctionSite> site(Product source) {
    String input = model.withBias(source);
    Set<String> values = new HashSet<>(Set.of(input));
    List<Integer> nodes = new ArrayList<>();
    boolean isCheap = true;
    for (int i = source.index() + 1; i < graph.getNodeCount(); i++) {
      NodeProto node = graph.getNode(i);
      if (isFunction(node, values)) {
        nodes.add(i);
        values.add(node.getOutput(0));
        isCheap &= CHEAP.contains(node.getOpType());
      }
    }
    List<String> read = values.stream().filter(value -> isReadElsewhere(value, nodes)).toList();
    if (isCheap
        || read.size() != 1
        || read.getFirst().equals(input)
        || !isFactor(read.getFirst())) {
      return Optional.empty();
    }
    String output = read.getFirst();
    String name = model.producer(output).orElseThrow().getName();
    return Optional.of(
        new FunctionSite(name.isEmpty() ? output : name, source, input, nodes, output));
  }

  /** Whether a node computes elements from those of these values and numbers. */
  private boolean isFunction(NodeProto node, Set<String> values) {
    boolean isElementwise =
        (CHEAP.contains(node.getOpType()) || OTHER.contains(node.getOpType()))
            && node.getOutputCount() == 1;
    return isElementwise
        && node.getInputList().stream().anyMatch(values::contains)
        && node.getInputList().stream()
            .allMatch(name -> name.isEmpty() || values.contains(name) || isNumber(name));
  }

  private boolean isNumber(String name) {
    return model.constant(name).map(Tensor::size).filter(size -> size == 1).isPresent();
  }

  private boolean isReadElsewhere(String value, List<Integer> nodes) {
    return outputs.contains(value) || !nodes.containsAll(model.readers(value));
  }

  /** Whether products read the value, or its product with another value. */
  private boolean isFactor(String value) {
    return !outputs.contains(value)
        && (inputs.contains(value)
            || model.readers(value).stream()
                .map(graph::getNode)
                .allMatch(
                    node -> node.getOpType().equals("Mul") && inputs.contains(node.getOutput(0))));
  }
}
