package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import io.partita.ir.type.ElementType;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A kind of chip.
 *
 * @param kernels what plans reckon with
 * @param functions kernels of the runtime, which schedules reckon with where they are there
 * @param memories from the nearest to the cores, which kernels work on, to the farthest
 */
public record ChipKind(
    String name,
    Figures figures,
    List<Memory> memories,
    List<DmaChannel> channels,
    List<KernelThroughput> kernels,
    List<FunctionThroughput> functions) {
  static final List<Field> FIELDS =
      List.of(
          Field.required("cores", Dimension.COUNT, Range.POSITIVE_WHOLE),
          Field.optional("core-rows", Dimension.COUNT, Range.POSITIVE_WHOLE),
          Field.required("clock", Dimension.FREQUENCY, Range.POSITIVE),
          Field.text("isa"),
          Field.text("operating-point"),
          Field.required("power", Dimension.WATTS, Range.ANY),
          Field.optional("warm-kernels", Dimension.COUNT, Range.POSITIVE_WHOLE),
          Field.optional("warm-functions", Dimension.COUNT, Range.POSITIVE_WHOLE),
          Field.optional("loop", Dimension.CYCLES, Range.ANY),
          Field.optional("operand", Dimension.CYCLES, Range.ANY),
          Field.optional("call", Dimension.CYCLES, Range.ANY),
          Field.optional("tile", Dimension.CYCLES, Range.ANY),
          Field.optional("move", Dimension.CYCLES, Range.ANY),
          Field.optional("exchange", Dimension.CYCLES, Range.ANY),
          Field.optional("message", Dimension.CYCLES, Range.ANY));

  public ChipKind {
    memories = List.copyOf(memories);
    channels = List.copyOf(channels);
    kernels = List.copyOf(kernels);
    functions = List.copyOf(functions);
  }

  /** Without kernels of the runtime. */
  public ChipKind(
      String name,
      Figures figures,
      List<Memory> memories,
      List<DmaChannel> channels,
      List<KernelThroughput> kernels) {
    this(name, figures, memories, channels, kernels, List.of());
  }

  public int cores() {
    return (int) figures.whole("cores");
  }

  /** Of the grid that cores are in; it has as many columns as there are cores for. */
  public int coreRows() {
    return (int) figures.number("core-rows", 1);
  }

  /**
   * One of the cores with an equal share of all rates and of the working memory, for cores that
   * compute on tiles of their own.
   */
  public ChipKind oneCore() {
    double share = 1.0 / cores();
    return new ChipKind(
        name,
        figures.with("cores", 1).with("core-rows", 1),
        memories,
        channels.stream()
            .map(
                each ->
                    new DmaChannel(
                        each.from(),
                        each.to(),
                        each.bothWays(),
                        each.figures().scaled("rate", share)))
            .toList(),
        kernels.stream()
            .map(
                each ->
                    new KernelThroughput(
                        each.kernel(), each.element(), each.figures().scaled("rate", share)))
            .toList(),
        functions.stream()
            .map(
                each ->
                    new FunctionThroughput(
                        each.kernel(), each.function(), each.figures().scaled("rate", share)))
            .toList());
  }

  public double hertz() {
    return figures.number("clock");
  }

  /** The instruction set, as compilers call it. */
  public String instructionSet() {
    return figures.text("isa");
  }

  /** Voltage and clocks that the figures hold for, in words. */
  public String operatingPoint() {
    return figures.text("operating-point");
  }

  /** Of one core while it computes. */
  public double wattsPerCore() {
    return figures.number("power");
  }

  /** How many kernels' instructions the cache holds; the last ones that ran start without delay. */
  public int warmKernels() {
    return (int) figures.number("warm-kernels", 1);
  }

  /** The same of the runtime's functions, in schedules. */
  public int warmFunctions() {
    return (int) figures.number("warm-functions", 1);
  }

  /** Of a loop over tiles, until its first kernel starts, with none of its code in the cache. */
  public double loopCycles() {
    return figures.number("loop", 0);
  }

  /** More for each operand that it moves: the code for that. */
  public double operandCycles() {
    return figures.number("operand", 0);
  }

  /** More for each kernel that it starts in a tile but for one. */
  public double callCycles() {
    return figures.number("call", 0);
  }

  /** Around each kernel of a further tile: what cores wait for, whatever moves. */
  public double tileCycles() {
    return figures.number("tile", 0);
  }

  /** More for each operand of which a further tile is moved. */
  public double moveCycles() {
    return figures.number("move", 0);
  }

  /** Until the first message of an exchange, with none of its code in the cache. */
  public double exchangeCycles() {
    return figures.number("exchange", 0);
  }

  /** More for each message that it sends or receives, beside what the link takes. */
  public double messageCycles() {
    return figures.number("message", 0);
  }

  public Optional<Memory> memory(String memory) {
    return memories.stream().filter(each -> each.name().equals(memory)).findFirst();
  }

  /** The memory that kernels work on. */
  public Memory working() {
    return memories.getFirst();
  }

  /** The largest memory on the chip, or the working one: where weights stay if they fit. */
  public Memory resident() {
    Memory largest = working();
    for (Memory memory : memories) {
      if (memory.scope() != Memory.Scope.OFF_CHIP && memory.bytes() > largest.bytes()) {
        largest = memory;
      }
    }
    return largest;
  }

  /**
   * The memory that kernels' tiles come from, where tensors lie while they are used: the largest on
   * the chip but for the working one, however small it is, or the nearest one outside.
   */
  public Optional<Memory> home() {
    List<Memory> others = memories.subList(1, memories.size());
    return others.stream()
        .filter(memory -> memory.scope() != Memory.Scope.OFF_CHIP)
        .max(Comparator.comparingLong(Memory::bytes))
        .or(() -> others.stream().findFirst());
  }

  /** The memory outside the chip that holds what has no room at home. */
  public Optional<Memory> far() {
    return memories.stream()
        .filter(memory -> memory.scope() == Memory.Scope.OFF_CHIP)
        .filter(memory -> !Optional.of(memory).equals(home()))
        .findFirst();
  }

  public Optional<DmaChannel> channel(String from, String to) {
    return channels.stream().filter(channel -> channel.joins(from, to)).findFirst();
  }

  /**
   * @param function in C without the runtime's prefix, {@code gemm_f32}
   */
  public Optional<FunctionThroughput> function(String function) {
    return functions.stream().filter(each -> each.function().equals(function)).findFirst();
  }

  public Optional<KernelThroughput> throughput(KernelClass kernel, ElementType element) {
    return kernels.stream()
        .filter(each -> each.kernel() == kernel && each.element() == element)
        .findFirst();
  }
}
