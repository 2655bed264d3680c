package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Epilogue;
import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.backend.metalium.TemplateNames.Processor;
import io.partita.ir.graph.Origin;
import io.partita.ir.schedule.CoreGrid;
import io.partita.ir.schedule.ProductBlocks;
import io.partita.ir.schedule.RowBlocks;
import io.partita.ir.schedule.TileBlocks;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** The kernels of steps: steps that compute the same with other sizes share theirs. */
final class Kernels {
  private final Templates templates;
  private final TemplateNames templateNames;
  private final ElementType element;

  /** Texts by name. */
  private final SortedMap<String, String> texts = new TreeMap<>();

  Kernels(Templates templates, Release release, ElementType element) {
    this.templates = templates;
    this.templateNames = new TemplateNames(release, element);
    this.element = element;
  }

  /** The type of all elements. */
  ElementType element() {
    return element;
  }

  SortedMap<String, String> texts() {
    return texts;
  }

  /** The kernels of a step; without a compute kernel, the reader gives its pages to the writer. */
  record Names(String reader, Optional<String> compute, String writer) {}

  /** Returns the names of a step's kernels, which say what they compute. */
  Names add(Step step) {
    return switch (step.kind()) {
      case LINEAR, ELEMENTWISE, RMS_NORM, LAYER_NORM, SOFTMAX -> addTiled(step);
      case GATHER_ROWS ->
          movers("gather_rows_reader", "Reads a row of the table for each index.", step);
      case LOOKUP ->
          movers(
              "lookup_reader", "Reads the row of the table that each code is the number of.", step);
      case NEAREST_CENTROID ->
          new Names(
              reader(
                  "nearest_centroid_reader",
                  "Reads rows of tiles, and for each group of features its centroids.",
                  step),
              Optional.of(
                  compute(
                      "nearest_centroid_compute",
                      "out = x * c - |c|^2 / 2 for each centroid c, which is largest for the"
                          + " nearest one",
                      step)),
              writer(
                  "nearest_centroid_writer",
                  "Writes the number of the centroid with the largest score, for each row and"
                      + " group.",
                  step));
      case REARRANGE ->
          movers("rearrange_reader", "Reads the elements of another shape, or of a part.", step);
      case SELECT -> movers("select_reader", "Reads chosen columns of a matrix.", step);
      case CONCAT ->
          movers("concat_reader", "Reads the elements of several matrices, line by line.", step);
      case CHOICE ->
          step.operands().size() == 1
              ? movers("choice_or_zeros_reader", "Reads tiles, or gives zeros.", step)
              : movers("choice_reader", "Reads the tiles of one of two matrices.", step);
      case DECISION -> new Names(decision(step), Optional.empty(), writer(step));
      case CACHE_UPDATE -> {
        Map<String, Object> reader = new LinkedHashMap<>();
        reader.put("names", templateNames.of(1, step, Processor.READER));
        reader.put("comment", "Reads the operands, tile by tile.");
        reader.put("operands", List.of());
        String name = gated(step.control(), "elementwise_reader");
        texts.computeIfAbsent(name, key -> templates.print("elementwise_reader", reader));
        yield new Names(
            name,
            Optional.empty(),
            writer("cache_update_writer", "Writes new rows of each head to the cache.", step));
      }
      case ROTARY ->
          new Names(
              reader(
                  "rotary_reader", "Reads rows of tiles, and the angles of their positions.", step),
              Optional.of(
                  compute(
                      "rotary_compute",
                      "out = x * cosines + (x * swap) * sines, which rotates pairs of features",
                      step)),
              rowsWriter(step));
      case ATTENTION ->
          new Names(
              reader(
                  "attention_reader",
                  TemplateNames.isMasked(step)
                      ? "Reads queries, and keys, values and what is added to scores in tiles of 32"
                          + " keys."
                      : "Reads queries, and keys and values in tiles of 32 keys.",
                  step),
              Optional.of(
                  compute(
                      "attention_compute",
                      "softmax(scale * q * k^T + mask) * v, with sums and maxima that keys update",
                      step)),
              writer(
                  "attention_writer",
                  "Writes results, or sends those of a chunk to its parent.",
                  step));
      case SPECULATED_ATTENTION ->
          speculated(
              step,
              "The attention on the first and the last chunk; where it is verified, the exact one"
                  + " and norms",
              "Writes the approximation at once, then the exact result and squared norms.");
      case EARLY_ATTENTION ->
          speculated(
              step,
              "The attention on the first and the last chunk, which is sent before the exact one",
              "Writes the approximation.");
      case VERIFYING_ATTENTION ->
          speculated(
              step,
              "The exact attention, and squared norms that verify the approximation",
              "Writes the exact result and squared norms, or sends those of a chunk to its"
                  + " parent.");
    };
  }

  private Names speculated(Step step, String compute, String writer) {
    return new Names(
        reader(
            "speculated_attention_reader",
            "Reads queries, then keys and values: the first and the last chunk before others.",
            step),
        Optional.of(compute("speculated_attention_compute", compute, step)),
        writer("speculated_attention_writer", writer, step));
  }

  /** The name of a kernel that ends at once where a word is 0. */
  private static String gated(Step.Control control, String name) {
    int gates = control.gates().size();
    return (gates == 0 ? "" : gates == 1 ? "gated_" : "gated_" + gates + "_") + name;
  }

  /** A kernel that decides; different decisions have numbers. */
  private String decision(Step step) {
    Decision decision = step.control().decision().orElseThrow();
    Map<String, Object> attributes = new LinkedHashMap<>();
    attributes.put("names", templateNames.of(step.operands().size(), step, Processor.READER));
    attributes.put("comment", "Decides what the chip computes next, on one core.");
    attributes.put(
        "operands",
        IntStream.range(0, step.operands().size())
            .mapToObj(i -> Map.of("number", i, "count", Step.TILE_SIZES + i))
            .toList());
    List<Map<String, Object>> loads = new ArrayList<>();
    for (Decision.Load load : decision.loads()) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("name", "x" + loads.size());
      fields.put("operand", load.operand());
      fields.put("row", load.row());
      fields.put("column", load.column());
      fields.put("rows", load.rows() == 0 ? null : load.rows());
      fields.put("count", Step.TILE_SIZES + step.operands().size() + loads.size());
      fields.put("isFloat", load.isFloat());
      loads.add(fields);
    }
    attributes.put("loads", loads);
    attributes.put("expression", decision.expression().replaceAll("^\\((.*)\\)$", "$1"));
    attributes.put("isFloat", decision.isFloat());
    attributes.put("hasWord", step.control().decidesWord());
    String text = templates.print("decision_reader", attributes);
    for (int number = 1; ; number++) {
      String name = gated(step.control(), "decision_" + number + "_reader");
      if (texts.computeIfAbsent(name, key -> text).equals(text)) {
        return name;
      }
    }
  }

  /**
   * Returns the names of the kernels of an exchange.
   *
   * @param join the function of the vector engine that joins elements of chips
   * @param gates the words of which none may be 0
   * @param wire how elements travel
   */
  Names addExchange(Optional<String> join, List<Integer> gates, Wire wire) {
    Step.Control control = new Step.Control(gates, OptionalInt.empty(), Optional.empty());
    String reader =
        plain(
            "exchange_reader",
            "Puts the operand into the vector, and receives packets for it.",
            control,
            templateNames.exchanged(wire, control, 2));
    String writer =
        plain(
            "exchange_writer",
            "Sends parts of the vector to other chips, and writes the result.",
            control,
            templateNames.exchanged(wire, control, 5));
    Matrix page = new Matrix("vector", "", TileFormat.of(element), Matrix.TILE, Matrix.TILE);
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
                            TileBlocks.of(1, 1, new CoreGrid(1, 1)),
                            List.of())
                        .with(control)));
    return new Names(reader, compute, writer);
  }

  /** A reader gives its pages to the usual writer. */
  private Names movers(String reader, String comment, Step step) {
    return new Names(reader(reader, comment, step), Optional.empty(), writer(step));
  }

  private String reader(String name, String comment, Step step) {
    return plain(name, comment, step.control(), templateNames.of(0, step, Processor.READER));
  }

  private String writer(String name, String comment, Step step) {
    return plain(name, comment, step.control(), templateNames.of(0, step, Processor.WRITER));
  }

  private String rowsWriter(Step step) {
    return writer("rows_writer", "Writes rows of the result.", step);
  }

  private String writer(Step step) {
    return writer("writer", "Writes the tiles of the result.", step);
  }

  private String plain(
      String template, String comment, Step.Control control, Map<String, Object> names) {
    Map<String, Object> attributes = new LinkedHashMap<>();
    attributes.put("names", names);
    attributes.put("comment", comment);
    return plain(template, control, names, attributes);
  }

  private String plain(
      String template,
      Step.Control control,
      Map<String, Object> names,
      Map<String, Object> attributes) {
    String name = gated(control, names.getOrDefault("prefix", "") + template);
    texts.computeIfAbsent(name, key -> templates.print(template, attributes));
    return name;
  }

  private String compute(String template, String comment, Step step) {
    Map<String, Object> attributes = new LinkedHashMap<>();
    Map<String, Object> names = templateNames.of(0, step, Processor.COMPUTE);
    attributes.put("names", names);
    attributes.put("comment", comment);
    attributes.put("includes", KernelHeaders.of(step));
    return plain(template, step.control(), names, attributes);
  }

  private Names addTiled(Step step) {
    Tiled tiled = tiled(step);
    Map<String, Object> reader = new LinkedHashMap<>();
    reader.put("names", templateNames.controlled(tiled.names(), step, Processor.READER));
    reader.put(
        "comment",
        step.product().isPresent()
            ? "Reads the operands, block by block."
            : step.blocks() instanceof RowBlocks
                ? "Reads rows of tiles, and what all of them need."
                : "Reads the operands, tile by tile.");
    if (step.kind() == Kind.LAYER_NORM) {
      reader.put("hasBias", hasBias(step));
    }
    if (isOfTiles(step)) {
      reader.put("operands", tiled.operands());
    }
    String name = gated(step.control(), tiled.reader() + "_reader");
    texts.computeIfAbsent(name, key -> templates.print(tiled.kind() + "_reader", reader));
    String writer =
        step.product().isPresent()
            ? writer("linear_writer", "Writes the blocks of the result.", step)
            : step.blocks() instanceof RowBlocks ? rowsWriter(step) : writer(step);
    return new Names(name, Optional.of(addCompute(step)), writer);
  }

  /** Adds a kernel without its reader, and returns its name. */
  private String addCompute(Step step) {
    Tiled tiled = tiled(step);
    Map<String, Object> compute = new LinkedHashMap<>();
    compute.put("names", templateNames.controlled(tiled.names(), step, Processor.COMPUTE));
    compute.put("comment", KernelComments.of(step));
    compute.put("includes", KernelHeaders.of(step));
    if (step.kind() == Kind.LAYER_NORM) {
      compute.put("hasBias", hasBias(step));
    }
    if (isOfTiles(step)) {
      compute.put("operands", tiled.operands());
      compute.put("epilogues", tiled.epilogues());
    }
    String name = gated(step.control(), tiled.compute() + "_compute");
    texts.computeIfAbsent(name, key -> templates.print(tiled.kind() + "_compute", compute));
    return name;
  }

  private static boolean isOfTiles(Step step) {
    return step.kind() == Kind.LINEAR || step.kind() == Kind.ELEMENTWISE;
  }

  /** What the texts of kernels on tiles are made of. */
  private record Tiled(
      String kind,
      String reader,
      String compute,
      Map<String, Object> names,
      List<Map<String, Object>> operands,
      List<Map<String, Object>> epilogues) {}

  private Tiled tiled(Step step) {
    String kind = step.kind().name().toLowerCase(Locale.ROOT);
    StringBuilder name = new StringBuilder();
    List<Map<String, Object>> operands = new ArrayList<>();
    List<Map<String, Object>> epilogues = new ArrayList<>();
    for (Epilogue epilogue : step.epilogues()) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("function", epilogue.function());
      boolean rounds = epilogue.function().equals(VectorFunctions.ROUND_TO_INTEGER);
      fields.put("rounds", rounds ? true : null);
      fields.put(
          "arguments", VectorFunctions.TEMPLATE_ARGUMENTS.getOrDefault(epilogue.function(), ""));
      name.append('_').append(epilogue.function().replaceAll("_?binary_?", ""));
      if (epilogue.operand().isPresent()) {
        int index = step.operands().size() + operands.size();
        fields.put("index", index);
        fields.put("tensor", "operand" + operands.size());
        fields.put("cb", "cb_operand" + operands.size());
        fields.put("isRow", epilogue.isRow());
        String own = step.kind() == Kind.LINEAR ? "i" : "0";
        String other = step.kind() == Kind.LINEAR ? "operand_dst" : "1";
        fields.put("left", epilogue.isLeft() ? other : own);
        fields.put("right", epilogue.isLeft() ? own : other);
        name.append(epilogue.isRow() ? "_row" : "").append(epilogue.isLeft() ? "_left" : "");
        operands.add(fields);
      }
      epilogues.add(fields);
    }
    if (hasBias(step)) {
      name.append("_bias");
    }
    boolean hasRow = step.epilogues().stream().anyMatch(Epilogue::isRow);
    Map<String, Object> names = templateNames.of(step.operands().size() + operands.size(), hasRow);
    boolean sharesX = step.product().filter(ProductBlocks::sharesLeft).isPresent();
    boolean sharesWeight = step.product().filter(ProductBlocks::sharesRight).isPresent();
    boolean keepsSums = step.product().filter(ProductBlocks::keepsSums).isPresent();
    boolean sharesVectors = step.blocks() instanceof RowBlocks rows && !rows.shared().isEmpty();
    names.put("sharesVectors", sharesVectors);
    names.put("sharesX", sharesX);
    names.put("sharesWeight", sharesWeight);
    names.put("keepsSums", keepsSums);
    names.put("reconfigures", keepsSums || !operands.isEmpty());
    names.put(
        "hasTiles", operands.stream().anyMatch(operand -> operand.get("isRow").equals(false)));
    String mcast = sharesX ? sharesWeight ? "_mcast" : "_mcast_x" : "_mcast_weight";
    return new Tiled(
        kind,
        (TemplateNames.isPadded(step) ? "padded_" : "")
            + kind
            + (sharesX || sharesWeight ? mcast : sharesVectors ? "_mcast" : "")
            + name,
        kind + (keepsSums ? "_partials" : "") + name,
        names,
        operands,
        epilogues);
  }

  /** Whether a layer norm adds a bias: its operands are x, the scale, the bias and factors. */
  static boolean hasBias(Step step) {
    return step.kind() == Kind.LAYER_NORM && step.operands().size() == 4;
  }
}
