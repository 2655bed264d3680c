package io.partita.driver.evaluate;

import io.partita.ir.tensor.Tensor;
import java.util.List;

/** The inputs of the runs on each sample of data. */
interface SampleRuns {
  int samples();

  /** The number of runs on a sample, one after the other from an empty state. */
  int runs();

  /** Returns the inputs of a run, in the order of the program's. */
  List<Tensor> inputs(int sample, int run);
}
