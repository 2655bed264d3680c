package io.partita.passes.schedule.view;

import io.partita.ir.tensor.Tensor;
import java.util.List;

/** Bytes that lie together in a memory; where they lie is open. Its identity is what counts. */
public final class Region {
  /** How long a region is needed. */
  public enum Kind {
    /** From the step that first touches it to the last one. */
    ACTIVATION,
    /** From run to run. */
    STATE,
    /** Never written. */
    CONSTANT
  }

  private final String name;
  private final Kind kind;
  private final long bytes;
  private final List<Tensor> tensors;

  private Region(String name, Kind kind, long bytes, List<Tensor> tensors) {
    this.name = name;
    this.kind = kind;
    this.bytes = bytes;
    this.tensors = List.copyOf(tensors);
  }

  public static Region activation(String name, long bytes) {
    return new Region(name, Kind.ACTIVATION, bytes, List.of());
  }

  public static Region state(String name, long bytes) {
    return new Region(name, Kind.STATE, bytes, List.of());
  }

  /**
   * @param tensors of one type, one for each device
   */
  public static Region constant(String name, List<Tensor> tensors) {
    return new Region(name, Kind.CONSTANT, tensors.getFirst().type().bytes(), tensors);
  }

  /** Of the value that it was made for. */
  public String name() {
    return name;
  }

  public Kind kind() {
    return kind;
  }

  public long bytes() {
    return bytes;
  }

  /** What it holds on each of the devices, where it's constant. */
  public List<Tensor> tensors() {
    return tensors;
  }

  @Override
  public String toString() {
    return name + " (" + bytes + " B)";
  }
}
