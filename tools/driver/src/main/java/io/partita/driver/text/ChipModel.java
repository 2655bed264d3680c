package io.partita.driver.text;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.run.InteractiveProgram;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A C program that waits for inputs, on any port. */
public final class ChipModel implements CompiledModel {
  private final InteractiveProgram program;

  /**
   * Starts a program that {@code partita compile --target siracusa} wrote and that is built for a
   * port.
   *
   * @param options options of the port's programs, or of GVSoC's board
   * @param limit the time limit of a run
   * @throws io.partita.ir.diagnostic.PartitaException if it can't be started
   */
  public ChipModel(
      Path folder, io.partita.backend.emitted.run.Port port, List<String> options, Duration limit) {
    program = InteractiveProgram.start(folder, port, options, limit);
  }

  @Override
  public ProgramInterface description() {
    return program.description().whole();
  }

  @Override
  public List<Tensor> run(List<Tensor> inputs) {
    return program.run(inputs);
  }

  @Override
  public List<Tensor> runChunk(List<Tensor> inputs) {
    return program.chunk(inputs);
  }

  @Override
  public void reset() {
    program.reset();
  }

  @Override
  public void close() {
    program.close();
  }
}
