package io.partita.ir.schedule.kernel;

import static io.partita.ir.schedule.kernel.KernelAccess.Kind.READ;
import static io.partita.ir.schedule.kernel.KernelAccess.Kind.WRITE;
import static io.partita.ir.schedule.kernel.KernelAccess.contiguous;

import io.partita.ir.schedule.kernel.KernelAccess.Kind;
import io.partita.ir.schedule.kernel.KernelAccess.Step;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Collects the accesses of a kernel in one tile, as its struct defines. */
public final class Accesses {
  private final Kernel kernel;
  private final FieldValues fields;
  private final List<KernelAccess> all = new ArrayList<>();

  private Accesses(Kernel kernel, FieldValues fields) {
    this.kernel = kernel;
    this.fields = fields;
  }

  /** Returns the accesses in one tile, reads before writes. */
  public static List<KernelAccess> of(Kernel kernel, FieldValues fields) {
    Accesses accesses = new Accesses(kernel, fields);
    kernel.struct().accesses().accept(accesses);
    return accesses.all;
  }

  /** Returns one of the element types of the kernel. */
  int bits(int index) {
    return kernel.elements().get(index).bits();
  }

  long get(String field) {
    return fields.get(field);
  }

  boolean has(String pointer) {
    return fields.pointer(pointer).isPresent();
  }

  void add(String pointer, Kind kind, int bits, List<Step> steps) {
    all.add(new KernelAccess(pointer, kind, false, bits, steps));
  }

  void optional(String pointer, Kind kind, int bits, List<Step> steps) {
    all.add(new KernelAccess(pointer, kind, true, bits, steps));
  }

  Step step(String extent, String stride) {
    return new Step(fields.get(extent), fields.get(stride));
  }

  Step line(String extent) {
    return new Step(fields.get(extent), 1);
  }

  List<Step> steps(String extents, String strides) {
    List<Long> sizes = fields.all(extents);
    List<Long> each = fields.all(strides);
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < sizes.size(); i++) {
      steps.add(new Step(sizes.get(i), each.get(i)));
    }
    return steps;
  }

  long product(String extents) {
    return fields.all(extents).stream().reduce(1L, Math::multiplyExact);
  }

  List<Step> vector(String... extents) {
    return contiguous(Arrays.stream(extents).mapToLong(fields::get).toArray());
  }

  /** Adds contiguous elements, read from {@code x} and written to {@code out}. */
  void elements(int read, int written, long count) {
    add("x", READ, read, contiguous(count));
    add("out", WRITE, written, contiguous(count));
  }
}
