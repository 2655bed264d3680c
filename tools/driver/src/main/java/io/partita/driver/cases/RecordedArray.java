package io.partita.driver.cases;

import io.partita.ir.tensor.Tensor;

/** A recorded input or output; the name is empty if the record only has an order. */
record RecordedArray(String name, Tensor data) {}
