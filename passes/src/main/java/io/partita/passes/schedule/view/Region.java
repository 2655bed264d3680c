package io.partita.passes.schedule.view;

import io.partita.ir.tensor.Tensor;
import java.util.List;

/** Contiguous bytes of a memory, without an address yet. Regions are compared by identity. */
public final class Region {
  /** The lifetime of a region. */
  public enum Kind {
    /** Lives from its first to its last use in a run. */
    ACTIVATION,
    /** Persists between runs. */
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

  /** Returns the name of the value that it was made for. */
  public String name() {
    return name;
  }

  public Kind kind() {
    return kind;
  }

  public long bytes() {
    return bytes;
  }

  /** Returns its contents on each device, if it is constant. */
  public List<Tensor> tensors() {
    return tensors;
  }

  @Override
  public String toString() {
    return name + " (" + bytes + " B)";
  }
}
