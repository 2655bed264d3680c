package io.partita.cli;

import io.partita.driver.Inspection;
import io.partita.driver.Inspection.Understood;
import io.partita.frontend.onnx.DerivedDimension;
import io.partita.frontend.onnx.ImportCode;
import io.partita.frontend.onnx.UnsupportedNode;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.passes.graph.anatomy.Block;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** An inspection as text and as JSON. */
final class InspectionReport {
  private static final Pattern NUMBER = Pattern.compile("\\d+");

  private final Inspection inspection;

  InspectionReport(Inspection inspection) {
    this.inspection = inspection;
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add("model      " + inspection.model().path().getFileName() + producer());
    lines.add("operators  " + operatorSets());
    inspection.understood().ifPresent(understood -> describe(understood, lines));
    inspection.imported().derived().forEach(dimension -> lines.add(line(dimension)));
    inspection
        .imported()
        .choices()
        .forEach(
            choice -> lines.add("chosen     %s (%s)".formatted(choice.option(), choice.reason())));
    List<UnsupportedNode> unsupported = inspection.imported().unsupported();
    if (unsupported.isEmpty()) {
      lines.add(
          inspection.imported().module().isPresent() ? "supported  every node" : "not imported");
    } else {
      lines.add("NOT SUPPORTED: " + unsupported.size() + " nodes");
      for (UnsupportedNode node : unsupported) {
        lines.add("  " + line(node));
      }
    }
    return lines;
  }

  private String producer() {
    String producer = inspection.model().producer();
    return producer.isEmpty() ? "" : " (written by " + producer + ")";
  }

  private String operatorSets() {
    return inspection.model().operatorSets().entrySet().stream()
        .map(set -> (set.getKey().isEmpty() ? "ai.onnx" : set.getKey()) + " " + set.getValue())
        .collect(Collectors.joining(", "));
  }

  private static void describe(Understood understood, List<String> lines) {
    Graph graph = understood.raised().graph();
    Map<String, String> inputs = new LinkedHashMap<>();
    graph.inputs().forEach(input -> inputs.put(input.name(), input.type().toString()));
    Map<String, String> outputs = new LinkedHashMap<>();
    graph.outputs().forEach(output -> outputs.put(output.name(), output.value().type().toString()));
    ports("input", inputs, lines);
    ports("output", outputs, lines);
    lines.add(
        "parameters %s (%s)"
            .formatted(
                count(understood.parameters()),
                understood.weightBytes().entrySet().stream()
                    .map(entry -> entry.getKey() + ": " + bytes(entry.getValue()))
                    .collect(Collectors.joining(", "))));
    understood
        .kvBytesPerToken()
        .ifPresent(bytes -> lines.add("KV cache   " + bytes(bytes) + " a token"));
    ModelAnatomy anatomy = understood.anatomy();
    for (ModelAnatomy.EmbeddingTable table : anatomy.embeddings()) {
      lines.add(
          "embedding  %s: %d x %d, %s"
              .formatted(
                  table.kind().name().toLowerCase(Locale.ROOT),
                  table.rows(),
                  table.features(),
                  table.node().name()));
    }
    anatomy
        .patchEmbedding()
        .ifPresent(node -> lines.add("patches    " + node.operand(1).type() + ", " + node.name()));
    anatomy.classToken().ifPresent(node -> lines.add("class token " + node.name()));
    blocks(anatomy, lines);
    anatomy
        .head()
        .ifPresent(
            head ->
                lines.add(
                    "head       %d %s%s, %s"
                        .formatted(
                            head.outputs(),
                            head.vocabulary() ? "tokens" : "classes",
                            head.tied() ? ", tied to the embedding" : "",
                            head.node().name())));
    lines.add(
        "operations "
            + understood.operations().entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .collect(Collectors.joining(", ")));
  }

  /** Ports whose names differ only in a number, such as layers' caches, share a line. */
  private static void ports(String kind, Map<String, String> types, List<String> lines) {
    Map<String, List<String>> alike = new LinkedHashMap<>();
    types.forEach(
        (name, type) ->
            alike
                .computeIfAbsent(
                    NUMBER.matcher(name).replaceAll("#") + type, _ -> new ArrayList<>())
                .add(name));
    for (List<String> names : alike.values()) {
      String first = names.getFirst();
      String text =
          names.size() == 1
              ? first
              : "%s … %s (%d)".formatted(first, names.getLast(), names.size());
      lines.add("%-10s %s: %s".formatted(kind, text, types.get(first)));
    }
  }

  /** Adjacent equal blocks share a line. */
  private static void blocks(ModelAnatomy anatomy, List<String> lines) {
    List<Block> blocks = anatomy.blocks();
    for (int first = 0; first < blocks.size(); ) {
      int last = first;
      while (last + 1 < blocks.size()
          && text(blocks.get(last + 1)).equals(text(blocks.get(first)))) {
        last++;
      }
      String index = first == last ? "block " + first : "blocks " + first + "-" + last;
      lines.add("%-10s %s".formatted(index, text(blocks.get(first))));
      first = last + 1;
    }
    List<String> summary = anatomy.lines();
    lines.add("raised     " + summary.getFirst());
    summary.subList(1, summary.size()).forEach(line -> lines.add("  " + line));
  }

  private static String text(Block block) {
    Block.AttentionPart part = block.attention();
    List<String> facts = new ArrayList<>();
    facts.add(part.heads() + " heads of " + part.headSize());
    if (!part.kvHeads().equals(part.heads())) {
      facts.add(part.kvHeads() + " kv heads");
    }
    if (part.cross()) {
      facts.add("cross-attention");
    }
    if (part.causal()) {
      facts.add("causal");
    }
    if (part.masked()) {
      facts.add("masked");
    }
    if (part.window() > 0) {
      facts.add("window " + part.window());
    }
    if (part.softCap() > 0) {
      facts.add("soft cap " + part.softCap());
    }
    if (part.rotation() != Block.Rotation.NONE) {
      facts.add("rotary " + part.rotated());
    }
    part.cache().ifPresent(cache -> facts.add(part.cross() ? "keys and values given" : "KV cache"));
    for (Block.FfnPart ffn : block.ffns()) {
      facts.add(
          "%s %s of %s"
              .formatted(
                  ffn.gated() ? "gated_ffn" : "ffn",
                  ffn.activation()
                      .map(UnaryFunction::text)
                      .orElse(ffn.quantized() ? "table" : "other"),
                  ffn.inner()));
    }
    if (block.hasQuantizedLinears()) {
      facts.add("quantised linears");
    }
    facts.add(block.placement().name().toLowerCase(Locale.ROOT) + "-norm");
    return String.join(", ", facts);
  }

  private static String line(DerivedDimension dimension) {
    return "dimension  %s (required by %s%s)"
        .formatted(
            dimension.equation(),
            dimension.requiredBy(),
            dimension.declared().isEmpty() ? "" : "; declared as " + dimension.declared());
  }

  private static String line(UnsupportedNode node) {
    String domain = node.domain().isEmpty() ? "ai.onnx" : node.domain();
    boolean isUnknown = node.reason().startsWith(ImportCode.UNSUPPORTED_OPERATOR.title());
    return "\"%s\" %s.%s (opset %d) of %s%s"
        .formatted(
            node.node(),
            domain,
            node.operator(),
            node.opset(),
            node.inputs().isEmpty() ? "nothing" : String.join(", ", node.inputs()),
            isUnknown ? "" : ": " + node.reason());
  }

  private static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  private static String bytes(long number) {
    if (number < 10_000) {
      return number + " B";
    }
    String[] units = {"KiB", "MiB", "GiB", "TiB"};
    double scaled = number / 1024.0;
    int unit = 0;
    while (scaled >= 1000 && unit + 1 < units.length) {
      scaled /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %s", scaled, units[unit]);
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("model", inspection.model().path().toString());
    json.put("producer", inspection.model().producer());
    json.put("operatorSets", inspection.model().operatorSets());
    json.put("supported", inspection.imported().module().isPresent());
    json.put("unsupported", inspection.imported().unsupported().stream().map(this::json).toList());
    json.put(
        "diagnostics",
        inspection.diagnostics().stream()
            .map(
                diagnostic -> {
                  Map<String, Object> entry = new LinkedHashMap<>();
                  entry.put("code", diagnostic.code().id());
                  entry.put("title", diagnostic.code().title());
                  entry.put("where", diagnostic.where());
                  entry.put("expected", diagnostic.expected());
                  entry.put("found", diagnostic.found());
                  entry.put("fix", diagnostic.remedy());
                  return entry;
                })
            .toList());
    json.put(
        "derivedDimensions",
        inspection.imported().derived().stream().map(InspectionReport::json).toList());
    json.put(
        "choices",
        inspection.imported().choices().stream()
            .map(choice -> Map.of("option", choice.option(), "reason", choice.reason()))
            .toList());
    inspection.understood().ifPresent(understood -> json(understood, json));
    return json;
  }

  private static Map<String, Object> json(DerivedDimension dimension) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("name", dimension.name());
    entry.put("extent", dimension.extent().toString());
    entry.put("requiredBy", dimension.requiredBy());
    entry.put("declared", dimension.declared().isEmpty() ? null : dimension.declared());
    return entry;
  }

  private Map<String, Object> json(UnsupportedNode node) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("node", node.node());
    entry.put("operator", node.operator());
    entry.put("domain", node.domain());
    entry.put("opset", node.opset());
    entry.put("inputs", node.inputs());
    entry.put("reason", node.reason());
    return entry;
  }

  private static void json(Understood understood, Map<String, Object> json) {
    Graph graph = understood.raised().graph();
    ModelAnatomy anatomy = understood.anatomy();
    Map<String, String> inputs = new LinkedHashMap<>();
    graph.inputs().forEach(input -> inputs.put(input.name(), input.type().toString()));
    Map<String, String> outputs = new LinkedHashMap<>();
    graph.outputs().forEach(o -> outputs.put(o.name(), o.value().type().toString()));
    json.put("inputs", inputs);
    json.put("outputs", outputs);
    json.put("parameters", understood.parameters());
    Map<String, Long> bytes = new LinkedHashMap<>();
    understood.weightBytes().forEach((element, count) -> bytes.put(element.text(), count));
    json.put("weightBytes", bytes);
    understood.kvBytesPerToken().ifPresent(count -> json.put("kvBytesPerToken", count));
    Map<String, Object> blocks = new LinkedHashMap<>();
    blocks.put("raised", anatomy.completeBlocks());
    blocks.put("candidates", anatomy.candidates());
    blocks.put("integer", anatomy.integerAttentions().size());
    blocks.put("notes", anatomy.lines());
    blocks.put("list", anatomy.blocks().stream().map(InspectionReport::text).toList());
    json.put("blocks", blocks);
    json.put("operations", understood.operations());
  }
}
