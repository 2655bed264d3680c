package io.partita.frontend.onnx;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * What the importer of an operator sees of one ONNX node, and how it answers: it reads operands and
 * attributes, adds operations, and names the value of each output.
 *
 * <p>Added operations are folded at once where all operands are known, and integer arithmetic on
 * shapes is followed symbolically; so {@link #dims} gives the extents that a chain of Shape,
 * Gather, Concat and so on computes, also where they depend on an unbound dimension.
 */
public interface NodeScope {
  String operator();

  /** The version of the node's operator set that the model imports. */
  int opset();

  /** The number of operands that the node lists, absent ones included. */
  int inputs();

  boolean has(int input);

  /** An operand; a diagnostic ends the import where it's absent. */
  Value input(int input);

  default Optional<Value> optionalInput(int input) {
    return has(input) ? Optional.of(input(input)) : Optional.empty();
  }

  default TensorType type(int input) {
    return input(input).type();
  }

  default Shape shape(int input) {
    return type(input).shape();
  }

  /** The number of outputs that the node lists. */
  int outputs();

  /** Whether output {@code output} has a name, so that something may read it. */
  boolean wants(int output);

  boolean hasAttribute(String name);

  /** An attribute that must be there. */
  long integer(String name);

  long integer(String name, long otherwise);

  default boolean flag(String name, boolean otherwise) {
    return integer(name, otherwise ? 1 : 0) != 0;
  }

  double number(String name);

  double number(String name, double otherwise);

  String text(String name, String otherwise);

  /** An attribute that must be there. */
  List<Long> integers(String name);

  List<Long> integers(String name, List<Long> otherwise);

  List<Double> numbers(String name);

  List<String> texts(String name);

  /** A tensor attribute that must be there. */
  Tensor tensor(String name);

  /** The element type that an attribute names by its ONNX number. */
  ElementType element(String name, ElementType otherwise);

  /** {@code axis} counted from the front, checked against {@code rank}. */
  int axis(long axis, int rank);

  /** The operand's data where it is known now. */
  Optional<Tensor> constant(int input);

  /**
   * The elements of an integer operand (scalar or vector) that has to be known when compiling; they
   * may be symbolic. Where it isn't known, a diagnostic says so and how to bind it.
   */
  List<Dim> dims(int input);

  /**
   * As {@link #dims}, for one element.
   *
   * @param usual what it usually is, which a diagnostic suggests
   */
  Dim dim(int input, Dim usual);

  /** As {@link #dims}, where the elements must be numbers. */
  List<Long> longs(int input);

  /** The operand's only element, which must be known. */
  default long integerOperand(int input) {
    List<Long> elements = longs(input);
    if (elements.size() != 1) {
      throw invalid("one element in operand " + input, type(input).toString());
    }
    return elements.getFirst();
  }

  /** The operand's data, which has to be known when compiling, of any element type. */
  Tensor data(int input);

  /** As {@link #dims} for any value: its elements as dimensions where they are known. */
  Optional<List<Dim>> knownDims(Value value);

  /** A value's data where they are known now. */
  Optional<Tensor> known(Value value);

  /**
   * The coordinates of the true elements of a mask, {@code i64[rank, count]}: how many there are is
   * a new symbol, which the import replaces when it knows what the coordinates are used for. Empty
   * where other nodes require so many that all elements are true.
   */
  Optional<Value> selected(Value mask);

  /** Whether to compute as ONNX Runtime where it departs from the standard. */
  boolean departs();

  /**
   * Takes in that the operator requires two extents to be equal, where that may say what dimensions
   * of the model's inputs are. Whether they are equal in the end is for the operation to check.
   */
  void equate(Dim left, Dim right);

  /**
   * As {@link #equate}, where the operator doesn't broadcast: the extent may also be the number of
   * elements that a NonZero finds.
   */
  void requireExtent(Dim extent, Dim required);

  /** A new symbol for an extent that can't be derived. */
  Dim freshDim();

  /** Adds an operation with one result; a misfit becomes a diagnostic about this node. */
  Value add(Op op, Value... operands);

  Value add(Op op, List<Value> operands);

  /** Adds an operation and gives all its results. */
  List<Value> addAll(Op op, List<Value> operands);

  Value constant(Tensor data);

  /** A constant scalar of the element type of {@code like}. */
  default Value scalarLike(Value like, double value) {
    return constant(Tensor.scalar(like.type().element(), value));
  }

  void output(int output, Value value);

  /** The node breaks its operator's rules; to be thrown. */
  PartitaException invalid(String expected, String found);

  /** The node is valid, but Partita doesn't support this use of its operator; to be thrown. */
  PartitaException unsupported(String what, String remedy);
}
