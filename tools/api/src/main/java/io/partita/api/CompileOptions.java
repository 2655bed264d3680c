package io.partita.api;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The model, target, output and options of a compilation. Each option corresponds to an option of
 * {@code partita compile}, and is checked when compiling.
 */
public final class CompileOptions {
  private final Builder values;

  private CompileOptions(Builder values) {
    this.values = values;
  }

  /**
   * Returns options for a model, with defaults for all others.
   *
   * @param model a {@code .onnx} or {@code .pir} file
   * @param target {@code java} or {@code siracusa}, with parameters as in {@code siracusa:chips=4}
   * @param output the folder to write, atomically; an earlier program in it is replaced
   */
  public static Builder of(Path model, String target, Path output) {
    return new Builder(model, target, output);
  }

  public Path model() {
    return values.model;
  }

  public String target() {
    return values.target;
  }

  public Path output() {
    return values.output;
  }

  /** Extents of dynamic dimensions by name. */
  public Map<String, Long> dimensions() {
    return Collections.unmodifiableMap(values.dimensions);
  }

  /** Values of inputs that determine shapes, by name. */
  public Map<String, String> bindings() {
    return Collections.unmodifiableMap(values.bindings);
  }

  /** Parameters of the target by name. */
  public Map<String, String> settings() {
    return Collections.unmodifiableMap(values.settings);
  }

  public Optional<String> devices() {
    return Optional.ofNullable(values.devices);
  }

  public Optional<String> strategy() {
    return Optional.ofNullable(values.strategy);
  }

  /** How the sums of blocks are communicated between devices. */
  public Optional<String> sync() {
    return Optional.ofNullable(values.sync);
  }

  /** The options of a speculation on attention. */
  public Optional<String> speculate() {
    return Optional.ofNullable(values.speculate);
  }

  /** The ranges of sums in few bits. */
  public Optional<Path> calibration() {
    return Optional.ofNullable(values.calibration);
  }

  /** The order in which blocks are selected by their sensitivity. */
  public Optional<Path> ranking() {
    return Optional.ofNullable(values.ranking);
  }

  /** The target whose best plan is compiled. */
  public Optional<String> plan() {
    return Optional.ofNullable(values.plan);
  }

  public Optional<String> passes() {
    return Optional.ofNullable(values.passes);
  }

  /** The options of a quantization before the model is compiled. */
  public Optional<String> quantize() {
    return Optional.ofNullable(values.quantize);
  }

  public OptionalLong cacheCapacity() {
    return values.cacheCapacity;
  }

  public OptionalLong chunk() {
    return values.chunk;
  }

  public Optional<Path> promptModel() {
    return Optional.ofNullable(values.promptModel);
  }

  public Optional<String> packageName() {
    return Optional.ofNullable(values.packageName);
  }

  /** The command line that asks for this compilation, for the program's report. */
  public Optional<String> command() {
    return Optional.ofNullable(values.command);
  }

  public Optional<String> className() {
    return Optional.ofNullable(values.className);
  }

  /** Collects options; may be used again after {@link #build}. */
  public static final class Builder {
    private final Path model;
    private final String target;
    private final Path output;
    private final Map<String, Long> dimensions = new LinkedHashMap<>();
    private final Map<String, String> bindings = new LinkedHashMap<>();
    private final Map<String, String> settings = new LinkedHashMap<>();
    private String devices;
    private String strategy;
    private String sync;
    private Path calibration;
    private Path ranking;
    private String speculate;
    private String plan;
    private String passes;
    private String quantize;
    private OptionalLong cacheCapacity = OptionalLong.empty();
    private OptionalLong chunk = OptionalLong.empty();
    private Path promptModel;
    private String packageName;
    private String className;
    private String command;

    private Builder(Path model, String target, Path output) {
      this.model = Objects.requireNonNull(model, "model");
      this.target = Objects.requireNonNull(target, "target");
      this.output = Objects.requireNonNull(output, "output");
    }

    private Builder(Builder other) {
      this(other.model, other.target, other.output);
      dimensions.putAll(other.dimensions);
      bindings.putAll(other.bindings);
      settings.putAll(other.settings);
      devices = other.devices;
      strategy = other.strategy;
      sync = other.sync;
      calibration = other.calibration;
      ranking = other.ranking;
      speculate = other.speculate;
      plan = other.plan;
      passes = other.passes;
      quantize = other.quantize;
      cacheCapacity = other.cacheCapacity;
      chunk = other.chunk;
      promptModel = other.promptModel;
      packageName = other.packageName;
      className = other.className;
      command = other.command;
    }

    /** Binds a dynamic dimension; for the length of a KV cache, its capacity. */
    public Builder dimension(String name, long extent) {
      dimensions.put(name, extent);
      return this;
    }

    /** Binds dynamic dimensions. */
    public Builder dimensions(Map<String, Long> extents) {
      dimensions.putAll(extents);
      return this;
    }

    /** Binds inputs that determine shapes, each to comma-separated numbers. */
    public Builder bindings(Map<String, String> values) {
      bindings.putAll(values);
      return this;
    }

    /**
     * Sets parameters of the target or sizes of its memories, such as {@code l3} to {@code 128MiB}.
     */
    public Builder settings(Map<String, String> values) {
      settings.putAll(values);
      return this;
    }

    /** Distributes the model over a number of devices. */
    public Builder devices(int count) {
      return devices(Integer.toString(count));
    }

    /** A number of devices, or with {@link #plan} also {@code auto}; null for the default. */
    public Builder devices(String count) {
      devices = count;
      return this;
    }

    /** The strategy, such as {@code pipeline=2,tensor=4}; null for the default. */
    public Builder strategy(String text) {
      strategy = text;
      return this;
    }

    /**
     * How the sums of each block are communicated, such as {@code blocks 0-3: drop; others: bf16};
     * null for exact sums.
     */
    public Builder sync(String rules) {
      sync = rules;
      return this;
    }

    /**
     * Lets half of the devices run ahead on an approximate attention, such as {@code
     * lambda=0.1,chunk=128}; null for none.
     */
    public Builder speculate(String text) {
      speculate = text;
      return this;
    }

    /** A file of {@code partita calibrate}, for sums in few bits; null for none. */
    public Builder calibration(Path file) {
      calibration = file;
      return this;
    }

    /** A file of {@code partita rank}, for rules that name ranked blocks; null for none. */
    public Builder ranking(Path file) {
      ranking = file;
      return this;
    }

    /** Chooses the best strategy and algorithms for this target; null for no planning. */
    public Builder plan(String target) {
      plan = target;
      return this;
    }

    /** Passes to run instead of the default ones; null for the default. */
    public Builder passes(String pipeline) {
      passes = pipeline;
      return this;
    }

    /**
     * Quantizes the ONNX model first, with the options of {@code partita quantize}, such as {@code
     * calibration=eval.npz,weights=int4,group=64}; null for no quantization.
     */
    public Builder quantize(String text) {
      quantize = text;
      return this;
    }

    /** Positions of the KV cache. */
    public Builder cacheCapacity(long positions) {
      cacheCapacity = OptionalLong.of(positions);
      return this;
    }

    /** The number of prompt tokens that a decoder also takes at once. */
    public Builder chunk(long tokens) {
      chunk = OptionalLong.of(tokens);
      return this;
    }

    /** An export of the same model without cache, which takes the tokens of a chunk; or null. */
    public Builder promptModel(Path file) {
      promptModel = file;
      return this;
    }

    /** The package of the class, for Java; null for none. */
    public Builder packageName(String name) {
      packageName = name;
      return this;
    }

    /** The simple name of the class, for Java; null for {@code Model}. */
    public Builder className(String name) {
      className = name;
      return this;
    }

    /** The command line that asks for this compilation, for the program's report; null for none. */
    public Builder command(String line) {
      command = line;
      return this;
    }

    public CompileOptions build() {
      return new CompileOptions(new Builder(this));
    }
  }
}
