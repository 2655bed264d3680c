package io.partita.ir.op;

import io.partita.ir.type.TensorType;
import java.util.List;

/**
 * What a node computes: a mnemonic, typed attributes and a rule that gives the result types.
 * Operands are tensors; attributes hold all that is known when compiling.
 *
 * <p>An operation is a record without identity; the node that uses it has operands and a name. The
 * universe is sealed: a decision that depends on the operation is a {@code switch} without {@code
 * default}, so that a new operation breaks compilation wherever something is to be decided about
 * it.
 */
public sealed interface Op
    permits Communication,
        Contraction,
        Elementwise,
        IntegerNetwork,
        Movement,
        Quantized,
        Reduction,
        Source,
        Structured {
  /** The name in the text form; {@link OpReader} knows each. */
  String mnemonic();

  /** Writes all attributes, in a fixed order, for the text form. */
  void write(AttributeWriter attributes);

  /**
   * The result types for operands of these types.
   *
   * @throws TypeMismatch when their number, element types or shapes don't fit
   */
  List<TensorType> resultTypes(List<TensorType> operands);

  /** As {@link #resultTypes}, where each result is also one that a tensor can have. */
  default List<TensorType> possibleResultTypes(List<TensorType> operands) {
    List<TensorType> types = resultTypes(operands);
    types.forEach(Require::possible);
    return types;
  }
}
