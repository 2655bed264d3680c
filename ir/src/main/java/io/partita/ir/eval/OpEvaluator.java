package io.partita.ir.eval;

import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import java.util.List;

/** The reference meaning of each operation. */
public final class OpEvaluator {
  private OpEvaluator() {}

  /** The results of {@code op} on operands whose types fit it; all shapes are static. */
  public static List<Tensor> evaluate(Op op, List<Tensor> operands) {
    throw new UnsupportedOperationException(op + " on " + operands);
  }
}
