package io.partita.ir.schedule;

import io.partita.ir.graph.InputRange;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * What chips of one role do: those of which the programs differ in constants and peers only.
 *
 * @param devices which chips of the mesh have the role, ascending
 * @param kernels the loops that steps run, each once
 * @param start steps that run once, before the first run
 * @param steps one run; transfers that are under way when it begins are so again when it ends
 * @param inputs what a caller writes to L2 before a run
 * @param outputs what a caller reads from L2 after it
 * @param states what stays from run to run, and is zero before the first and after a reset
 * @param constants the weights image
 * @param residences what lies in L2 at which steps
 * @param meaning what steps compute; none where it isn't known
 */
public record ChipSchedule(
    List<Integer> devices,
    List<TiledKernel> kernels,
    List<ScheduleStep> start,
    List<ScheduleStep> steps,
    List<Port> inputs,
    List<Port> outputs,
    List<Port> states,
    List<StoredConstant> constants,
    MemoryUse l1,
    MemoryUse l2,
    MemoryUse l3,
    List<Residence> residences,
    Optional<StepMeaning> meaning) {
  public ChipSchedule {
    devices = List.copyOf(devices);
    kernels = List.copyOf(kernels);
    start = List.copyOf(start);
    steps = List.copyOf(steps);
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    states = List.copyOf(states);
    constants = List.copyOf(constants);
    residences = List.copyOf(residences);
  }

  /** Where a tensor lies. */
  public enum Level {
    L2,
    L3
  }

  /**
   * A tensor by its name in the model, without gaps, row by row, from an offset in bytes.
   *
   * @param range the values that it may hold; none where it may hold any
   */
  public record Port(
      String name, TensorType type, Level level, long offset, Optional<InputRange> range) {
    public Port(String name, TensorType type, Level level, long offset) {
      this(name, type, level, offset, Optional.empty());
    }
  }

  /**
   * A part of the image that is in memory when the program starts.
   *
   * @param text which tensor it is, with its shape, and how it was changed
   * @param tensors for each of the devices of the role, in their order: elements as they're stored
   */
  public record StoredConstant(
      String name, String text, Level level, long offset, long bytes, List<Tensor> tensors) {
    public StoredConstant {
      tensors = List.copyOf(tensors);
    }
  }

  /**
   * Bytes of L2 that belong to one thing for some steps: a value and its views, a constant, room
   * for messages.
   *
   * @param name of the value, as in the model
   * @param first index of the first step that touches it; -1 for what is there before a run
   * @param last index of the last one; the number of steps for what is there after a run
   */
  public record Residence(String name, long offset, long bytes, int first, int last) {}

  /**
   * @param used bytes from offset 0 on
   * @param needed the most that is alive at once: what no placement can be below
   * @param available what the target has
   */
  public record MemoryUse(long used, long needed, long available) {}
}
