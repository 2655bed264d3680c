package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Epilogue;
import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.graph.Origin;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** The kernels of steps: steps that compute the same with other sizes share theirs. */
final class Kernels {
  /** Headers of functions of the vector engine; all others are in one. */
  private static final Map<String, String> HEADERS =
      Map.of(
          "exp", "compute/eltwise_unary/exp.h",
          "gelu", "compute/eltwise_unary/gelu.h",
          "recip", "compute/eltwise_unary/recip.h",
          "relu", "compute/eltwise_unary/relu.h",
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
  private final ElementType element;

  /** Texts by name. */
  private final SortedMap<String, String> texts = new TreeMap<>();

  Kernels(Templates templates, Release release, ElementType element) {
    this.templates = templates;
    this.release = release;
    this.element = element;
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
    names.put("word", element == ElementType.F32 ? "uint32_t" : "uint16_t");
    // -1e9, to which a mask sets scores that don't take part.
    int masked = Float.floatToIntBits(-1e9f);
    names.put(
        "masked", "0x" + Integer.toHexString(element == ElementType.F32 ? masked : masked >>> 16));
    return names;
  }

  /** The kernels of a step; without a compute kernel, the reader gives its pages to the writer. */
  record Names(String reader, Optional<String> compute, String writer) {}

  /** Returns the names of a step's kernels, which say what they compute. */
  Names add(Step step) {
    return switch (step.kind()) {
      case LINEAR, ELEMENTWISE, RMS_NORM, LAYER_NORM, SOFTMAX -> {
        String name = addTiled(step);
        yield new Names(name + "_reader", Optional.of(name + "_compute"), "writer");
      }
      case GATHER_ROWS ->
          new Names(
              plain("gather_rows_reader", "Reads a row of the table for each index."),
              Optional.empty(),
              "writer");
      case REARRANGE ->
          new Names(
              plain("rearrange_reader", "Reads the elements of another shape, or of a part."),
              Optional.empty(),
              "writer");
      case CONCAT ->
          new Names(
              plain("concat_reader", "Reads the elements of several matrices, line by line."),
              Optional.empty(),
              "writer");
      case CACHE_UPDATE -> {
        Map<String, Object> reader = new LinkedHashMap<>();
        reader.put("names", names(1, false));
        reader.put("comment", "Reads the operands, tile by tile.");
        reader.put("operands", List.of());
        texts.computeIfAbsent(
            "elementwise_reader", key -> templates.print("elementwise_reader", reader));
        yield new Names(
            "elementwise_reader",
            Optional.empty(),
            plain("cache_update_writer", "Writes new rows of each head to the cache."));
      }
      case ROTARY ->
          new Names(
              plain("rotary_reader", "Reads rows of tiles, and the angles of their positions."),
              Optional.of(
                  compute(
                      "rotary_compute",
                      "out = x * cosines + (x * swap) * sines, which rotates pairs of features",
                      step)),
              "writer");
      case ATTENTION ->
          new Names(
              plain("attention_reader", "Reads queries, and keys and values in tiles of 32 keys."),
              Optional.of(
                  compute(
                      "attention_compute",
                      "softmax(scale * q * k^T + mask) * v, with sums and maxima that keys update",
                      step)),
              plain(
                  "attention_writer", "Writes results, or sends those of a chunk to its parent."));
    };
  }

  /**
   * Returns the names of the kernels of an exchange.
   *
   * @param join the function of the vector engine that joins elements of chips
   */
  Names addExchange(Optional<String> join) {
    plain("exchange_reader", "Puts the operand into the vector, and receives packets for it.");
    plain("exchange_writer", "Sends parts of the vector to other chips, and writes the result.");
    Matrix page = new Matrix("vector", "", Matrix.TILE, Matrix.TILE);
    Optional<String> compute =
        join.map(
            function ->
                addCompute(
                    Step.ofTiles(
                        Kind.ELEMENTWISE,
                        Origin.NONE,
                        List.of(page),
                        List.of(new Epilogue(function, Optional.of(page), false, false)),
                        page,
                        List.of())));
    return new Names("exchange_reader", compute, "exchange_writer");
  }

  private String plain(String name, String comment) {
    Map<String, Object> attributes = new LinkedHashMap<>();
    attributes.put("names", names(0, false));
    attributes.put("comment", comment);
    texts.computeIfAbsent(name, key -> templates.print(key, attributes));
    return name;
  }

  private String compute(String name, String comment, Step step) {
    Map<String, Object> attributes = new LinkedHashMap<>();
    attributes.put("names", names(0, false));
    attributes.put("comment", comment);
    attributes.put("includes", headers(step));
    texts.computeIfAbsent(name, key -> templates.print(key, attributes));
    return name;
  }

  private String addTiled(Step step) {
    Tiled tiled = tiled(step);
    Map<String, Object> reader = new LinkedHashMap<>();
    reader.put("names", tiled.names());
    reader.put("comment", "Reads the operands, tile by tile.");
    if (step.kind() == Kind.LAYER_NORM) {
      reader.put("hasBias", hasBias(step));
    }
    if (isOfTiles(step)) {
      reader.put("operands", tiled.operands());
    }
    texts.computeIfAbsent(
        tiled.name() + "_reader", key -> templates.print(tiled.kind() + "_reader", reader));
    addCompute(step);
    return tiled.name();
  }

  /** Adds a kernel without its reader, and returns its name. */
  private String addCompute(Step step) {
    Tiled tiled = tiled(step);
    Map<String, Object> compute = new LinkedHashMap<>();
    compute.put("names", tiled.names());
    compute.put("comment", comment(step));
    compute.put("includes", headers(step));
    if (step.kind() == Kind.LAYER_NORM) {
      compute.put("hasBias", hasBias(step));
    }
    if (isOfTiles(step)) {
      compute.put("operands", tiled.operands());
      compute.put("epilogues", tiled.epilogues());
    }
    String name = tiled.name() + "_compute";
    texts.computeIfAbsent(name, key -> templates.print(tiled.kind() + "_compute", compute));
    return name;
  }

  private static boolean isOfTiles(Step step) {
    return step.kind() == Kind.LINEAR || step.kind() == Kind.ELEMENTWISE;
  }

  /** What the texts of kernels on tiles are made of. */
  private record Tiled(
      String kind,
      String name,
      Map<String, Object> names,
      List<Map<String, Object>> operands,
      List<Map<String, Object>> epilogues) {}

  private Tiled tiled(Step step) {
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
    if (hasBias(step)) {
      name.append("_bias");
    }
    boolean hasRow = step.epilogues().stream().anyMatch(Epilogue::isRow);
    Map<String, Object> names = names(step.operands().size() + operands.size(), hasRow);
    return new Tiled(kind, name.toString(), names, operands, epilogues);
  }

  private static String comment(Step step) {
    String value =
        switch (step.kind()) {
          case LINEAR -> "x * weight";
          case ELEMENTWISE -> "x";
          case RMS_NORM -> "x / sqrt(mean(x^2) + epsilon) * scale, for each row";
          case LAYER_NORM ->
              "(x - mean(x)) / sqrt(variance(x) + epsilon) * scale"
                  + (hasBias(step) ? " + bias" : "")
                  + ", for each row";
          case SOFTMAX -> "exp(x - max(x)) / sum(exp(x - max(x))), for each row";
          case GATHER_ROWS, REARRANGE, CONCAT, CACHE_UPDATE, ROTARY, ATTENTION ->
              throw new IllegalArgumentException(step.kind().name());
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

  /** Whether a layer norm adds a bias: its operands are x, the scale, the bias and factors. */
  private static boolean hasBias(Step step) {
    return step.kind() == Kind.LAYER_NORM && step.operands().size() == 4;
  }

  private static List<String> headers(Step step) {
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
      case GATHER_ROWS, REARRANGE, CONCAT, CACHE_UPDATE -> {}
      case ROTARY ->
          headers.addAll(
              List.of(
                  "compute/eltwise_binary_sfpu.h", "compute/matmul.h", "compute/tile_move_copy.h"));
      case ATTENTION ->
          headers.addAll(
              List.of(
                  "compute/binary_max_min.h",
                  "compute/eltwise_binary_sfpu.h",
                  "compute/eltwise_unary/binop_with_scalar.h",
                  "compute/eltwise_unary/exp.h",
                  "compute/matmul.h",
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
      }
    }
    return List.copyOf(headers);
  }

  /** A circular buffer of a step: its index and its size in tiles. */
  record Buffer(int index, long pages) {}

  /** The buffers of an exchange of a vector of pages. */
  static List<Buffer> exchangeBuffers(long pages) {
    return List.of(
        new Buffer(0, 2),
        new Buffer(1, 2),
        new Buffer(2, 1),
        new Buffer(3, 1),
        new Buffer(4, 1),
        new Buffer(5, 1),
        new Buffer(6, pages),
        new Buffer(16, 2));
  }

  /** The buffers of the kernel that joins elements, as in {@link #direct}. */
  List<Integer> exchangeDirect() {
    return element == ElementType.F32 ? List.of(0, 1) : List.of();
  }

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
      case LAYER_NORM -> {
        // The reader fetches the next row as soon as this one is centered.
        buffers.addAll(List.of(new Buffer(0, row), new Buffer(1, row), new Buffer(3, 2)));
        buffers.addAll(List.of(new Buffer(24, 1), new Buffer(25, row), new Buffer(26, row)));
        buffers.addAll(List.of(new Buffer(27, 1), new Buffer(28, 1)));
        if (hasBias(step)) {
          buffers.addAll(List.of(new Buffer(2, row), new Buffer(29, 1)));
        }
      }
      case SOFTMAX ->
          buffers.addAll(
              List.of(
                  new Buffer(0, 2 * row),
                  new Buffer(1, 1),
                  new Buffer(24, 1),
                  new Buffer(25, row),
                  new Buffer(26, 1)));
      case GATHER_ROWS -> {}
      case REARRANGE, CONCAT, CACHE_UPDATE -> buffers.add(new Buffer(0, 2));
      case ROTARY -> {
        long half = step.operands().get(1).tileColumns();
        buffers.addAll(
            List.of(
                new Buffer(0, 2 * row),
                new Buffer(1, 2 * half),
                new Buffer(2, 2 * half),
                new Buffer(3, row * row),
                new Buffer(4, half * row),
                new Buffer(5, 2 * row)));
      }
      case ATTENTION -> {
        long features = step.operands().getFirst().tileColumns();
        long partial = row + 2;
        buffers.addAll(
            List.of(
                new Buffer(0, features),
                new Buffer(1, 2 * features),
                new Buffer(2, 2 * row),
                new Buffer(3, 1),
                new Buffer(4, 1),
                new Buffer(5, 2)));
        if (step.chunks() > 1) {
          buffers.add(new Buffer(6, partial * Integer.numberOfTrailingZeros(step.chunks())));
        }
        // The matrix engine doesn't read those from 22 on but 24, 26 and 29.
        buffers.addAll(List.of(new Buffer(7, partial), new Buffer(17, partial)));
        buffers.addAll(List.of(new Buffer(22, 1), new Buffer(23, 2 * row)));
        for (int index = 24; index <= 31; index++) {
          buffers.add(new Buffer(index, 2));
        }
      }
    }
    if (step.kind() != Kind.CACHE_UPDATE) {
      buffers.add(new Buffer(16, 2));
    }
    return buffers;
  }

  /**
   * Buffers whose f32 tiles only the vector engine reads: they keep all bits on the way to the
   * destination registers.
   */
  List<Integer> direct(Step step) {
    if (element != ElementType.F32) {
      return List.of();
    }
    return switch (step.kind()) {
      case LINEAR, ELEMENTWISE -> {
        int first = step.kind() == Kind.LINEAR ? step.operands().size() : 0;
        yield IntStream.range(first, step.operands().size() + withOperand(step).size())
            .boxed()
            .toList();
      }
      case ROTARY -> List.of(0);
      case ATTENTION -> List.of(5, 7, 22, 23, 25, 27, 28, 30, 31);
      case RMS_NORM, LAYER_NORM, SOFTMAX, GATHER_ROWS, REARRANGE, CONCAT, CACHE_UPDATE -> List.of();
    };
  }

  static List<Matrix> withOperand(Step step) {
    return step.epilogues().stream().flatMap(each -> each.operand().stream()).toList();
  }
}
