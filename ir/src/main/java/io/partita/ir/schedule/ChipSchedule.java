package io.partita.ir.schedule;

import io.partita.ir.graph.InputRange;
import io.partita.ir.graph.Origin;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * The schedule of the chips of a role, whose programs differ only in constants and peers.
 *
 * @param devices the chips of the role, in ascending order
 * @param cores the computing cores: together if they share {@link #working}, or else each on its
 *     own tiles
 * @param memories the memories, nearest to the cores first: kernels use the first one, the second
 *     one holds whole tensors while steps use them, and transfers reach the others
 * @param kernels the distinct loops of steps
 * @param start the steps before the first run
 * @param steps the steps of a run; transfers that are in flight at its beginning are in flight at
 *     its end again
 * @param inputs the inputs, which a caller writes to {@link #home} before a run
 * @param outputs the outputs, which a caller reads from there afterwards
 * @param states the state between runs, which is zero before the first run and after a reset
 * @param constants the image of weights
 * @param residences the live ranges in {@link #home} and {@link #working}
 * @param meaning the values that steps compute; empty if unknown
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
  /** The number of the working memory of kernels. */
  public static final int WORKING = 0;

  /** The number of the memory of whole tensors. */
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

  /**
   * Whether the step after a preload, and after others, starts its transfer instead of itself.
   *
   * @param preload the index of the step in a run; negative before the first run
   */
  public boolean isStartedByNext(int preload) {
    if (preload < 0) {
      return false;
    }
    int next = preload + 1;
    while (next < steps.size() && steps.get(next) instanceof ScheduleStep.Preload) {
      next++;
    }
    return next < steps.size() && steps.get(next).startsPreloads();
  }

  /** Returns the working memory of kernels. */
  public MemoryUse working() {
    return memories.get(WORKING);
  }

  /** Returns the memory from which loops load and to which they store. */
  public MemoryUse home() {
    return memories.get(HOME);
  }

  /** Returns the uses of the memories that transfers reach. */
  public List<MemoryUse> farther() {
    return memories.subList(HOME + 1, memories.size());
  }

  /**
   * A contiguous, row-major tensor with its name in the model.
   *
   * @param range the valid values; empty if all are valid
   */
  public record Port(String name, TensorType type, Address at, Optional<InputRange> range) {
    public Port(String name, TensorType type, Address at) {
      this(name, type, at, Optional.empty());
    }
  }

  /**
   * A part of the initial image of memory.
   *
   * @param origin the origin of the constant in the model
   * @param text the tensor with its shape and its changes, for readers
   * @param tensors the stored elements on each device of the role, in order
   */
  public record StoredConstant(
      Origin origin, String text, Address at, long bytes, List<Tensor> tensors) {
    public StoredConstant {
      tensors = List.copyOf(tensors);
    }

    /** The name in the model. */
    public String name() {
      return origin.name();
    }
  }

  /**
   * Bytes of the home memory, or of the working one, that belong to one object during some steps: a
   * value with its views, a constant, or a buffer of messages.
   *
   * @param name the name of the value in the model
   * @param first the index of the first step that uses it; -1 if it exists before a run
   * @param last the index of the last one; the number of steps if it exists after a run
   */
  public record Residence(String name, Address at, long bytes, int first, int last) {
    public long offset() {
      return at.offset();
    }

    boolean holds(Address address) {
      return at.memory() == address.memory()
          && at.offset() <= address.offset()
          && address.offset() < at.offset() + bytes;
    }
  }
}
