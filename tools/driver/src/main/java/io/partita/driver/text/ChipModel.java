package io.partita.driver.text;

import io.partita.backend.siracusa.ModelDescription;
import io.partita.backend.siracusa.run.Build;
import io.partita.backend.siracusa.run.HostProgram;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A program in C, built for this host, each chip a process. */
public final class ChipModel implements CompiledModel {
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private final HostProgram program;

  /**
   * Builds and starts what {@code partita compile --target siracusa} wrote.
   *
   * @throws io.partita.ir.diagnostic.PartitaException when it can't be
   */
  public ChipModel(Path folder) {
    Build.run(folder, io.partita.backend.siracusa.run.Port.HOST, List.of());
    program = HostProgram.start(folder, List.of(), LIMIT);
  }

  @Override
  public List<Port> inputs() {
    return whole(program.description().inputs());
  }

  @Override
  public List<Port> outputs() {
    return whole(program.description().outputs());
  }

  private static List<Port> whole(List<ModelDescription.WholePort> ports) {
    return ports.stream().map(port -> new Port(port.name(), port.type().type())).toList();
  }

  @Override
  public List<Port> states() {
    return program.description().chips().stream()
        .flatMap(chip -> chip.states().stream())
        .map(state -> new Port(state.name(), state.type()))
        .toList();
  }

  @Override
  public List<Tensor> run(List<Tensor> inputs) {
    return program.run(inputs);
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
