package io.partita.ir.arbitrary;

import io.partita.ir.op.Op;
import io.partita.ir.type.TensorType;
import java.util.List;

/** An operation with valid operand types. */
public record OpSample(Op op, List<TensorType> operands) {
  static OpSample of(Op op, TensorType... operands) {
    return new OpSample(op, List.of(operands));
  }
}
