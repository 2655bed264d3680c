package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import java.util.ArrayList;
import java.util.List;

/**
 * Operators of com.microsoft.nchwc, which ONNX Runtime writes when it saves a model with its layout
 * optimisations. Between ReorderInput and ReorderOutput, channels are in blocks of 8 or 16,
 * depending on the instruction set of the computer that optimised the model. Here they are not
 * reordered. Pooling is independent of blocks, but weights of Conv are in blocks, whose size is not
 * in the file.
 */
final class MicrosoftBlockedChannels {
  private static final String DOMAIN = "com.microsoft.nchwc";

  private MicrosoftBlockedChannels() {}

  static void register(OperatorRegistry registry) {
    registry.add(DOMAIN, "ReorderInput", 1, MicrosoftBlockedChannels::reorderInput);
    registry.add(DOMAIN, "ReorderOutput", 1, MicrosoftBlockedChannels::reorderOutput);
    registry.add(DOMAIN, "MaxPool", 1, PoolingOperators::maxPool);
    registry.add(DOMAIN, "AveragePool", 1, PoolingOperators::averagePool);
    registry.add(DOMAIN, "GlobalMaxPool", 1, PoolingOperators::globalMaxPool);
    registry.add(DOMAIN, "GlobalAveragePool", 1, PoolingOperators::globalAveragePool);
    registry.add(DOMAIN, "Conv", 1, MicrosoftBlockedChannels::refuse);
    registry.add(DOMAIN, "Upsample", 1, MicrosoftBlockedChannels::refuse);
  }

  private static void reorderInput(NodeScope node) {
    Value x = node.input(0);
    node.output(0, node.flag("channels_last", false) ? channelsFirst(node, x) : x);
  }

  private static void reorderOutput(NodeScope node) {
    Value x = node.input(0);
    node.output(0, node.flag("channels_last", false) ? channelsLast(node, x) : x);
  }

  private static void refuse(NodeScope node) {
    throw node.unsupported(
        "a layout in blocks of channels for a processor that the file does not name",
        "optimise with ORT_ENABLE_EXTENDED instead of ORT_ENABLE_ALL, or use the model"
            + " before optimisation");
  }

  /** Transposes {@code [n, spatial…, c]} to {@code [n, c, spatial…]}. */
  static Value channelsFirst(NodeScope node, Value x) {
    int rank = x.type().rank();
    List<Integer> permutation = new ArrayList<>(List.of(0, rank - 1));
    for (int axis = 1; axis < rank - 1; axis++) {
      permutation.add(axis);
    }
    return node.add(new Movement.Transpose(permutation), x);
  }

  /** Transposes {@code [n, c, spatial…]} to {@code [n, spatial…, c]}. */
  static Value channelsLast(NodeScope node, Value x) {
    List<Integer> permutation = new ArrayList<>(List.of(0));
    for (int axis = 2; axis < x.type().rank(); axis++) {
      permutation.add(axis);
    }
    permutation.add(1);
    return node.add(new Movement.Transpose(permutation), x);
  }
}
