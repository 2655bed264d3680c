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
 * An ONNX node as its importer sees it. The importer reads operands and attributes, adds
 * operations, and sets the value of each output.
 *
 * <p>Operations with known operands are folded as they are added, and integer arithmetic on shapes
 * is evaluated symbolically. So {@link #dims} returns the extents that a chain of Shape, Gather,
 * Concat and so on computes, even if they depend on unbound dimensions.
 */
public interface NodeScope {
  String operator();

  /** The version of the node's operator set that the model imports. */
  int opset();

  /** The number of operands that the node lists, absent ones included. */
  int inputs();

  boolean has(int input);

  /** Returns an operand; a missing one ends the import of the node with a diagnostic. */
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

  /** Returns the number of listed outputs. */
  int outputs();

  /** Whether an output has a name, so that it may have users. */
  boolean wants(int output);

  boolean hasAttribute(String name);

  /** Returns a required attribute. */
  long integer(String name);

  long integer(String name, long otherwise);

  default boolean flag(String name, boolean otherwise) {
    return integer(name, otherwise ? 1 : 0) != 0;
  }

  double number(String name);

  double number(String name, double otherwise);

  String text(String name, String otherwise);

  /** Returns a required attribute. */
  List<Long> integers(String name);

  List<Long> integers(String name, List<Long> otherwise);

  List<Double> numbers(String name);

  List<String> texts(String name);

  /** Returns a required tensor attribute. */
  Tensor tensor(String name);

  /** Returns the element type of an attribute with its ONNX number. */
  ElementType element(String name, ElementType otherwise);

  /** Returns a valid axis counted from the front. */
  int axis(long axis, int rank);

  /** Returns the operand's data if known. */
  Optional<Tensor> constant(int input);

  /**
   * Returns the elements of an integer operand (scalar or vector) that must be known at compile
   * time; they may be symbolic. For an unknown operand, a diagnostic explains how to bind it.
   */
  List<Dim> dims(int input);

  /**
   * Like {@link #dims}, for one element.
   *
   * @param usual the usual value, which a diagnostic suggests
   */
  Dim dim(int input, Dim usual);

  /** Like {@link #dims}, for static elements. */
  List<Long> longs(int input);

  /** Returns the operand's only element, which must be known. */
  default long integerOperand(int input) {
    List<Long> elements = longs(input);
    if (elements.size() != 1) {
      throw invalid("one element in operand " + input, type(input).toString());
    }
    return elements.getFirst();
  }

  /** Returns the operand's data of any element type, which must be known at compile time. */
  Tensor data(int input);

  /** Returns the elements of a value as dimensions, if known. */
  Optional<List<Dim>> knownDims(Value value);

  /** Returns the data of a value if known. */
  Optional<Tensor> known(Value value);

  /**
   * Returns the coordinates of the true elements of a mask, {@code i64[rank, count]}. Their count
   * is a new symbol, which the import replaces according to the uses of the coordinates. Empty if
   * other nodes require a count for which all elements are true.
   */
  Optional<Value> selected(Value mask);

  /** Whether to follow ONNX Runtime in a deviation from the standard. */
  boolean departs();

  /**
   * Adds the constraint that two extents are equal, which may determine dimensions of the model's
   * inputs. The operation checks whether they are equal.
   */
  void equate(Dim left, Dim right);

  /**
   * Like {@link #equate}, for operators without broadcasting: the extent may also be the count of a
   * NonZero.
   */
  void requireExtent(Dim extent, Dim required);

  /** Creates a symbol for an extent that can't be derived. */
  Dim freshDim();

  /** Adds an operation with one result; a type mismatch becomes a diagnostic of this node. */
  Value add(Op op, Value... operands);

  Value add(Op op, List<Value> operands);

  /** Adds an operation and returns all its results. */
  List<Value> addAll(Op op, List<Value> operands);

  Value constant(Tensor data);

  /** Adds a constant scalar of the element type of {@code like}. */
  default Value scalarLike(Value like, double value) {
    return constant(Tensor.scalar(like.type().element(), value));
  }

  void output(int output, Value value);

  /** Returns the error of a node that violates its operator's definition. */
  PartitaException invalid(String expected, String found);

  /** Returns the error of a valid but unsupported use of an operator. */
  PartitaException unsupported(String what, String remedy);
}
