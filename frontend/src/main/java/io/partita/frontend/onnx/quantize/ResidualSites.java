package io.partita.frontend.onnx.quantize;

import ai.onnx.proto.OnnxMl.NodeProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Finds the sums of the residual stream, each of a skip connection and the result of a product. */
final class ResidualSites {
  private ResidualSites() {}

  static List<ResidualSite> of(QuantizableModel model) {
    Set<String> terms = model.products().stream().map(model::withBias).collect(Collectors.toSet());
    List<ResidualSite> sites = new ArrayList<>();
    for (NodeProto node : model.proto().getGraph().getNodeList()) {
      List<String> inputs = node.getInputList();
      boolean isSum =
          node.getOpType().equals("Add")
              && node.getDomain().isEmpty()
              && inputs.stream().anyMatch(terms::contains)
              && inputs.stream().noneMatch(name -> model.constant(name).isPresent());
      List<Integer> readers = isSum ? model.readers(node.getOutput(0)) : List.of();
      if (!readers.isEmpty()) {
        String output = node.getOutput(0);
        String name = node.getName().isEmpty() ? output : node.getName();
        sites.add(new ResidualSite(name, output, readers));
      }
    }
    return sites;
  }
}
