package io.partita.driver.text;

import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/** A compiled program that is ready to run, whatever it was compiled to. */
public interface CompiledModel extends AutoCloseable {
  /** An input, output or state. */
  record Port(String name, TensorType type) {}

  List<Port> inputs();

  List<Port> outputs();

  /** What is kept from run to run, of each device that has a part of it. */
  List<Port> states();

  /** For how many tokens a decoder keeps keys and values, where it says so. */
  Optional<Module.Room> room();

  /** The outputs in order, of inputs in order. */
  List<Tensor> run(List<Tensor> inputs);

  /** What several tokens at once take and give. */
  record Chunk(List<Port> inputs, List<Port> outputs) {}

  /** How a decoder takes several tokens at once, if it does. */
  Optional<Chunk> chunk();

  /** The outputs of {@link #chunk} in order, of its inputs in order. */
  List<Tensor> runChunk(List<Tensor> inputs);

  /** Forgets the state. */
  void reset();

  @Override
  void close();
}
