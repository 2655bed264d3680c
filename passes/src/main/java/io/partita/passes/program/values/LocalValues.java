package io.partita.passes.program.values;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;

/** The kinds of the values of a device's graph, and the types by which they are counted. */
public final class LocalValues {
  private static final int EXCHANGED_BITS = 32;

  private final Graph graph;
  private final Assumptions assumptions;
  private final Map<Value, StorageClass> classes = new IdentityHashMap<>();

  /** The dimension of positions, by state. */
  private final Map<Value, Integer> positions = new IdentityHashMap<>();

  private final Map<Value, Boolean> exchanged = new IdentityHashMap<>();

  private final StoredConstants constants;

  public LocalValues(Module module, Assumptions assumptions) {
    this.graph = module.graph();
    this.assumptions = assumptions;
    this.constants = StoredConstants.of(assumptions.weights(), graph);
    Set<String> states = new HashSet<>();
    module.states().forEach(state -> states.add(state.input()));
    for (Value input : graph.inputs()) {
      classes.put(
          input, states.contains(input.name()) ? StorageClass.STATE : StorageClass.ACTIVATION);
    }
    graph.nodes().forEach(this::classify);
  }

  private void classify(Node node) {
    for (int i = 0; i < node.operands().size(); i++) {
      Value operand = node.operand(i);
      if (isConstant(operand) && operand.type().rank() >= 2 && takesWeight(node.op(), i)) {
        classes.put(operand, StorageClass.WEIGHT);
      }
    }
    StorageClass storage =
        node.op() instanceof Source.Constant ? StorageClass.TABLE : StorageClass.ACTIVATION;
    if (node.op() instanceof Structured.CacheUpdate update && isState(node.operand(0))) {
      storage = StorageClass.STATE;
      positions.put(node.operand(0), update.axis());
      positions.put(node.result(), update.axis());
    }
    if (node.op() instanceof Movement.Reshape) {
      storage = storageClass(node.operand(0));
    }
    for (Value result : node.results()) {
      classes.put(result, storage);
    }
    if (node.op() instanceof Communication) {
      node.operands().forEach(operand -> exchanged.put(operand, true));
      node.results().forEach(result -> exchanged.put(result, true));
    }
  }

  private static boolean isConstant(Value value) {
    return !value.isInput() && value.definition().op() instanceof Source.Constant;
  }

  private static boolean takesWeight(Op op, int operand) {
    return switch (op) {
      case Contraction contraction -> true;
      case Quantized quantized -> true;
      case IntegerNetwork network -> true;
      case Structured.Linear linear -> operand == 1;
      case Structured.Ffn ffn -> operand > 0;
      case Structured.PatchEmbedding patches -> operand == 1;
      case Structured.Embedding embedding -> operand == 0;
      case Structured structured -> false;
      case Movement movement -> false;
      case Communication communication -> false;
      case io.partita.ir.op.Elementwise elementwise -> false;
      case io.partita.ir.op.Reduction reduction -> false;
      case Source source -> false;
    };
  }

  public Graph graph() {
    return graph;
  }

  public StorageClass storageClass(Value value) {
    return classes.get(value);
  }

  public boolean isWeight(Value value) {
    return storageClass(value) == StorageClass.WEIGHT;
  }

  public boolean isState(Value value) {
    return storageClass(value) == StorageClass.STATE;
  }

  /** Returns the type as which a value is stored. */
  public TensorType stored(Value value) {
    TensorType type = value.type();
    if (assumptions.floats().isEmpty() || !type.element().isFloat()) {
      return type;
    }
    ElementType assumed = assumptions.floats().get();
    if (exchanged.containsKey(value)) {
      return type.element().bits() <= EXCHANGED_BITS ? type : type.with(ElementType.F32);
    }
    return assumed.bits() < type.element().bits() ? type.with(assumed) : type;
  }

  /**
   * Returns the type as which an operation reads or writes a value: for a cache, its filled
   * positions.
   */
  public TensorType used(Value value) {
    TensorType type = stored(value);
    Integer axis = positions.get(value);
    if (axis == null || assumptions.filled().isEmpty()) {
      return type;
    }
    long filled = Math.min(type.shape().extent(axis), assumptions.filled().getAsLong());
    return type.with(type.shape().with(axis, Dim.of(filled)));
  }

  public long bytes(Value value) {
    TensorType type = stored(value);
    return isConstant(value) ? constants.bytes(value, type) : type.bytes();
  }

  /** Returns the bytes of an operand, in the form that a node reads. */
  public long storedBytes(Node node, int operand) {
    return bytes(node, operand, stored(node.operand(operand)));
  }

  /** Returns the bytes of an operand that a node reads: of a cache, its filled positions. */
  public long usedBytes(Node node, int operand) {
    return bytes(node, operand, used(node.operand(operand)));
  }

  private long bytes(Node node, int operand, TensorType type) {
    return ProductWeights.constant(node, operand)
        .map(extents -> assumptions.weights().bytes(type.element(), extents))
        .orElseGet(type::bytes);
  }
}
