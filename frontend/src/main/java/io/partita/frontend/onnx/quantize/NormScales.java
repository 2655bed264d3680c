package io.partita.frontend.onnx.quantize;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The trained vectors that scale each feature of the input of products, such as those of a norm.
 * {@code (x g + b) W = (x (g / s) + b / s) (s W)} for any factors s of the features.
 */
public final class NormScales {
  private static final Set<String> NORMS =
      Set.of("LayerNormalization", "SimplifiedLayerNormalization", "RMSNormalization");

  /**
   * An operand to divide by the factors.
   *
   * @param node the node that reads it
   * @param operand its index among the node's operands
   */
  record Place(NodeProto node, int operand, String constant) {}

  private final QuantizableModel model;
  private final Map<String, Integer> uses = new HashMap<>();
  private final Map<String, Integer> productUses = new HashMap<>();

  /**
   * @param products the products that are to be quantized
   */
  public NormScales(QuantizableModel model, List<Product> products) {
    this.model = model;
    GraphProto graph = model.proto().getGraph();
    for (NodeProto node : graph.getNodeList()) {
      if (!node.getOpType().equals("Shape")) {
        new HashSet<>(node.getInputList()).forEach(name -> uses.merge(name, 1, Integer::sum));
      }
      if (node.getAttributeList().stream().anyMatch(attribute -> attribute.hasG())) {
        // The branches may read any value.
        uses.clear();
        return;
      }
    }
    graph.getOutputList().stream()
        .map(ValueInfoProto::getName)
        .forEach(name -> uses.merge(name, 1, Integer::sum));
    products.forEach(product -> productUses.merge(product.input(), 1, Integer::sum));
  }

  /** Whether the features of a value can be divided by factors. */
  public boolean isScaled(String value) {
    return !places(value).isEmpty();
  }

  /** Returns the operands to divide; none if a feature can't be scaled for all its readers. */
  List<Place> places(String value) {
    boolean onlyProducts =
        uses.containsKey(value) && uses.get(value).equals(productUses.get(value));
    NodeProto node = model.producer(value).orElse(null);
    if (!onlyProducts || node == null) {
      return List.of();
    }
    if (NORMS.contains(node.getOpType())) {
      List<Place> places = new ArrayList<>();
      for (int i = 1; i < node.getInputCount(); i++) {
        if (!node.getInput(i).isEmpty()) {
          places.add(new Place(node, i, node.getInput(i)));
        }
      }
      return places.stream().allMatch(place -> isVector(place.constant())) ? places : List.of();
    }
    if (node.getOpType().equals("Mul")) {
      return vector(node).map(List::of).orElse(List.of());
    }
    Optional<Place> shift = node.getOpType().equals("Add") ? vector(node) : Optional.empty();
    if (shift.isEmpty()) {
      return List.of();
    }
    String scaled = node.getInput(1 - shift.get().operand());
    Optional<Place> scale =
        model
            .producer(scaled)
            .filter(before -> before.getOpType().equals("Mul") && uses.get(scaled) == 1)
            .flatMap(this::vector);
    return scale.map(found -> List.of(found, shift.get())).orElse(List.of());
  }

  private Optional<Place> vector(NodeProto node) {
    for (int operand = 1; operand >= 0; operand--) {
      if (isVector(node.getInput(operand))) {
        return Optional.of(new Place(node, operand, node.getInput(operand)));
      }
    }
    return Optional.empty();
  }

  private boolean isVector(String name) {
    return model
        .constant(name)
        .filter(data -> data.shape().rank() == 1 && data.size() > 1)
        .isPresent();
  }
}
