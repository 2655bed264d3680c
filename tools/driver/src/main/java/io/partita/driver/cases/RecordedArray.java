package io.partita.driver.cases;

import io.partita.ir.tensor.Tensor;

/** A recorded input or output; the name is empty where the record has only an order. */
record RecordedArray(String name, Tensor data) {}
