package io.partita.driver.text;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.metalium.KernelProgram;
import io.partita.backend.metalium.KernelSession;
import io.partita.ir.tensor.Tensor;
import java.time.Duration;
import java.util.List;

/** TT-Metalium kernels, on emulated or simulated chips. */
public final class KernelModel implements CompiledModel {
  private final ProgramInterface whole;
  private final KernelSession session;

  /**
   * Starts a program.
   *
   * @param limit the time limit of a run
   * @throws io.partita.ir.diagnostic.PartitaException if it can't be started
   */
  public KernelModel(KernelProgram program, Duration limit) {
    whole = program.whole();
    session = new KernelSession(program, limit);
  }

  @Override
  public ProgramInterface description() {
    return whole;
  }

  @Override
  public List<Tensor> run(List<Tensor> inputs) {
    return session.run(inputs);
  }

  @Override
  public List<Tensor> runChunk(List<Tensor> inputs) {
    return session.runChunk(inputs);
  }

  @Override
  public void reset() {
    session.reset();
  }

  @Override
  public void close() {
    session.close();
  }
}
