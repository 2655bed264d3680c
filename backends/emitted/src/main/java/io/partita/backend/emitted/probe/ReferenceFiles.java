package io.partita.backend.emitted.probe;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.jr.ob.JSON;
import io.partita.backend.emitted.DescriptionFields;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Op;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.ScheduleStep;
import io.partita.ir.schedule.ScheduleStep.BeginExchange;
import io.partita.ir.schedule.ScheduleStep.Exchange;
import io.partita.ir.schedule.StepMeaning;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirPrinter;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Writes the files that {@link ChipReference} reads: a chip's graph, in which weights are inputs
 * stored in the images, and the results of its steps.
 */
public final class ReferenceFiles {
  /** The subfolder of the emitted folder. */
  public static final String FOLDER = "reference/";

  private static final JSON WRITER =
      JSON.builder(JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build())
          .enable(JSON.Feature.PRETTY_PRINT_OUTPUT)
          .build();

  /** The most elements of a constant that is written as text. */
  private static final int MAX_INLINE = 16;

  private final ChipSchedule role;
  private final int member;
  private final Graph graph;
  private final List<StepMeaning.Result> results;
  private final GraphBuilder builder;
  private final Map<Value, Value> built = new IdentityHashMap<>();
  private final Map<Value, StoredConstant> stored = new IdentityHashMap<>();
  private final Map<Node, Integer> numbers = new IdentityHashMap<>();
  private final Map<String, StoredConstant> places = new LinkedHashMap<>();
  private final Map<String, Tensor> data = new LinkedHashMap<>();

  private ReferenceFiles(
      ChipSchedule role, StepMeaning meaning, int member, List<StepMeaning.Result> results) {
    this.role = role;
    this.member = member;
    this.graph = meaning.graphs().get(member);
    this.results = results;
    this.builder = new GraphBuilder(graph.name());
    for (StepMeaning.Stored each : meaning.stored()) {
      Value value = graph.nodes().get(each.node()).results().get(each.index());
      stored.put(value, role.constants().get(each.constant()));
    }
  }

  /**
   * Returns the files of one chip; empty if the results of its steps aren't known.
   *
   * @param member the index of the chip in its role
   * @param results the results that a program with probes writes, in its order
   */
  public static List<EmittedFile> of(
      ChipSchedule role, int member, List<StepMeaning.Result> results) {
    return role.meaning().stream()
        .flatMap(meaning -> new ReferenceFiles(role, meaning, member, results).files().stream())
        .toList();
  }

  private List<EmittedFile> files() {
    Graph copied = copy();
    int chip = role.devices().get(member);
    return List.of(
        EmittedFile.text(ChipReference.graph(chip), PirPrinter.print(new Module(copied))),
        new EmittedFile(
            ChipReference.steps(chip),
            out -> out.write((WRITER.asString(json()) + "\n").getBytes(StandardCharsets.UTF_8))));
  }

  /** The part of the graph that the steps need. */
  private Graph copy() {
    graph.inputs().forEach(in -> built.put(in, builder.input(in.name(), in.type())));
    Set<Node> needed = needed();
    List<Node> nodes = graph.nodes().stream().filter(needed::contains).toList();
    Set<String> names = new HashSet<>();
    graph.inputs().forEach(input -> names.add(input.name()));
    for (Node node : nodes) {
      for (Value value : node.results()) {
        boolean isLarge = node.constant().filter(each -> each.size() > MAX_INLINE).isPresent();
        if (stored.containsKey(value) || isLarge) {
          String name = "constant " + (places.size() + data.size());
          while (!names.add(name)) {
            name += "'";
          }
          built.put(value, builder.input(name, value.type()));
          if (stored.containsKey(value)) {
            places.put(name, stored.get(value));
          } else {
            data.put(name, node.constant().orElseThrow());
          }
        }
      }
    }
    Iterator<ScheduleStep> exchanges =
        role.steps().stream()
            .filter(step -> step instanceof BeginExchange || step instanceof Exchange)
            .iterator();
    Optional<Communication.Exchange> begun = Optional.empty();
    for (Node node : nodes) {
      if (!node.results().stream().allMatch(built::containsKey)) {
        List<Value> operands = node.operands().stream().map(built::get).toList();
        Op op = node.op();
        if (op instanceof Communication.Exchange own) {
          if (exchanges.next() instanceof BeginExchange) {
            // Its messages are recorded with the rest of it, which has the same operand.
            built.put(node.result(), operands.getFirst());
            begun = Optional.of(own);
            continue;
          }
          op = begun.map(first -> first.with(own)).orElse(own);
          begun = Optional.empty();
        }
        Node copied = builder.at(node).addNode(op, operands);
        numbers.put(node, numbers.size());
        for (int i = 0; i < node.results().size(); i++) {
          built.putIfAbsent(node.results().get(i), copied.results().get(i));
        }
      }
    }
    graph.outputs().forEach(out -> builder.output(out.name(), built.get(out.value())));
    return builder.finish();
  }

  private Set<Node> needed() {
    Set<Node> needed = Collections.newSetFromMap(new IdentityHashMap<>());
    graph.outputs().forEach(output -> need(output.value(), needed));
    results.stream()
        .filter(result -> result.node() >= 0)
        .forEach(result -> needed.add(graph.nodes().get(result.node())));
    for (Node node : graph.nodes().reversed()) {
      if (node.op() instanceof Communication) {
        needed.add(node);
      }
      boolean isStored = node.results().stream().allMatch(stored::containsKey);
      if (needed.contains(node) && !isStored) {
        node.operands().forEach(operand -> need(operand, needed));
      }
    }
    return needed;
  }

  private static void need(Value value, Set<Node> needed) {
    if (!value.isInput()) {
      needed.add(value.definition());
    }
  }

  private Map<String, Object> json() throws IOException {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("format", ChipReference.FORMAT);
    List<Object> steps = new ArrayList<>();
    for (ScheduleStep step : role.steps()) {
      Map<String, Object> each = new LinkedHashMap<>();
      DescriptionFields.put(step.origin(), each);
      each.put("exchange", step instanceof Exchange);
      steps.add(each);
    }
    fields.put("steps", steps);
    fields.put("results", results.stream().map(this::json).toList());
    Map<String, Object> weights = new LinkedHashMap<>();
    places.forEach((name, place) -> weights.put(name, json(place)));
    fields.put("weights", weights);
    Map<String, Object> constants = new LinkedHashMap<>();
    data.forEach((name, tensor) -> constants.put(name, base64(tensor)));
    fields.put("constants", constants);
    return fields;
  }

  private static String base64(Tensor tensor) {
    return Base64.getEncoder().encodeToString(tensor.bytes().toArray(ValueLayout.JAVA_BYTE));
  }

  private Map<String, Object> json(StepMeaning.Result result) {
    Map<String, Object> fields = new LinkedHashMap<>();
    boolean isInput = result.node() < 0;
    Node node = isInput ? null : graph.nodes().get(result.node());
    fields.put("step", result.step());
    fields.put("node", isInput ? -1 : numbers.getOrDefault(node, -1));
    fields.put("index", isInput ? result.index() : index(node.results().get(result.index())));
    return fields;
  }

  /** The index of the input that replaces a stored value. */
  private int index(Value value) {
    return built.get(value).index();
  }

  private Map<String, Object> json(StoredConstant place) {
    Map<String, Object> fields = new LinkedHashMap<>();
    Tensor tensor = place.tensors().get(member);
    fields.put("name", place.name());
    fields.put("memory", place.at().memory());
    fields.put("offset", place.at().offset());
    fields.put("checksum", ChipReference.checksum(tensor.bytes()));
    return fields;
  }
}
