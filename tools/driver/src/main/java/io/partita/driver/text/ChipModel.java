package io.partita.driver.text;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.run.InteractiveProgram;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

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
  public List<Port> inputs() {
    return whole(program.description().inputs());
  }

  @Override
  public List<Port> outputs() {
    return whole(program.description().outputs());
  }

  private static List<Port> whole(List<ChipDescription.WholePort> ports) {
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
  public Optional<Module.Room> room() {
    return program.description().room();
  }

  @Override
  public List<Tensor> run(List<Tensor> inputs) {
    return program.run(inputs);
  }

  @Override
  public Optional<Chunk> chunk() {
    return program
        .description()
        .chunk()
        .map(own -> new Chunk(whole(own.inputs()), whole(own.outputs())));
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
