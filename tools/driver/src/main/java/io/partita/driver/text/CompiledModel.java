package io.partita.driver.text;

import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/** A compiled program that is ready to run, on any target. */
public interface CompiledModel extends AutoCloseable {
  /** An input, output or state. */
  record Port(String name, TensorType type) {}

  List<Port> inputs();

  List<Port> outputs();

  /** The states, for each device that holds a part of one. */
  List<Port> states();

  /** The capacity of a decoder's cache in tokens, if known. */
  Optional<Module.Room> room();

  /** Returns the outputs in order, for inputs in order. */
  List<Tensor> run(List<Tensor> inputs);

  /** The inputs and outputs for several tokens at once. */
  record Chunk(List<Port> inputs, List<Port> outputs) {}

  /** The decoder's entry point for several tokens at once, if any. */
  Optional<Chunk> chunk();

  /** Returns the outputs of {@link #chunk} in order, for its inputs in order. */
  List<Tensor> runChunk(List<Tensor> inputs);

  /** Resets the state. */
  void reset();

  @Override
  void close();
}
