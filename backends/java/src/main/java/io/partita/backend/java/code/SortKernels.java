package io.partita.backend.java.code;

/** Selections by order. */
final class SortKernels {
  private SortKernels() {}

  private static final Kernel SIFT =
      Kernel.of(
          "Restores a heap of indices whose root is the last in order.",
          """
          static void sift(long[] keys, int[] heap, int root, int size) {
            int at = root;
            for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
              if (child + 1 < size && isBefore(keys, heap[child], heap[child + 1])) {
                child++;
              }
              if (isBefore(keys, heap[child], heap[at])) {
                return;
              }
              int place = heap[at];
              heap[at] = heap[child];
              heap[child] = place;
              at = child;
            }
          }
          """,
          Kernel.of(
              "Whether an index sorts before another: by key, then by index.",
              """
              static boolean isBefore(long[] keys, int left, int right) {
                return keys[left] < keys[right] || keys[left] == keys[right] && left < right;
              }
              """));

  static final Kernel SMALLEST =
      Kernel.of(
          "The indices of the count smallest keys in order, equal keys by index, using a heap.",
          """
          static void smallest(long[] keys, int extent, int count, int[] places) {
            for (int i = 0; i < count; i++) {
              places[i] = i;
            }
            for (int i = count / 2 - 1; i >= 0; i--) {
              sift(keys, places, i, count);
            }
            for (int i = count; i < extent; i++) {
              if (keys[i] < keys[places[0]]) {
                places[0] = i;
                sift(keys, places, 0, count);
              }
            }
            for (int end = count - 1; end > 0; end--) {
              int last = places[0];
              places[0] = places[end];
              places[end] = last;
              sift(keys, places, 0, end);
            }
          }
          """,
          SIFT);
}
