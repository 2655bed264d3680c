package io.partita.driver.text;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.ir.tensor.Tensor;
import java.util.List;

/** A compiled program that is ready to run, on any target. */
public interface CompiledModel extends AutoCloseable {
  ProgramInterface description();

  /** Returns the outputs in order, for inputs in order. */
  List<Tensor> run(List<Tensor> inputs);

  /** Returns the outputs of {@link ProgramInterface#chunk} in order, for its inputs in order. */
  List<Tensor> runChunk(List<Tensor> inputs);

  /** Resets the state. */
  void reset();

  @Override
  void close();
}
