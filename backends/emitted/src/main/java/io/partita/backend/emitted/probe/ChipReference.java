package io.partita.backend.emitted.probe;

import io.partita.backend.emitted.DescriptionFields;
import io.partita.backend.emitted.DescriptionFile;
import io.partita.backend.emitted.ProgramCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.schedule.Address;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The reference results of the steps of one chip.
 *
 * @param graph the chip's graph; its inputs are the chip's parts of the model's inputs, states,
 *     weights and constants
 * @param steps the steps of a run
 * @param results the results, in the order in which a program with probes writes them
 * @param weights the location of each weight in the images, by the name of the graph's input
 * @param constants the constants that aren't in an image, as base64, by the name of the graph's
 *     input
 */
record ChipReference(
    Graph graph,
    List<Step> steps,
    List<Result> results,
    Map<String, Weight> weights,
    Map<String, String> constants) {
  private static final int BLOCK = 1 << 16;

  static final String FORMAT = "partita-reference-1";

  /**
   * @param exchange the exchange in the graph to which the messages belong
   */
  record Step(Origin origin, Optional<io.partita.ir.graph.Node> exchange) {}

  /** A result of a step. */
  record Result(int step, Value value) {}

  /** A part of an image. */
  record Weight(String name, Address at, String checksum) {}

  static String graph(int chip) {
    return ReferenceFiles.FOLDER + "chip" + chip + ".pir";
  }

  static String steps(int chip) {
    return ReferenceFiles.FOLDER + "chip" + chip + ".json";
  }

  /** CRC-32C. */
  static String checksum(MemorySegment bytes) {
    CRC32C sum = new CRC32C();
    byte[] block = new byte[BLOCK];
    for (long from = 0; from < bytes.byteSize(); from += BLOCK) {
      int count = (int) Math.min(BLOCK, bytes.byteSize() - from);
      MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, from, block, 0, count);
      sum.update(block, 0, count);
    }
    return "%08x".formatted(sum.getValue());
  }

  /** The results of one step, in order. */
  List<Result> resultsOf(int step) {
    return results.stream().filter(result -> result.step() == step).toList();
  }

  /**
   * Reads the files of {@link ReferenceFiles}.
   *
   * @throws PartitaException P5106 if there is none or it can't be read
   */
  static ChipReference read(Path folder, int chip) {
    Path text = folder.resolve(graph(chip));
    Graph graph;
    try {
      graph = PirParser.parse(Files.readString(text), text.toString(), MemorySegment.NULL).graph();
    } catch (NoSuchFileException e) {
      throw unreadable(text, "no such file");
    } catch (IOException e) {
      throw unreadable(text, String.valueOf(e.getMessage()));
    }
    requireAllRun(graph, text);
    return DescriptionFile.read(
        folder.resolve(steps(chip)),
        FORMAT,
        fields -> of(graph, fields),
        ChipReference::unreadable);
  }

  /**
   * Refuses graphs of which a chip may skip nodes: its records don't say which steps they are of.
   */
  private static void requireAllRun(Graph graph, Path text) {
    if (graph.nodes().stream().anyMatch(node -> node.op() instanceof Communication.Gate)) {
      throw new PartitaException(
          ProgramCode.REFERENCE,
          text.toString(),
          "a program of which every chip runs all steps",
          "steps that depend on a comparison of attentions",
          "compile without --speculate to compare steps; 'partita check' compares the outputs of"
              + " both");
    }
  }

  private static PartitaException unreadable(Path file, String found) {
    return new PartitaException(
        ProgramCode.REFERENCE,
        file.toString(),
        "the reference results that 'partita compile' writes for a chip",
        found,
        "compile the model again");
  }

  private static ChipReference of(Graph graph, DescriptionFields fields) {
    Iterator<io.partita.ir.graph.Node> exchanges =
        graph.nodes().stream()
            .filter(node -> node.op() instanceof Communication.Exchange)
            .iterator();
    List<Step> steps = new ArrayList<>();
    for (DescriptionFields step : fields.objects("steps")) {
      boolean isExchange = step.isTrue("exchange");
      if (isExchange && !exchanges.hasNext()) {
        throw new IllegalArgumentException("more exchanges than in the graph");
      }
      steps.add(
          new Step(step.origin(), isExchange ? Optional.of(exchanges.next()) : Optional.empty()));
    }
    List<Result> results =
        fields.objects("results").stream().map(each -> result(graph, each)).toList();
    Map<String, Weight> weights = new LinkedHashMap<>();
    DescriptionFields places = fields.object("weights");
    places.names().forEach(name -> weights.put(name, weight(places.object(name))));
    Map<String, String> constants = new LinkedHashMap<>();
    DescriptionFields texts = fields.object("constants");
    texts.names().forEach(name -> constants.put(name, texts.text(name)));
    return new ChipReference(graph, steps, results, weights, constants);
  }

  private static Result result(Graph graph, DescriptionFields fields) {
    int node = (int) fields.number("node");
    int index = (int) fields.number("index");
    Value value =
        node < 0 ? graph.inputs().get(index) : graph.nodes().get(node).results().get(index);
    return new Result((int) fields.number("step"), value);
  }

  private static Weight weight(DescriptionFields fields) {
    return new Weight(
        fields.text("name"),
        new Address(Math.toIntExact(fields.number("memory")), fields.number("offset")),
        fields.text("checksum"));
  }

  /** A constant that isn't in an image; empty if the input isn't one. */
  Optional<Tensor> constant(Value input) {
    return Optional.ofNullable(constants.get(input.name()))
        .map(text -> Base64.getDecoder().decode(text))
        .map(bytes -> Tensor.of(input.type(), MemorySegment.ofArray(bytes)));
  }
}
