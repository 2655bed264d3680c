package io.partita.passes.graph.element;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.ModulePass;
import io.partita.passes.PassCode;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Stores a model of f32 in bf16: its weights, inputs, outputs, caches and all values.
 *
 * <p>What is computed from integer inputs alone, such as the angles of positions, stays f32 until
 * an operation of other values reads it: bf16 has integers up to 256 only.
 */
public final class StoreInBf16 implements ModulePass {
  /** The largest number of bf16. */
  private static final double LARGEST = 0x1.fep127;

  @Override
  public String name() {
    return "bf16";
  }

  @Override
  public String purpose() {
    return "store weights, inputs, outputs, caches and all values of f32 in bf16";
  }

  /**
   * @throws PartitaException with {@link PassCode#NOT_IN_BF16} for distributed modules, quantized
   *     ones, and those with floats of other types
   */
  @Override
  public Module run(Module module) {
    verify(module);
    Graph graph = new Copy(module.graph()).run();
    return new Module(graph, module.states(), module.placement(), module.ranges());
  }

  private static void verify(Module module) {
    if (module.placement().isPresent()) {
      throw failure("a module before shard", "a module on several devices", "move bf16 forward");
    }
    Graph graph = module.graph();
    Set<String> others =
        Stream.concat(
                graph.inputs().stream(),
                graph.nodes().stream().flatMap(node -> node.results().stream()))
            .map(value -> value.type().element())
            .filter(each -> each.isFloat() && each != ElementType.F32 && each != ElementType.BF16)
            .map(ElementType::text)
            .collect(Collectors.toCollection(TreeSet::new));
    graph.nodes().stream()
        .filter(node -> isOfIntegers(node.op()))
        .findFirst()
        .ifPresent(node -> others.add("quantized " + node));
    if (!others.isEmpty()) {
      throw failure(
          "floats of f32, and no quantized operations",
          String.join(", ", others),
          "export the model in f32, or leave bf16 out");
    }
  }

  private static PartitaException failure(String expected, String found, String remedy) {
    return new PartitaException(PassCode.NOT_IN_BF16, "pass bf16", expected, found, remedy);
  }

  private static boolean isOfIntegers(Op op) {
    return op instanceof Quantized
        || op instanceof IntegerNetwork
        || op instanceof Contraction.NibbleMatMul
        || op instanceof Structured.Attention attention && attention.isInteger();
  }

  /** A copy of a graph, of which values that only depend on integers may be there in both types. */
  private static final class Copy {
    private final Graph graph;
    private final GraphBuilder builder;

    /** Values that depend on integers and constants only, in their own type. */
    private final Map<Value, Value> exact = new IdentityHashMap<>();

    private final Map<Value, Value> stored = new IdentityHashMap<>();

    Copy(Graph graph) {
      this.graph = graph;
      this.builder = new GraphBuilder(graph.name());
    }

    Graph run() {
      for (Value input : graph.inputs()) {
        Value copy = builder.input(input.name(), inBf16(input.type()));
        (copy.type().element().isFloat() ? stored : exact).put(input, copy);
      }
      for (Node node : graph.nodes()) {
        if (node.constant().isEmpty()) {
          add(node);
        }
      }
      graph.outputs().forEach(out -> builder.output(out.name(), stored(out.value())));
      return builder.finish();
    }

    private void add(Node node) {
      boolean isExact =
          !(node.op() instanceof Structured.Embedding || node.op() instanceof Movement.Gather)
              && node.operands().stream().allMatch(this::isExact);
      List<Value> operands = new ArrayList<>();
      for (Value operand : node.operands()) {
        operands.add(isExact ? exact(operand) : stored(operand));
      }
      Op op = isExact ? node.op() : inBf16(node.op());
      Node copy = builder.at(node).addNode(op, operands);
      for (int i = 0; i < copy.results().size(); i++) {
        Value result = copy.results().get(i);
        (isExact ? exact : stored).put(node.results().get(i), result);
      }
    }

    private boolean isExact(Value value) {
      return exact.containsKey(value) || isConstant(value);
    }

    private static boolean isConstant(Value value) {
      return !value.isInput() && value.definition().constant().isPresent();
    }

    private Value exact(Value value) {
      Value known = exact.get(value);
      if (known == null) {
        known = builder.at(value).constant(value.definition().constant().orElseThrow());
        exact.put(value, known);
      }
      return known;
    }

    private Value stored(Value value) {
      Value known = stored.get(value);
      if (known != null) {
        return known;
      }
      if (value.type().element() != ElementType.F32) {
        return exact(value);
      }
      builder.at(value);
      Value copy =
          isConstant(value)
              ? builder.constant(inBf16(value.definition().constant().orElseThrow()))
              : builder.add(new Elementwise.Cast(ElementType.BF16), exact.get(value));
      stored.put(value, copy);
      return copy;
    }
  }

  private static TensorType inBf16(TensorType type) {
    return type.element() == ElementType.F32 ? type.with(ElementType.BF16) : type;
  }

  /** Numbers that bf16 would round to infinity, such as those of masks, become its largest. */
  private static Tensor inBf16(Tensor data) {
    if (data.element() != ElementType.F32) {
      return data;
    }
    double[] elements = data.doubles();
    for (int i = 0; i < elements.length; i++) {
      if (Double.isFinite(elements[i])) {
        elements[i] = Math.clamp(elements[i], -LARGEST, LARGEST);
      }
    }
    return Tensor.ofDoubles(inBf16(data.type()), elements);
  }

  private static Op inBf16(Op op) {
    return switch (op) {
      case Elementwise.Cast(ElementType to) when to == ElementType.F32 ->
          new Elementwise.Cast(ElementType.BF16);
      case Source.Iota iota when iota.element() == ElementType.F32 ->
          new Source.Iota(iota.size(), ElementType.BF16);
      case Contraction.MatMul(ElementType result) when result == ElementType.F32 ->
          new Contraction.MatMul(ElementType.BF16);
      case Contraction.Convolution convolution when convolution.result() == ElementType.F32 ->
          new Contraction.Convolution(
              convolution.window(), convolution.groups(), convolution.bias(), ElementType.BF16);
      default -> op;
    };
  }
}
