package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.graph.Origin;
import io.partita.ir.op.Communication;
import java.util.List;
import java.util.Optional;

/**
 * A chip's part in an exchange.
 *
 * @param operand the matrix whose elements, row by row, are those that the chip has before; empty
 *     if it has none
 * @param result likewise for those that it has after
 * @param gates words of which none may be 0, otherwise the chip takes no part
 */
record ExchangePart(
    Origin origin,
    Communication.Exchange exchange,
    Optional<Matrix> operand,
    Optional<Matrix> result,
    List<Integer> gates)
    implements Work {
  ExchangePart {
    gates = List.copyOf(gates);
  }
}
