package io.partita.passes.schedule.view;

import io.partita.ir.graph.Origin;
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

  private final Origin origin;
  private final Kind kind;
  private final long bytes;
  private final List<Tensor> tensors;
  private final List<Region> parts;

  private Region(Origin origin, Kind kind, long bytes, List<Tensor> tensors, List<Region> parts) {
    this.origin = origin;
    this.kind = kind;
    this.bytes = bytes;
    this.tensors = List.copyOf(tensors);
    this.parts = List.copyOf(parts);
  }

  public static Region activation(Origin origin, long bytes) {
    return new Region(origin, Kind.ACTIVATION, bytes, List.of(), List.of());
  }

  public static Region state(Origin origin, long bytes) {
    return new Region(origin, Kind.STATE, bytes, List.of(), List.of());
  }

  /**
   * @param tensors of one type, one for each device
   */
  public static Region constant(Origin origin, List<Tensor> tensors) {
    return new Region(origin, Kind.CONSTANT, tensors.getFirst().type().bytes(), tensors, List.of());
  }

  /** Returns a region of constants, one after the other without gaps. */
  public static Region constants(Origin origin, List<Region> parts) {
    long bytes = parts.stream().mapToLong(Region::bytes).sum();
    return new Region(origin, Kind.CONSTANT, bytes, List.of(), parts);
  }

  /** Returns the origin of the value that it was made for. */
  public Origin origin() {
    return origin;
  }

  /** Returns the name of the value that it was made for. */
  public String name() {
    return origin.name();
  }

  public Kind kind() {
    return kind;
  }

  public long bytes() {
    return bytes;
  }

  /** Returns the regions that it consists of: itself, unless it holds several constants. */
  public List<Region> parts() {
    return parts.isEmpty() ? List.of(this) : parts;
  }

  /** Returns its contents on each device, if it is one constant. */
  public List<Tensor> tensors() {
    return tensors;
  }

  @Override
  public String toString() {
    return name() + " (" + bytes + " B)";
  }
}
