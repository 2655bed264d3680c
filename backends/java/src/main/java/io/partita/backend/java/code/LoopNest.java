package io.partita.backend.java.code;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Nested loops with constant extents over several arrays, each with constant strides.
 *
 * @param extents of the loops, outermost first; none is 1
 * @param accesses one for each array
 */
record LoopNest(List<Long> extents, List<Access> accesses) {
  /** The index of an array's element: {@code offset + Σ index · stride}. */
  record Access(long offset, List<Long> strides) {
    static Access of(long offset, long... strides) {
      return new Access(offset, Arrays.stream(strides).boxed().toList());
    }
  }

  /** Drops loops of extent 1 and merges adjacent loops that are contiguous in all arrays. */
  static LoopNest of(long[] extents, List<Access> accesses) {
    List<Long> merged = new ArrayList<>();
    List<List<Long>> strides = new ArrayList<>();
    accesses.forEach(access -> strides.add(new ArrayList<>()));
    for (int axis = 0; axis < extents.length; axis++) {
      if (extents[axis] == 1) {
        continue;
      }
      int at = axis;
      boolean joins =
          !merged.isEmpty()
              && java.util.stream.IntStream.range(0, strides.size())
                  .allMatch(
                      i ->
                          strides.get(i).getLast()
                              == accesses.get(i).strides().get(at) * extents[at]);
      if (joins) {
        merged.set(merged.size() - 1, merged.getLast() * extents[axis]);
      } else {
        merged.add(extents[axis]);
      }
      for (int i = 0; i < strides.size(); i++) {
        long stride = accesses.get(i).strides().get(axis);
        if (joins) {
          strides.get(i).set(strides.get(i).size() - 1, stride);
        } else {
          strides.get(i).add(stride);
        }
      }
    }
    List<Access> walked = new ArrayList<>();
    for (int i = 0; i < accesses.size(); i++) {
      walked.add(new Access(accesses.get(i).offset(), List.copyOf(strides.get(i))));
    }
    return new LoopNest(List.copyOf(merged), List.copyOf(walked));
  }

  int depth() {
    return extents.size();
  }

  /** Whether the nest has no iterations. */
  boolean isEmpty() {
    return extents.contains(0L);
  }

  /** Opens the loops {@code for (int i0 = …)}; the prefix names the index variables. */
  void open(Body body, String prefix) {
    for (int axis = 0; axis < depth(); axis++) {
      body.open(loop(prefix + axis, extents.get(axis)));
    }
  }

  /** The loops around a statement, as lines of Java. */
  String around(String statement, String prefix) {
    StringBuilder text = new StringBuilder();
    for (int axis = 0; axis < depth(); axis++) {
      text.append(loop(prefix + axis, extents.get(axis))).append(" {\n");
    }
    return text.append(statement).append(";\n").append("}\n".repeat(depth())).toString();
  }

  /** The index into array {@code i} in the current iteration. */
  String index(int i, String prefix) {
    Access access = accesses.get(i);
    return index(access.offset(), access.strides(), prefix);
  }

  static String loop(String variable, Object extent) {
    return "for (int " + variable + " = 0; " + variable + " < " + extent + "; " + variable + "++)";
  }

  /** {@code offset + i0 * 512 + i1}. */
  static String index(long offset, List<Long> strides, String prefix) {
    StringBuilder text = new StringBuilder();
    if (offset != 0) {
      text.append(offset);
    }
    for (int axis = 0; axis < strides.size(); axis++) {
      long stride = strides.get(axis);
      if (stride == 0) {
        continue;
      }
      if (!text.isEmpty()) {
        text.append(stride < 0 ? " - " : " + ");
      } else if (stride < 0) {
        text.append('-');
      }
      text.append(prefix).append(axis);
      if (Math.abs(stride) != 1) {
        text.append(" * ").append(Math.abs(stride));
      }
    }
    return text.isEmpty() ? "0" : text.toString();
  }
}
