package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Epilogue;
import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** The kernels of steps: steps that compute the same with other sizes share theirs. */
final class Kernels {
  /** Headers of functions of the vector engine; all others are in one. */
  private static final Map<String, String> HEADERS =
      Map.of(
          "exp", "compute/eltwise_unary/exp.h",
          "gelu", "compute/eltwise_unary/gelu.h",
          "recip", "compute/eltwise_unary/recip.h",
          "sqrt", "compute/eltwise_unary/sqrt.h",
          "binary_max", "compute/binary_max_min.h");

  private static final List<String> FRAME =
      List.of(
          "compute/cb_api.h",
          "compute/compute_kernel_hw_startup.h",
          "compute/pack.h",
          "compute/reg_api.h");

  private final Templates templates;
  private final Release release;

  /** Texts by name. */
  private final SortedMap<String, String> texts = new TreeMap<>();

  Kernels(Templates templates, Release release) {
    this.templates = templates;
    this.release = release;
    Map<String, Object> attributes = new LinkedHashMap<>();
    attributes.put("names", new TreeMap<>(names(0, false)));
    attributes.put("comment", "Writes the tiles of the result.");
    texts.put("writer", templates.print("writer", attributes));
  }

  SortedMap<String, String> texts() {
    return texts;
  }

  private Map<String, Object> names(int addresses, boolean hasRow) {
    Map<String, Object> names = new TreeMap<>(release.names());
    names.put("release", release.version());
    // The indices of the arguments after the addresses.
    names.put("addresses", addresses);
    names.put("count", addresses + 1);
    names.put("hasRow", hasRow);
    return names;
  }

  /** Returns the common part of the names of a step's kernels, which say what they compute. */
  String add(Step step) {
    String kind = step.kind().name().toLowerCase(Locale.ROOT);
    StringBuilder name = new StringBuilder(kind);
    List<Map<String, Object>> operands = new ArrayList<>();
    List<Map<String, Object>> epilogues = new ArrayList<>();
    for (Epilogue epilogue : step.epilogues()) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("function", epilogue.function());
      name.append('_').append(epilogue.function().replaceAll("_?binary_?", ""));
      if (epilogue.operand().isPresent()) {
        int index = step.operands().size() + operands.size();
        fields.put("index", index);
        fields.put("tensor", "operand" + operands.size());
        fields.put("cb", "cb_operand" + operands.size());
        fields.put("isRow", epilogue.isRow());
        fields.put("left", epilogue.isLeft() ? 1 : 0);
        fields.put("right", epilogue.isLeft() ? 0 : 1);
        name.append(epilogue.isRow() ? "_row" : "").append(epilogue.isLeft() ? "_left" : "");
        operands.add(fields);
      }
      epilogues.add(fields);
    }
    boolean hasRow = step.epilogues().stream().anyMatch(Epilogue::isRow);
    Map<String, Object> names = names(step.operands().size() + operands.size(), hasRow);
    boolean isOfTiles = step.kind() == Kind.LINEAR || step.kind() == Kind.ELEMENTWISE;
    Map<String, Object> reader = new LinkedHashMap<>();
    reader.put("names", names);
    reader.put("comment", "Reads the operands, tile by tile.");
    Map<String, Object> compute = new LinkedHashMap<>();
    compute.put("names", names);
    compute.put("comment", comment(step));
    compute.put("includes", headers(step));
    if (isOfTiles) {
      reader.put("operands", operands);
      compute.put("operands", operands);
      compute.put("epilogues", epilogues);
    }
    texts.computeIfAbsent(name + "_reader", key -> templates.print(kind + "_reader", reader));
    texts.computeIfAbsent(name + "_compute", key -> templates.print(kind + "_compute", compute));
    return name.toString();
  }

  private static String comment(Step step) {
    String value =
        switch (step.kind()) {
          case LINEAR -> "x * weight";
          case ELEMENTWISE -> "x";
          case RMS_NORM -> "x / sqrt(mean(x^2) + epsilon) * scale, for each row";
          case SOFTMAX -> "exp(x - max(x)) / sum(exp(x - max(x))), for each row";
        };
    int operand = 0;
    for (Epilogue epilogue : step.epilogues()) {
      String function = epilogue.function().replaceAll("_?binary_?", "");
      if (epilogue.operand().isEmpty()) {
        value = function + "(" + value + ")";
      } else {
        String other = "operand" + operand++;
        value =
            function
                + (epilogue.isLeft() ? "(" + other + ", " + value : "(" + value + ", " + other)
                + ")";
      }
    }
    return "out = " + value;
  }

  private static List<String> headers(Step step) {
    TreeSet<String> headers = new TreeSet<>(FRAME);
    switch (step.kind()) {
      case LINEAR -> headers.add("compute/matmul.h");
      case ELEMENTWISE -> headers.add("compute/tile_move_copy.h");
      case RMS_NORM ->
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
    }
    for (Epilogue epilogue : step.epilogues()) {
      boolean isBinary = epilogue.operand().isPresent();
      headers.add(
          HEADERS.getOrDefault(
              epilogue.function(),
              isBinary ? "compute/eltwise_binary_sfpu.h" : "compute/compute_kernel_api.h"));
      if (isBinary) {
        headers.add("compute/tile_move_copy.h");
      }
    }
    return List.copyOf(headers);
  }

  /** A circular buffer of a step: its index and its size in tiles. */
  record Buffer(int index, long pages) {}

  /** Buffers of two tiles overlap transfers with computing; those of rows hold all their tiles. */
  static List<Buffer> buffers(Step step) {
    long row = step.result().tileColumns();
    List<Buffer> buffers = new ArrayList<>();
    switch (step.kind()) {
      case LINEAR, ELEMENTWISE -> {
        int count = step.operands().size() + withOperand(step).size();
        for (int index = 0; index < count; index++) {
          buffers.add(new Buffer(index, 2));
        }
      }
      case RMS_NORM ->
          buffers.addAll(
              List.of(
                  new Buffer(0, 2 * row),
                  new Buffer(1, row),
                  new Buffer(2, 1),
                  new Buffer(24, row),
                  new Buffer(25, 1),
                  new Buffer(26, 1)));
      case SOFTMAX ->
          buffers.addAll(
              List.of(
                  new Buffer(0, 2 * row),
                  new Buffer(1, 1),
                  new Buffer(24, 1),
                  new Buffer(25, row),
                  new Buffer(26, 1)));
    }
    buffers.add(new Buffer(16, 2));
    return buffers;
  }

  static List<Matrix> withOperand(Step step) {
    return step.epilogues().stream().flatMap(each -> each.operand().stream()).toList();
  }
}
