package io.partita.ir.target;

import io.partita.ir.target.Field.Range;
import io.partita.ir.type.ElementType;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A kind of chip.
 *
 * @param kernels the throughputs that bounds of plans use
 * @param functions the throughputs of kernels of the runtime, which schedules use if available
 * @param memories the memories from the nearest to the cores, on which kernels work, to the
 *     farthest
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
          Field.optional("sum-bits", Dimension.COUNT, Range.POSITIVE_WHOLE),
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

  /** Creates a chip without throughputs of the runtime. */
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

  /** Returns the rows of the grid of cores. */
  public int coreRows() {
    return (int) figures.number("core-rows", 1);
  }

  /**
   * Returns the bits of the registers in which cores sum products of elements of 16 bits: 16 or 32.
   */
  public int sumBits() {
    return (int) figures.number("sum-bits", Float.SIZE);
  }

  /** Returns a chip that sums products of elements of 16 bits in other registers. */
  public ChipKind withSumBits(int bits) {
    return new ChipKind(
        name, figures.with("sum-bits", bits), memories, channels, kernels, functions);
  }

  /**
   * Returns a chip of one core with an equal share of all throughputs, for cores that compute on
   * private tiles.
   */
  public ChipKind oneCore() {
    double share = 1.0 / cores();
    List<DmaChannel> shared = channels.stream().map(each -> each.withRate(share)).toList();
    return onGrid(1, 1, memories, shared);
  }

  /**
   * Returns a chip with another grid of cores, and a share of the throughputs of kernels and of
   * memories that each core has a part of. Transfers keep their rates, since what they reach is
   * outside of the cores.
   */
  public ChipKind onGrid(int columns, int rows) {
    List<Memory> parts =
        memories.stream()
            .map(each -> each.scope() == Memory.Scope.CORE ? part(each, columns * rows) : each)
            .toList();
    return onGrid(columns, rows, parts, channels);
  }

  private Memory part(Memory memory, int parts) {
    return memory.resized(new Quantity(memory.bytes() / cores() * parts, Unit.B));
  }

  private ChipKind onGrid(int columns, int rows, List<Memory> memories, List<DmaChannel> channels) {
    double share = (double) columns * rows / cores();
    return new ChipKind(
        name,
        figures.with("cores", columns * rows).with("core-rows", rows),
        memories,
        channels,
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

  /** Returns the instruction set, by its name in compilers. */
  public String instructionSet() {
    return figures.text("isa");
  }

  /** Returns the voltage and clocks at which the figures were measured. */
  public String operatingPoint() {
    return figures.text("operating-point");
  }

  /** Returns the power of one computing core, in watts. */
  public double wattsPerCore() {
    return figures.number("power");
  }

  /**
   * Returns the number of kernels whose instructions the cache holds: the most recent ones start
   * without delay.
   */
  public int warmKernels() {
    return (int) figures.number("warm-kernels", 1);
  }

  /**
   * Returns the number of the runtime's functions whose instructions the cache holds, in schedules.
   */
  public int warmFunctions() {
    return (int) figures.number("warm-functions", 1);
  }

  /** Returns the cycles of a loop over tiles until its first kernel starts, without cached code. */
  public double loopCycles() {
    return figures.number("loop", 0);
  }

  /** Returns the additional cycles for each operand that a loop moves. */
  public double operandCycles() {
    return figures.number("operand", 0);
  }

  /** Returns the additional cycles for each kernel of a tile after the first. */
  public double callCycles() {
    return figures.number("call", 0);
  }

  /** Returns the cycles of synchronisation around each kernel of further tiles. */
  public double tileCycles() {
    return figures.number("tile", 0);
  }

  /** Returns the additional cycles for each operand of which a further tile is moved. */
  public double moveCycles() {
    return figures.number("move", 0);
  }

  /** Returns the cycles of an exchange until its first message, without cached code. */
  public double exchangeCycles() {
    return figures.number("exchange", 0);
  }

  /** Returns the additional cycles for each message of an exchange, besides those of the link. */
  public double messageCycles() {
    return figures.number("message", 0);
  }

  public Optional<Memory> memory(String memory) {
    return memories.stream().filter(each -> each.name().equals(memory)).findFirst();
  }

  /** Returns the memory on which kernels work. */
  public Memory working() {
    return memories.getFirst();
  }

  /** Returns the largest memory on the chip, which holds resident weights. */
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
   * Returns the memory of live tensors, from which tiles are loaded: the largest memory on the chip
   * except the working memory, or else the nearest one outside.
   */
  public Optional<Memory> home() {
    List<Memory> others = memories.subList(1, memories.size());
    return others.stream()
        .filter(memory -> memory.scope() != Memory.Scope.OFF_CHIP)
        .max(Comparator.comparingLong(Memory::bytes))
        .or(() -> others.stream().findFirst());
  }

  /** Returns the memory outside the chip for tensors that don't fit the home memory. */
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
   * @param function its name in C without the runtime's prefix, such as {@code gemm_f32}
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
