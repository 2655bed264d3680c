package io.partita.ir.schedule;

import io.partita.ir.graph.InputRange;
import io.partita.ir.graph.Origin;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * What chips of one role do: those of which the programs differ in constants and peers only.
 *
 * @param devices which chips of the mesh have the role, ascending
 * @param cores that compute: all together where they share {@link #working}, else each on tiles of
 *     its own
 * @param memories from the nearest to the cores to the farthest: kernels work in the first, whole
 *     tensors lie in the second while steps use them, and the others are reached by transfers
 * @param kernels the loops that steps run, each once
 * @param start steps that run once, before the first run
 * @param steps one run; transfers that are under way when it begins are so again when it ends
 * @param inputs what a caller writes to {@link #home} before a run
 * @param outputs what a caller reads from there after it
 * @param states what stays from run to run, and is zero before the first and after a reset
 * @param constants the weights image
 * @param residences what lies in {@link #home} at which steps
 * @param meaning what steps compute; none where it isn't known
 */
public record ChipSchedule(
    List<Integer> devices,
    CoreGrid cores,
    List<MemoryUse> memories,
    List<TiledKernel> kernels,
    List<ScheduleStep> start,
    List<ScheduleStep> steps,
    List<Port> inputs,
    List<Port> outputs,
    List<Port> states,
    List<StoredConstant> constants,
    List<Residence> residences,
    Optional<StepMeaning> meaning) {
  /** The number of the memory that kernels work in. */
  public static final int WORKING = 0;

  /** The number of the memory where whole tensors lie. */
  public static final int HOME = 1;

  public ChipSchedule {
    devices = List.copyOf(devices);
    memories = List.copyOf(memories);
    kernels = List.copyOf(kernels);
    start = List.copyOf(start);
    steps = List.copyOf(steps);
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    states = List.copyOf(states);
    constants = List.copyOf(constants);
    residences = List.copyOf(residences);
  }

  /** The memory that kernels work in. */
  public MemoryUse working() {
    return memories.get(WORKING);
  }

  /** The memory that loops load from and store to. */
  public MemoryUse home() {
    return memories.get(HOME);
  }

  /** What is used of the memories from here on, which are reached by transfers. */
  public List<MemoryUse> farther() {
    return memories.subList(HOME + 1, memories.size());
  }

  /**
   * A tensor by its name in the model, without gaps, row by row.
   *
   * @param range the values that it may hold; none where it may hold any
   */
  public record Port(String name, TensorType type, Address at, Optional<InputRange> range) {
    public Port(String name, TensorType type, Address at) {
      this(name, type, at, Optional.empty());
    }
  }

  /**
   * A part of the image that is in memory when the program starts.
   *
   * @param origin of the constant in the model
   * @param text which tensor it is, with its shape, and how it was changed
   * @param tensors for each of the devices of the role, in their order: elements as they're stored
   */
  public record StoredConstant(
      Origin origin, String text, Address at, long bytes, List<Tensor> tensors) {
    public StoredConstant {
      tensors = List.copyOf(tensors);
    }

    /** Its name in the model. */
    public String name() {
      return origin.name();
    }
  }

  /**
   * Bytes of {@link ChipSchedule#home} that belong to one thing for some steps: a value and its
   * views, a constant, room for messages.
   *
   * @param name of the value, as in the model
   * @param first index of the first step that touches it; -1 for what is there before a run
   * @param last index of the last one; the number of steps for what is there after a run
   */
  public record Residence(String name, long offset, long bytes, int first, int last) {}
}
