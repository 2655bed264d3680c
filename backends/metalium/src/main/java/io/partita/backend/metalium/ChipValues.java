package io.partita.backend.metalium;

import io.partita.backend.emitted.DescriptionFields;
import io.partita.backend.emitted.DescriptionFile;
import io.partita.backend.emitted.ProgramCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.file.FileFailure;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The values of a chip's graph: those that the chip computed, and others computed from these. So
 * each launch is compared by itself.
 */
final class ChipValues {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * A launch in which the chip takes part.
   *
   * @param sumsInBf16 whether the destination registers of its kernel have 16 bits
   * @param results the results, in the order of the records
   */
  record Launched(int number, Origin origin, boolean sumsInBf16, List<Result> results) {}

  /**
   * A result of a launch.
   *
   * @param value empty if it isn't compared
   * @param words the number of words of which none may be 0, otherwise there is no result
   */
  record Result(Optional<Value> value, int words) {}

  private record Weight(long offset, long rows, long columns, boolean isTransposed) {}

  private final Graph graph;
  private final List<Launched> launches;
  private final Set<Value> hosted;
  private final Map<String, Weight> weights;
  private final Map<String, String> constants;
  private final MemorySegment file;
  private final Map<String, Tensor> inputs;
  private final KernelArithmetic arithmetic;
  private final KernelIntervals kernels;
  private final KernelIntervals kernelsInBf16;
  private final Map<Value, Tensor> values = new IdentityHashMap<>();

  private ChipValues(
      Graph graph,
      List<Launched> launches,
      Set<Value> hosted,
      Map<String, Weight> weights,
      Map<String, String> constants,
      MemorySegment file,
      Map<String, Tensor> inputs,
      KernelArithmetic arithmetic) {
    this.graph = graph;
    this.launches = launches;
    this.hosted = hosted;
    this.weights = weights;
    this.constants = constants;
    this.file = file;
    this.inputs = inputs;
    this.arithmetic = arithmetic;
    this.kernels = new KernelIntervals(arithmetic);
    this.kernelsInBf16 = new KernelIntervals(arithmetic.withSumsInBf16());
  }

  /**
   * Reads the files of {@link ReferenceFiles}.
   *
   * @param inputs the chip's parts of inputs, by name; other inputs are states, which are zero
   * @throws PartitaException P5106 if there is none or it can't be read
   */
  static ChipValues read(Path folder, int chip, Map<String, Tensor> inputs) {
    Path text = folder.resolve(ReferenceFiles.graph(chip));
    try (FileChannel channel = FileChannel.open(folder.resolve("weights.bin"))) {
      MemorySegment file =
          channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
      Graph graph =
          PirParser.parse(Files.readString(text), text.toString(), MemorySegment.NULL).graph();
      return DescriptionFile.read(
          folder.resolve(ReferenceFiles.launches(chip)),
          ReferenceFiles.FORMAT,
          fields -> of(graph, fields, file, inputs),
          ChipValues::unreadable);
    } catch (IOException e) {
      throw unreadable(text, FileFailure.words(text, e));
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

  private static ChipValues of(
      Graph graph, DescriptionFields fields, MemorySegment file, Map<String, Tensor> inputs) {
    List<Launched> launches = new ArrayList<>();
    for (DescriptionFields launch : fields.objects("launches")) {
      List<Result> results = new ArrayList<>();
      for (DescriptionFields result : launch.objects("results")) {
        int node = Math.toIntExact(result.number("node"));
        int index = Math.toIntExact(result.number("index"));
        results.add(
            new Result(
                node < 0
                    ? Optional.empty()
                    : Optional.of(graph.nodes().get(node).results().get(index)),
                Math.toIntExact(result.number("words"))));
      }
      launches.add(
          new Launched(
              Math.toIntExact(launch.number("launch")),
              launch.origin(),
              launch.isTrue("sumsInBf16"),
              results));
    }
    Set<Value> hosted = Collections.newSetFromMap(new IdentityHashMap<>());
    for (long node : fields.row("hosted")) {
      hosted.add(graph.nodes().get(Math.toIntExact(node)).result());
    }
    Map<String, Weight> weights = new LinkedHashMap<>();
    DescriptionFields places = fields.object("weights");
    for (String name : places.names()) {
      DescriptionFields place = places.object(name);
      weights.put(
          name,
          new Weight(
              place.number("offset"),
              place.number("rows"),
              place.number("columns"),
              place.isTrue("transposed")));
    }
    Map<String, String> constants = new LinkedHashMap<>();
    DescriptionFields texts = fields.object("constants");
    texts.names().forEach(name -> constants.put(name, texts.text(name)));
    KernelArithmetic arithmetic = KernelArithmetic.valueOf(fields.text("elements"));
    return new ChipValues(graph, launches, hosted, weights, constants, file, inputs, arithmetic);
  }

  Graph graph() {
    return graph;
  }

  /** How the kernels of the chip round. */
  KernelArithmetic arithmetic() {
    return arithmetic;
  }

  List<Launched> launches() {
    return launches;
  }

  void put(Value value, Tensor tensor) {
    values.put(value, tensor);
  }

  /** The value that was set, or what its operands give; empty for a value that was skipped. */
  Optional<Tensor> get(Value value) {
    Tensor known = values.get(value);
    if (known != null) {
      return Optional.of(known);
    }
    if (value.isInput()) {
      return Optional.of(input(value));
    }
    return computed(value);
  }

  /** What operands give, even if the value was set. */
  Optional<Tensor> computed(Value value) {
    Node node = value.definition();
    if (node.op() instanceof Communication.Gate) {
      return isShut(node) ? Optional.empty() : get(node.operand(0));
    }
    if (node.op() instanceof Communication) {
      return Optional.empty();
    }
    if (node.op() instanceof Elementwise.Select && node.operand(0).type().shape().elements() == 1) {
      return chosen(node);
    }
    List<Tensor> operands = new ArrayList<>();
    for (Value operand : node.operands()) {
      Optional<Tensor> tensor = get(operand);
      if (tensor.isEmpty()) {
        return tensor;
      }
      operands.add(tensor.get());
    }
    return Optional.of(Evaluator.run(node, operands).get(value.index()));
  }

  private boolean isShut(Node gate) {
    return get(gate.operand(1)).filter(flag -> !flag.getBoolean(0)).isPresent();
  }

  /** What a flag chooses; the other operand may depend on what was skipped. */
  private Optional<Tensor> chosen(Node node) {
    TensorType type = node.result().type();
    return get(node.operand(0))
        .flatMap(flag -> get(node.operand(flag.getBoolean(0) ? 1 : 2)))
        .map(
            tensor ->
                tensor.size() == 1
                    ? Tensor.filled(type, tensor.getDouble(0))
                    : tensor.reshaped(type.shape()));
  }

  /**
   * What the kernel of a step may give for its result; empty as {@link #computed} is, or for an
   * exchange.
   *
   * @param sumsInBf16 whether the destination registers of the kernel have 16 bits
   */
  Optional<Intervals> tolerated(Value value, boolean sumsInBf16) {
    KernelIntervals own = sumsInBf16 ? kernelsInBf16 : kernels;
    return ofOperands(value, own).map(own::packed);
  }

  /** What a kernel may have given for a value: what was set, if it was. */
  Optional<Intervals> held(Value value) {
    return intervals(value, kernels).map(kernels::packed);
  }

  /** What a value may be; the kernel that reads it computes it too, unless it was set. */
  private Optional<Intervals> intervals(Value value, KernelIntervals own) {
    if (values.containsKey(value) || value.isInput()) {
      return get(value).map(Intervals::exactly);
    }
    return hosted.contains(value) || value.definition().constant().isPresent()
        ? get(value).map(Intervals::exactly).map(kernels::packed)
        : ofOperands(value, own);
  }

  private Optional<Intervals> ofOperands(Value value, KernelIntervals kernel) {
    Node node = value.definition();
    switch (node.op()) {
      case Communication.Gate gate -> {
        return isShut(node) ? Optional.empty() : intervals(node.operand(0), kernel);
      }
      case Elementwise.Select select when node.operand(0).type().shape().elements() == 1 -> {
        return get(node.operand(0))
            .flatMap(flag -> intervals(node.operand(flag.getBoolean(0) ? 1 : 2), kernel))
            .map(chosen -> chosen.broadcastTo(node.result().type().shape()));
      }
      case Communication communication -> {
        return Optional.empty();
      }
      default -> {}
    }
    List<Intervals> operands = new ArrayList<>();
    for (Value operand : node.operands()) {
      Optional<Intervals> own = intervals(operand, kernel);
      if (own.isEmpty()) {
        return own;
      }
      operands.add(own.get());
    }
    return Optional.of(kernel.of(node.op(), operands));
  }

  private Tensor input(Value value) {
    Weight weight = weights.get(value.name());
    if (weight != null) {
      return weight(value, weight);
    }
    String text = constants.get(value.name());
    if (text != null) {
      byte[] bytes = Base64.getDecoder().decode(text);
      return Tensor.of(value.type(), MemorySegment.ofArray(bytes));
    }
    Tensor given = inputs.get(value.name());
    return given == null ? Tensor.filled(value.type(), 0) : given;
  }

  private Tensor weight(Value value, Weight weight) {
    double[] elements = new double[Math.toIntExact(value.type().shape().elements())];
    for (int i = 0; i < elements.length; i++) {
      // The file has the matrix as the kernel reads it.
      long place = weight.isTransposed ? i % weight.rows * weight.columns + i / weight.rows : i;
      elements[i] = file.get(FLOAT, Float.BYTES * (weight.offset + place));
    }
    return Tensor.ofDoubles(value.type(), elements);
  }
}
