package io.partita.backend.emitted.run;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.ChipDescription.Port;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.ir.eval.Shards;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The input and output streams of chips' programs, in the format of {@code main.c}.
 *
 * @param run the word that begins a run; the next number also resets
 */
record Streams(ChipDescription description, int run) {
  private static final int RUN = 1;
  private static final int RUN_CHUNK = 3;

  /** The streams of runs for one token, or of whole runs. */
  Streams(ChipDescription description) {
    this(description, RUN);
  }

  /** The streams of runs for several tokens at once. */
  static Optional<Streams> ofChunk(ChipDescription description) {
    return description.ofChunk().map(own -> new Streams(own, RUN_CHUNK));
  }

  /**
   * Writes a chip's input for one run.
   *
   * @param inputs the inputs of the whole model, in its order
   */
  void writeInputs(int chip, List<Tensor> inputs, boolean resets, OutputStream out)
      throws IOException {
    Map<String, Tensor> parts = parts(chip, inputs);
    out.write(new byte[] {(byte) (resets ? run + 1 : run), 0, 0, 0});
    for (Port port : description.chips().get(chip).inputs()) {
      out.write(parts.get(port.name()).bytes().toArray(ValueLayout.JAVA_BYTE));
    }
  }

  /** A chip's parts of the inputs, by name. */
  Map<String, Tensor> parts(int chip, List<Tensor> inputs) {
    Map<String, Tensor> parts = new HashMap<>();
    for (int i = 0; i < inputs.size(); i++) {
      ProgramInterface.Port port = description.whole().inputs().get(i);
      if (port.sharded().layout().holds(chip)) {
        parts.put(port.name(), Shards.part(inputs.get(i), port.sharded().layout(), chip));
      }
    }
    return parts;
  }

  /** Reads a chip's output of one run. */
  List<Tensor> readOutputs(int chip, InputStream in) throws IOException {
    List<Tensor> outputs = new ArrayList<>();
    for (Port port : description.chips().get(chip).outputs()) {
      int size = Math.toIntExact(port.type().bytes());
      byte[] bytes = in.readNBytes(size);
      if (bytes.length < size) {
        throw new EOFException("the output of chip " + chip + " ends in " + port.name());
      }
      outputs.add(Tensor.of(port.type(), MemorySegment.ofArray(bytes)));
    }
    return outputs;
  }

  /** Assembles the whole model's outputs from those of each chip. */
  List<Tensor> outputs(List<List<Tensor>> parts) {
    List<Tensor> outputs = new ArrayList<>();
    for (ProgramInterface.Port port : description.whole().outputs()) {
      ShardedType sharded = port.sharded();
      SortedMap<Integer, Tensor> held = new TreeMap<>();
      for (int chip : sharded.layout().holders()) {
        TensorType local = sharded.localType(chip);
        Tensor part = find(port.name(), chip, parts.get(chip));
        if (part != null || local.shape().elements() == 0) {
          held.put(chip, part == null ? Tensor.filled(local, 0) : part);
        }
      }
      outputs.add(Shards.assemble(held, sharded.type(), sharded.layout()));
    }
    return outputs;
  }

  private Tensor find(String name, int chip, List<Tensor> parts) {
    List<Port> ports = description.chips().get(chip).outputs();
    for (int i = 0; i < ports.size(); i++) {
      if (ports.get(i).name().equals(name)) {
        return parts.get(i);
      }
    }
    return null;
  }
}
