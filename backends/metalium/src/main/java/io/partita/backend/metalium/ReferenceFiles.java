package io.partita.backend.metalium;

import io.partita.backend.emitted.DescriptionFields;
import io.partita.backend.emitted.DescriptionFile;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirPrinter;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The graph of each chip, and the values that its launches compute: what {@code partita diff}
 * compares a run with. Large constants are inputs of the graph, which are read from the weights of
 * the program.
 */
final class ReferenceFiles {
  static final String FORMAT = "partita-metalium-reference-3";
  static final String FOLDER = "reference/";

  /** The most elements of a constant that is written as text. */
  private static final int MAX_INLINE = 16;

  private final int chip;
  private final Graph graph;
  private final Matrices matrices;
  private final MatrixPool pool;
  private final GraphBuilder builder;
  private final Map<Value, Value> built = new IdentityHashMap<>();

  /** Constants as products read them, where these are stored in another way. */
  private final Map<Value, Value> products = new IdentityHashMap<>();

  private final Map<Node, Integer> numbers = new IdentityHashMap<>();
  private final Map<String, Object> weights = new LinkedHashMap<>();
  private final Map<String, Object> constants = new LinkedHashMap<>();

  private ReferenceFiles(int chip, Graph graph, Matrices matrices, MatrixPool pool) {
    this.chip = chip;
    this.graph = graph;
    this.matrices = matrices;
    this.pool = pool;
    this.builder = new GraphBuilder(graph.name());
  }

  /** Returns the files of one chip. */
  static List<EmittedFile> of(
      int chip, Graph graph, Matrices matrices, MatrixPool pool, List<Launch> launches) {
    return new ReferenceFiles(chip, graph, matrices, pool).files(launches);
  }

  static String graph(int chip) {
    return FOLDER + "chip" + chip + ".pir";
  }

  static String launches(int chip) {
    return FOLDER + "chip" + chip + ".json";
  }

  private List<EmittedFile> files(List<Launch> launches) {
    graph.inputs().forEach(input -> built.put(input, builder.input(input.name(), input.type())));
    graph.nodes().stream().filter(node -> isLarge(node)).forEach(this::external);
    for (Node node : graph.nodes()) {
      if (!isLarge(node)) {
        Map<Value, Value> read = node.op() instanceof Structured.Linear ? products : Map.of();
        List<Value> operands =
            node.operands().stream()
                .map(operand -> read.getOrDefault(operand, built.get(operand)))
                .toList();
        Node copied = builder.at(node).addNode(node.op(), operands);
        numbers.put(node, numbers.size());
        for (int i = 0; i < node.results().size(); i++) {
          built.put(node.results().get(i), copied.results().get(i));
        }
      }
    }
    graph.outputs().forEach(out -> builder.output(out.name(), built.get(out.value())));
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("format", FORMAT);
    fields.put("elements", pool.elements().name());
    fields.put("launches", json(launches));
    fields.put("weights", weights);
    fields.put("constants", constants);
    fields.put("hosted", hosted());
    return List.of(
        EmittedFile.text(graph(chip), PirPrinter.print(new Module(builder.finish()))),
        EmittedFile.text(launches(chip), DescriptionFile.json(fields)));
  }

  /** The nodes that the host computes. */
  private List<Integer> hosted() {
    return graph.nodes().stream()
        .filter(node -> node.results().size() == 1 && matrices.isHosted(node.result()))
        .map(numbers::get)
        .toList();
  }

  private static boolean isLarge(Node node) {
    return node.constant().filter(data -> data.size() > MAX_INLINE).isPresent();
  }

  private void external(Node node) {
    Value value = node.result();
    matrices
        .storedForProducts(value)
        .flatMap(this::place)
        .ifPresent(place -> products.put(value, stored(value, place)));
    Optional<MatrixPool.Place> place = matrices.stored(value).flatMap(this::place);
    if (place.isPresent()) {
      built.put(value, stored(value, place.get()));
    } else if (products.containsKey(value)) {
      built.put(value, products.get(value));
    } else {
      String name = name();
      built.put(value, builder.input(name, value.type()));
      Tensor data = node.constant().orElseThrow();
      byte[] bytes = data.bytes().toArray(ValueLayout.JAVA_BYTE);
      constants.put(name, Base64.getEncoder().encodeToString(bytes));
    }
  }

  private Optional<MatrixPool.Place> place(Matrix matrix) {
    return pool.place(matrix, chip);
  }

  private Value stored(Value value, MatrixPool.Place place) {
    String name = name();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("offset", place.offset());
    fields.put("rows", place.rows());
    fields.put("columns", place.columns());
    fields.put("transposed", place.isTransposed());
    weights.put(name, fields);
    return builder.input(name, value.type());
  }

  /** A name for a constant that no input has. */
  private String name() {
    String name = "constant " + (weights.size() + constants.size());
    while (names(name)) {
      name += "'";
    }
    return name;
  }

  private boolean names(String name) {
    return graph.inputs().stream().anyMatch(input -> input.name().equals(name));
  }

  private List<Object> json(List<Launch> launches) {
    // Of an exchange in parts, the last one completes the result. Other chips may compute theirs in
    // other launches.
    Map<String, Integer> last = new HashMap<>();
    for (int number = 0; number < launches.size(); number++) {
      if (chips(launches.get(number)).contains(chip)) {
        for (Matrix result : results(launches.get(number))) {
          last.put(result.name(), number);
        }
      }
    }
    List<Object> all = new ArrayList<>();
    for (int number = 0; number < launches.size(); number++) {
      Launch launch = launches.get(number);
      if (!chips(launch).contains(chip)) {
        continue;
      }
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("launch", number);
      DescriptionFields.put(origin(launch), fields);
      List<Object> results = new ArrayList<>();
      for (Matrix result : results(launch)) {
        boolean isComplete = last.get(result.name()) == number;
        Optional<Value> value = isComplete ? matrices.produced(result) : Optional.empty();
        results.add(json(value, words(launch, result)));
      }
      if (launch instanceof Launch.Same same && same.step().sumsInBf16()) {
        fields.put("sumsInBf16", true);
      }
      fields.put("results", results);
      all.add(fields);
    }
    return all;
  }

  private Map<String, Object> json(Optional<Value> value, int words) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("node", value.map(each -> numbers.get(each.definition())).orElse(-1));
    fields.put("index", value.map(Value::index).orElse(0));
    fields.put("words", words);
    return fields;
  }

  /** The number of words without which the launch has no such result: the first ones. */
  private static int words(Launch launch, Matrix result) {
    return switch (launch) {
      case Launch.Same same ->
          same.step().others().contains(result)
              ? same.step().control().words().size()
              : same.step().control().gates().size();
      case Launch.Exchange exchange -> exchange.gates().size();
    };
  }

  private static Origin origin(Launch launch) {
    return switch (launch) {
      case Launch.Same same -> same.step().origin();
      case Launch.Exchange exchange -> exchange.origin();
    };
  }

  private List<Matrix> results(Launch launch) {
    return switch (launch) {
      case Launch.Same same -> {
        List<Matrix> all = new ArrayList<>(List.of(same.step().result()));
        all.addAll(same.step().others());
        yield all;
      }
      case Launch.Exchange exchange ->
          Optional.ofNullable(exchange.members().get(chip)).stream()
              .flatMap(member -> member.result().stream())
              .toList();
    };
  }

  private static List<Integer> chips(Launch launch) {
    return switch (launch) {
      case Launch.Same same -> same.chips();
      case Launch.Exchange exchange -> List.copyOf(exchange.members().keySet());
    };
  }
}
