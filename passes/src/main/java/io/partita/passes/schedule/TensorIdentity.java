package io.partita.passes.schedule;

import io.partita.ir.tensor.Tensor;

/** A tensor that is compared by identity. */
record TensorIdentity(Tensor tensor) {
  @Override
  public boolean equals(Object other) {
    return other instanceof TensorIdentity(var own) && own == tensor;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(tensor);
  }
}
