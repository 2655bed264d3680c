package io.partita.driver;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.program.Program;
import io.partita.ir.type.TensorType;
import io.partita.passes.PassCode;
import io.partita.passes.graph.state.ChunkAgreement;
import io.partita.passes.graph.state.SharedWeights;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * The entry points of a compiled model. A decoder with chunks has two entry points that share
 * states and weights.
 *
 * @param step a run; for a decoder, of one new token
 * @param chunk the same decoder for several new tokens
 */
public record Entries(Module step, Optional<Module> chunk) {
  public Entries(Module step) {
    this(step, Optional.empty());
  }

  /**
   * Returns a decoder with two entry points; equal weights become the same tensors.
   *
   * @param tokens the tokens of a chunk
   * @throws PartitaException with {@link DriverCode#NO_CHUNKS} if they don't keep the same states
   */
  static Entries of(Module step, Module chunk, long tokens) {
    Map<String, TensorType> states = states(step);
    if (states.isEmpty()) {
      throw noChunks(
          "the KV cache",
          "a cache that the program keeps as state",
          "a cache that stays input and output",
          "leave --chunk " + tokens + " out; a note then gives the reason");
    }
    if (!states.equals(states(chunk))) {
      throw noChunks(
          "the KV cache",
          "the same states for one token and for several",
          states + " and " + states(chunk),
          "leave --chunk " + tokens + " out");
    }
    ChunkAgreement.difference(step, chunk)
        .ifPresent(
            node -> {
              throw noChunks(
                  "node \"" + node.name() + "\" (" + node.op().mnemonic() + ")",
                  "a mask that is the same for a token in a chunk as for a single token",
                  "different keys or bias: the exported mask is right for one token only",
                  "leave --chunk " + tokens + " out, or export the model again");
            });
    return new Entries(step, Optional.of(SharedWeights.share(step, chunk)));
  }

  /**
   * Refuses a chunk whose tokens see later ones.
   *
   * @param note about the chunk
   */
  static void requireCausal(Diagnostic note) {
    if (note.code() == PassCode.TOKENS_SEE_LATER_ONES) {
      throw noChunks(
          note.where(),
          note.expected(),
          note.found(),
          "leave --chunk out, or export the model again");
    }
  }

  static PartitaException noChunks(String where, String expected, String found, String remedy) {
    return new PartitaException(DriverCode.NO_CHUNKS, where, expected, found, remedy);
  }

  private static Map<String, TensorType> states(Module module) {
    Map<String, TensorType> types = new TreeMap<>();
    for (Module.State state : module.states()) {
      Value input =
          module.graph().inputs().stream()
              .filter(value -> value.name().equals(state.input()))
              .findFirst()
              .orElseThrow();
      types.put(state.input() + " -> " + state.output(), input.type());
    }
    return types;
  }

  /** Whether the second entry point takes only the first tokens: it has no input for positions. */
  public boolean isPrompt() {
    return chunk
        .filter(own -> own.graph().inputs().size() < step.graph().inputs().size())
        .isPresent();
  }

  /** Applies a pass to both entry points. */
  public Entries map(UnaryOperator<Module> pass) {
    return new Entries(pass.apply(step), chunk.map(pass));
  }

  /**
   * The programs of the devices.
   *
   * @param step the program of {@link #step}
   * @param chunk the program of {@link #chunk}
   */
  public record Programs(Program step, Optional<Program> chunk) {
    public Programs(Program step) {
      this(step, Optional.empty());
    }

    /** Requires that both lay out states on the devices in the same way. */
    public Programs {
      if (chunk.isPresent()) {
        for (Module.State state :
            step.devices().stream().flatMap(each -> each.states().stream()).distinct().toList()) {
          ShardedType one = step.inputs().get(state.input());
          ShardedType several = chunk.get().inputs().get(state.input());
          if (!Objects.equals(one, several)) {
            throw noChunks(
                "state \"" + state.input() + "\"",
                "the same parts on the devices for one token and for several",
                one + " and " + several,
                "leave --strategy out, which splits by heads, or compile without --chunk");
          }
        }
      }
    }

    /** The entry points in order, the one for one token first. */
    public List<Program> all() {
      return chunk.map(own -> List.of(step, own)).orElse(List.of(step));
    }
  }
}
