package io.partita.ir.eval;

import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import java.util.List;

/** Which keys a query of an attention sees, and what is added to their scores. */
final class AttentionMask {
  private final Structured.Attention op;
  private final Tensor mask;
  private final long[] strides;
  private final Tensor keyLength;
  private final long offset;
  private final int seq;
  private final int keys;

  AttentionMask(Structured.Attention op, List<Tensor> operands) {
    this.op = op;
    mask = op.mask() ? operands.get(3) : null;
    strides = op.mask() ? Lines.broadcastStrides(mask.shape(), 4) : null;
    keyLength = op.keyLength() ? operands.getLast() : null;
    offset = Bound.value(op.offset(), op.mnemonic());
    seq = (int) operands.get(0).shape().extent(2);
    keys = (int) operands.get(1).shape().extent(2);
  }

  /** Returns the number of keys of a batch element that aren't beyond the key length. */
  int validKeys(int batch) {
    return keyLength == null ? keys : (int) Math.clamp(keyLength.getLong(batch), 0, (long) keys);
  }

  /** Returns what is added to a score; negative infinity if the key is hidden. */
  double added(int batch, int head, int query, int key) {
    long position = query + (keyLength == null ? offset : keyLength.getLong(batch) - seq);
    if (op.causal() && key > position || op.window() > 0 && position - key >= op.window()) {
      return Double.NEGATIVE_INFINITY;
    }
    if (mask == null) {
      return 0;
    }
    int at = (int) (batch * strides[0] + head * strides[1] + query * strides[2] + key * strides[3]);
    if (mask.element() == ElementType.BOOL) {
      return mask.getBoolean(at) ? 0 : Double.NEGATIVE_INFINITY;
    }
    return mask.getDouble(at);
  }
}
