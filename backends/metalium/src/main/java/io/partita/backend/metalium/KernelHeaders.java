package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Epilogue;
import io.partita.backend.metalium.Step.Kind;
import io.partita.ir.schedule.ProductBlocks;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** The headers that compute kernels include. */
final class KernelHeaders {
  /** Headers of functions of the vector engine; all others are in one. */
  private static final Map<String, String> HEADERS =
      Map.of(
          VectorFunctions.ROUND_TO_INTEGER,
          "compute/eltwise_unary/binop_with_scalar.h",
          "exp",
          "compute/eltwise_unary/exp.h",
          "gelu",
          "compute/eltwise_unary/gelu.h",
          "recip",
          "compute/eltwise_unary/recip.h",
          "relu",
          "compute/eltwise_unary/relu.h",
          "sqrt",
          "compute/eltwise_unary/sqrt.h",
          VectorFunctions.ROUND_TO_BF16,
          "compute/eltwise_unary/typecast.h",
          "binary_max",
          "compute/binary_max_min.h",
          "binary_min",
          "compute/binary_max_min.h");

  private static final List<String> FRAME =
      List.of(
          "compute/cb_api.h",
          "compute/common.h",
          "compute/compute_kernel_hw_startup.h",
          "compute/pack.h",
          "compute/reg_api.h");

  private KernelHeaders() {}

  /** Returns the headers of the compute kernel of a step, sorted. */
  static List<String> of(Step step) {
    TreeSet<String> headers = new TreeSet<>(FRAME);
    switch (step.kind()) {
      case LINEAR -> headers.add("compute/matmul.h");
      case ELEMENTWISE -> headers.add("compute/tile_move_copy.h");
      case RMS_NORM, LAYER_NORM ->
          headers.addAll(
              List.of(
                  "compute/bcast.h",
                  "compute/eltwise_binary.h",
                  "compute/eltwise_unary/binop_with_scalar.h",
                  "compute/eltwise_unary/rsqrt.h",
                  "compute/reconfig_data_format.h",
                  "compute/reduce.h"));
      case SOFTMAX ->
          headers.addAll(
              List.of(
                  "compute/bcast.h",
                  "compute/eltwise_unary/exp.h",
                  "compute/eltwise_unary/recip.h",
                  "compute/reconfig_data_format.h",
                  "compute/reduce.h"));
      case GATHER_ROWS, LOOKUP, REARRANGE, SELECT, CONCAT, CHOICE, DECISION, CACHE_UPDATE -> {}
      case NEAREST_CENTROID, ROTARY ->
          headers.addAll(
              List.of(
                  "compute/eltwise_binary_sfpu.h",
                  "compute/matmul.h",
                  "compute/reconfig_data_format.h",
                  "compute/tile_move_copy.h"));
      case ATTENTION, SPECULATED_ATTENTION, EARLY_ATTENTION, VERIFYING_ATTENTION ->
          headers.addAll(
              List.of(
                  "compute/binary_max_min.h",
                  "compute/eltwise_binary_sfpu.h",
                  "compute/eltwise_unary/binop_with_scalar.h",
                  "compute/eltwise_unary/exp.h",
                  "compute/matmul.h",
                  "compute/reconfig_data_format.h",
                  "compute/reduce.h",
                  "compute/tile_move_copy.h"));
    }
    for (Epilogue epilogue : step.epilogues()) {
      boolean isBinary = epilogue.operand().isPresent();
      headers.add(
          HEADERS.getOrDefault(
              epilogue.function(),
              isBinary ? "compute/eltwise_binary_sfpu.h" : "compute/compute_kernel_api.h"));
      if (isBinary) {
        headers.add("compute/tile_move_copy.h");
        if (step.kind() == Kind.LINEAR) {
          headers.add("compute/reconfig_data_format.h");
        }
      }
    }
    if (step.product().filter(ProductBlocks::keepsSums).isPresent()) {
      headers.addAll(List.of("compute/reconfig_data_format.h", "compute/tile_move_copy.h"));
    }
    return List.copyOf(headers);
  }
}
