package io.partita.driver.text;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.metalium.EmulatedProgram;
import io.partita.backend.metalium.EmulatedSession;
import io.partita.backend.metalium.MetaliumDescription;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** TT-Metalium kernels on the emulated chip. */
public final class EmulatedModel implements CompiledModel {
  private final ProgramInterface whole;
  private final EmulatedSession session;

  /**
   * Builds and starts a folder that {@code partita compile --target n150} wrote.
   *
   * @param limit the time limit of a run
   * @throws io.partita.ir.diagnostic.PartitaException if it can't be built or started
   */
  public EmulatedModel(Path folder, Duration limit) {
    whole = MetaliumDescription.read(folder).whole();
    session = new EmulatedSession(EmulatedProgram.build(folder, whole), limit);
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
    throw new IllegalStateException("TT-Metalium programs have no entry point for chunks");
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
