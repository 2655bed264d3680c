package io.partita.driver;

import io.partita.frontend.onnx.ImportResult;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.progress.ProgressListener;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.graph.anatomy.Block;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * The contents of an ONNX model, before compilation.
 *
 * @param imported the result of the import, with every unsupported node
 * @param understood the contents of its graph, if it can be imported
 */
public record Inspection(OnnxModel model, ImportResult imported, Optional<Understood> understood) {
  /**
   * The contents of an imported model.
   *
   * @param parameters the number of trained elements: those of constants except scalars and rotary
   *     tables
   * @param weightBytes their bytes, by element type
   * @param kvBytesPerToken bytes of keys and values that each token adds to a cache, if known
   * @param operations the number of nodes of each operation in the raised graph
   */
  public record Understood(
      Module raised,
      ModelAnatomy anatomy,
      long parameters,
      Map<ElementType, Long> weightBytes,
      OptionalLong kvBytesPerToken,
      Map<String, Integer> operations) {}

  /** All diagnostics of the model. */
  public List<Diagnostic> diagnostics() {
    return imported.diagnostics();
  }

  /** Reads, imports and raises a model as far as possible. */
  public static Inspection of(
      Path file, Map<String, Long> dims, Map<String, String> values, ProgressListener progress) {
    progress.step("reading " + file.getFileName());
    OnnxModel model = OnnxModel.read(file);
    ImportResult imported = ModelFile.explained(model, dims, values);
    Optional<Understood> understood = imported.module().map(module -> understand(module, progress));
    return new Inspection(model, imported, understood);
  }

  private static Understood understand(Module module, ProgressListener progress) {
    progress.step("recognising blocks");
    Module raised = StandardPasses.usual().run(module, (pass, before, after) -> {});
    ModelAnatomy anatomy = ModelAnatomy.of(module.graph(), raised.graph());
    long parameters = 0;
    Map<ElementType, Long> bytes = new TreeMap<>();
    for (TensorType type : trained(raised.graph())) {
      parameters += type.shape().elements();
      bytes.merge(type.element(), type.bytes(), Long::sum);
    }
    Map<String, Integer> operations = new TreeMap<>();
    for (Node node : raised.graph().nodes()) {
      if (!(node.op() instanceof Source.Constant)) {
        operations.merge(node.op().mnemonic(), 1, Integer::sum);
      }
    }
    return new Understood(raised, anatomy, parameters, bytes, kvBytes(anatomy), operations);
  }

  /** Constants of more than one element that are used other than as rotary tables. */
  private static List<TensorType> trained(Graph graph) {
    Map<Value, List<Node>> readers = graph.readers();
    return graph.nodes().stream()
        .filter(node -> node.op() instanceof Source.Constant)
        .map(Node::result)
        .filter(value -> value.type().shape().elements() > 1)
        .filter(value -> isNumber(value.type().element()))
        .filter(value -> !isRotaryTable(value, readers))
        .map(Value::type)
        .toList();
  }

  /** Indices are i64, masks boolean: neither is trained. */
  private static boolean isNumber(ElementType element) {
    return element != ElementType.I64 && element != ElementType.BOOL;
  }

  private static boolean isRotaryTable(Value table, Map<Value, List<Node>> readers) {
    Deque<Value> work = new ArrayDeque<>(List.of(table));
    Set<Value> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    boolean rotates = false;
    while (!work.isEmpty()) {
      Value value = work.pop();
      for (Node reader : readers.getOrDefault(value, List.of())) {
        if (reader.op() instanceof Structured.RotaryEmbedding && reader.operand(0) != value) {
          rotates = true;
        } else if (seen.size() > 64 || !reader.operands().getFirst().equals(value)) {
          return false;
        } else if (reader.results().stream().allMatch(seen::add)) {
          work.addAll(reader.results());
        }
      }
    }
    return rotates;
  }

  private static OptionalLong kvBytes(ModelAnatomy anatomy) {
    long bytes = 0;
    boolean isGrowing = false;
    for (Block block : anatomy.blocks()) {
      Block.AttentionPart part = block.attention();
      if (part.cross()) {
        continue;
      }
      if (!part.causal() && part.cache().isEmpty()
          || !part.kvHeads().isStatic()
          || !part.headSize().isStatic()) {
        return OptionalLong.empty();
      }
      ElementType element = part.node().operand(1).type().element();
      isGrowing = true;
      bytes += 2 * element.packedBytes(part.kvHeads().value() * part.headSize().value());
    }
    return isGrowing ? OptionalLong.of(bytes) : OptionalLong.empty();
  }
}
