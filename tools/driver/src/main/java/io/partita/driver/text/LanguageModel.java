package io.partita.driver.text;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.ProgramInterface.Port;
import io.partita.driver.DriverCode;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A compiled language model as a function from tokens to the logits of the next one. Two kinds of
 * programs are supported: those that take all tokens at once, {@code i64[1,n]}, and return logits
 * {@code [1,n,v]}; and decoders with a KV cache, which take one token {@code i64[1,1]} and often
 * its position, and may also take a chunk of several tokens. Other inputs, such as the keys and
 * values of an encoder, are the same at each run.
 */
public final class LanguageModel implements AutoCloseable {
  /** Receives all outputs of each run. */
  @FunctionalInterface
  public interface Observer {
    Observer NONE = (outputs, first, tokens) -> {};

    /**
     * @param first the position of the first token of the run
     * @param tokens the number of tokens in the run
     */
    void ran(List<Tensor> outputs, int first, int tokens);
  }

  private final CompiledModel program;
  private final int tokenInput;
  private final int logitsOutput;
  private final Optional<ProgramInterface.Chunk> chunk;
  private final Map<String, Tensor> given;
  private final Observer observer;
  private final List<Integer> fed = new ArrayList<>();

  public LanguageModel(CompiledModel program, Path folder) {
    this(program, folder, Map.of());
  }

  /**
   * @param given the inputs other than tokens and their positions, by name; they stay as they are
   * @throws PartitaException with {@link DriverCode#NOT_A_LANGUAGE_MODEL} if it's no such program,
   *     or an input is missing
   */
  public LanguageModel(CompiledModel program, Path folder, Map<String, Tensor> given) {
    this(program, folder, given, Observer.NONE);
  }

  /** As above, with an observer of its runs. */
  public LanguageModel(
      CompiledModel program, Path folder, Map<String, Tensor> given, Observer observer) {
    this.program = program;
    this.observer = observer;
    this.tokenInput = tokenInput(program.description().inputs(), given);
    this.logitsOutput = find(program.description().outputs(), LanguageModel::isLogits);
    this.chunk = program.description().chunk();
    this.given = new HashMap<>(given);
    List<Port> missing = new ArrayList<>();
    for (int i = 0; i < program.description().inputs().size(); i++) {
      Port port = program.description().inputs().get(i);
      if (i == tokenInput || isDecoder() && isPosition(port)) {
        this.given.remove(port.name());
      } else if (!given.containsKey(port.name())) {
        missing.add(port);
      }
    }
    if (tokenInput < 0 || logitsOutput < 0) {
      throw notALanguageModel(
          folder,
          "inputs: token ids i64[1,n] and, for a decoder, positions; an output: logits [1,n,v]",
          "inputs "
              + text(program.description().inputs())
              + "; outputs "
              + text(program.description().outputs()),
          "compile a language model, with a batch of 1; a KV cache must have become state");
    }
    if (!missing.isEmpty()) {
      throw notALanguageModel(
          folder,
          "arrays for the inputs other than tokens and positions",
          "none for " + text(missing),
          "pass them to 'partita generate' with --inputs FILE.npz, or to 'partita quantize' in a file"
              + " with an array for each input instead of one of tokens; other commands need a model"
              + " of tokens and positions only. A KV cache among them must become state");
    }
  }

  private static PartitaException notALanguageModel(
      Path folder, String expected, String found, String remedy) {
    return new PartitaException(
        DriverCode.NOT_A_LANGUAGE_MODEL, folder.toString(), expected, found, remedy);
  }

  /** Describes inputs or outputs for a diagnostic. */
  public static String text(List<Port> ports) {
    return ports.stream()
        .map(port -> port.name() + ": " + port.type())
        .collect(Collectors.joining(", "));
  }

  /**
   * Finds the input by name, since a mask may have the same type; or the first that isn't given.
   */
  private static int tokenInput(List<Port> inputs, Map<String, Tensor> given) {
    int named = find(inputs, port -> isTokens(port) && port.name().contains("input_ids"));
    return named >= 0
        ? named
        : find(inputs, port -> isTokens(port) && !given.containsKey(port.name()));
  }

  private static int find(List<Port> ports, Predicate<Port> test) {
    for (int i = 0; i < ports.size(); i++) {
      if (test.test(ports.get(i))) {
        return i;
      }
    }
    return -1;
  }

  private static boolean isTokens(Port port) {
    TensorType type = port.type();
    return type.element().isInteger() && type.rank() == 2 && type.dim(0).is(1);
  }

  /** Whether an input of a decoder takes the position of each new token. */
  public static boolean isPosition(Port port) {
    TensorType type = port.type();
    return type.element().isInteger()
        && type.shape().elements() == 1
        && port.name().toLowerCase(Locale.ROOT).contains("pos");
  }

  private static boolean isLogits(Port port) {
    TensorType type = port.type();
    return type.element().isFloat() && type.rank() == 3 && type.dim(0).is(1);
  }

  /** Whether the program keeps a KV cache. */
  public boolean isDecoder() {
    return !program.description().states().isEmpty();
  }

  /** The program's context length in tokens. */
  public int context() {
    return isDecoder()
        ? program
            .description()
            .room()
            .map(room -> Math.toIntExact(room.capacity()))
            .orElseGet(this::shortestState)
        : Math.toIntExact(tokens().dim(1).value());
  }

  /** Fallback if the program doesn't state it: states {@code [batch, kvHeads, capacity, d]}. */
  private int shortestState() {
    return program.description().states().stream()
        .mapToInt(state -> Math.toIntExact(state.type().shape().fromEnd(1).value()))
        .min()
        .orElseThrow();
  }

  /** The number of positions of the model, independent of the cache's capacity. */
  public OptionalLong positions() {
    return program.description().room().map(Module.Room::positions).orElseGet(OptionalLong::empty);
  }

  private TensorType tokens() {
    return program.description().inputs().get(tokenInput).type();
  }

  /** The number of tokens for which it returns logits. */
  public int vocabulary() {
    return Math.toIntExact(
        program.description().outputs().get(logitsOutput).type().shape().fromEnd(0).value());
  }

  /**
   * Returns the logits {@code [v]} of the token after a nonempty {@code sequence}. A program
   * without cache sees the last {@link #context} tokens; a decoder must not be given more.
   */
  public float[] next(List<Integer> sequence) {
    return isDecoder() ? decode(sequence) : prefill(sequence);
  }

  /**
   * Returns the logits {@code [v]} after each token of a sequence of at most {@link #context}
   * tokens.
   */
  public List<float[]> each(List<Integer> sequence) {
    List<float[]> logits = new ArrayList<>();
    if (isDecoder()) {
      program.reset();
      fed.clear();
      for (int end = 1; end <= sequence.size(); end++) {
        logits.add(decode(sequence.subList(0, end)));
      }
    } else {
      List<Tensor> outputs = runPrefill(sequence);
      for (int i = 0; i < sequence.size(); i++) {
        logits.add(row(outputs, i));
      }
    }
    return logits;
  }

  /** Causal models don't see later tokens, so the rest of the window may hold anything. */
  private float[] prefill(List<Integer> sequence) {
    int window = context();
    List<Integer> seen = sequence.subList(Math.max(0, sequence.size() - window), sequence.size());
    return row(runPrefill(seen), seen.size() - 1);
  }

  private List<Tensor> runPrefill(List<Integer> seen) {
    long[] ids = new long[context()];
    for (int i = 0; i < seen.size(); i++) {
      ids[i] = seen.get(i);
    }
    Tensor tokens = Tensor.ofLongs(tokens(), ids);
    List<Tensor> inputs =
        program.description().inputs().stream()
            .map(port -> given.getOrDefault(port.name(), tokens))
            .toList();
    List<Tensor> outputs = program.run(inputs);
    observer.ran(outputs, 0, seen.size());
    return outputs;
  }

  private float[] decode(List<Integer> sequence) {
    if (fed.size() >= sequence.size() || !sequence.subList(0, fed.size()).equals(fed)) {
      program.reset();
      fed.clear();
    }
    List<Tensor> outputs = List.of();
    int last = 0;
    while (fed.size() < sequence.size()) {
      List<Integer> left = sequence.subList(fed.size(), sequence.size());
      int most = chunkTokens();
      boolean canBegin = fed.isEmpty() || !program.description().chunkIsPrompt();
      boolean isChunk = canBegin && most > 1 && left.size() > 1 && fed.size() + most <= context();
      List<Integer> next = left.subList(0, isChunk ? Math.min(most, left.size()) : 1);
      outputs =
          isChunk
              ? program.runChunk(inputs(chunk.orElseThrow().inputs(), next))
              : program.run(inputs(program.description().inputs(), next));
      observer.ran(outputs, fed.size(), next.size());
      fed.addAll(next);
      last = next.size() - 1;
    }
    return row(outputs, last);
  }

  /** Tokens that the program takes at once; 1 for a decoder without chunks. */
  public int chunkTokens() {
    return chunk
        .map(own -> Math.toIntExact(own.inputs().get(tokenInput).type().dim(1).value()))
        .orElse(1);
  }

  /**
   * Returns the inputs for the next tokens and their positions. A chunk is padded with arbitrary
   * tokens, whose cache entries no token sees before others overwrite them.
   */
  private List<Tensor> inputs(List<Port> ports, List<Integer> next) {
    List<Tensor> inputs = new ArrayList<>();
    for (int i = 0; i < ports.size(); i++) {
      if (given.containsKey(ports.get(i).name())) {
        inputs.add(given.get(ports.get(i).name()));
        continue;
      }
      long[] values = new long[Math.toIntExact(ports.get(i).type().shape().elements())];
      for (int at = 0; at < values.length; at++) {
        long token = at < next.size() ? next.get(at) : 0;
        values[at] = i == tokenInput ? token : fed.size() + at;
      }
      inputs.add(Tensor.ofLongs(ports.get(i).type(), values));
    }
    return inputs;
  }

  private float[] row(List<Tensor> outputs, int position) {
    Tensor logits = outputs.get(logitsOutput);
    int width = vocabulary();
    float[] row = new float[width];
    for (int i = 0; i < width; i++) {
      row[i] = (float) logits.getDouble(position * width + i);
    }
    return row;
  }

  /** The index of the largest logit, the first of equal ones. */
  public static int argMax(float[] logits) {
    int best = 0;
    for (int i = 1; i < logits.length; i++) {
      best = logits[i] > logits[best] ? i : best;
    }
    return best;
  }

  @Override
  public void close() {
    program.close();
  }
}
