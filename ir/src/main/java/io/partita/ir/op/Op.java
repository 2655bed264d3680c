package io.partita.ir.op;

import io.partita.ir.type.TensorType;
import java.util.List;

/**
 * An operation: a mnemonic, typed attributes and type inference. Operands are tensors; attributes
 * are known at compile time.
 *
 * <p>Operations are records without identity; the nodes that use them have operands and names. The
 * hierarchy is sealed, and code that depends on the operation is a {@code switch} without {@code
 * default}, so that a new operation does not compile until every such place handles it.
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
  /** The name in text form. */
  String mnemonic();

  /** Writes all attributes for the text form, in a fixed order. */
  void write(AttributeWriter attributes);

  /**
   * Infers the types of results from those of operands.
   *
   * @throws TypeMismatch if their number, element types or shapes don't fit
   */
  List<TensorType> resultTypes(List<TensorType> operands);

  /** Like {@link #resultTypes}, and checks that tensors of these types can exist. */
  default List<TensorType> possibleResultTypes(List<TensorType> operands) {
    List<TensorType> types = resultTypes(operands);
    types.forEach(Require::possible);
    return types;
  }
}
