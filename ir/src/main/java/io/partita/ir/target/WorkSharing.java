package io.partita.ir.target;

import java.util.ArrayList;
import java.util.List;

/**
 * The division of a kernel's work among cores, as documented in its header in runtime-c.
 *
 * <ul>
 *   <li>With {@code rows} and {@code columns}: each core computes blocks of {@code rows × columns}
 *       results; blocks at the edges may be smaller. Where blocks of six rows would be few, they
 *       have four, and others are lower so that few single rows are left.
 *   <li>With only {@code columns}: each core computes an equal share of the elements of all lines,
 *       in chunks of {@code columns}; its blocks are the lines that its share crosses.
 *   <li>With neither: each core computes whole lines. If there are fewer lines than cores, each
 *       core computes a part of each line, and repeats the work of the line that is not in {@code
 *       split}.
 * </ul>
 *
 * @param split the fraction of a line's work that cores can share, from 0 to 1
 */
public record WorkSharing(long rows, long columns, double split) {
  /** The rows of a block of floats, and of one where blocks are few; as in gemm_f32.c. */
  private static final long TALL = 6;

  private static final long LOW = 4;

  /** The low blocks of each core from which on others are tall. */
  private static final long MANY = 16;

  /**
   * The share of one core.
   *
   * @param blocks the blocks or lines
   * @param results the results
   * @param work the work in multiply-accumulates, or in elements times passes
   */
  public record Part(double blocks, double results, double work) {}

  /** Whether each core computes whole lines. */
  public boolean isByLines() {
    return rows == 0 && columns == 0;
  }

  /**
   * Returns the largest share of a core for {@code batch × rows × columns} results of {@code depth}
   * units of work.
   */
  public Part most(long batch, long rows, long columns, long depth, int cores) {
    if (batch == 0 || rows == 0 || columns == 0) {
      return new Part(0, 0, 0);
    }
    if (this.rows > 0) {
      return blocks(batch, rows, columns, depth, cores);
    }
    return this.columns > 0
        ? parts(batch * rows, columns, depth, cores)
        : lines(batch * rows, columns, depth, cores);
  }

  private Part blocks(long batch, long rows, long columns, long depth, int cores) {
    if (this.rows == TALL) {
      return tall(batch, rows, columns, depth, cores);
    }
    long all = batch * Math.ceilDiv(rows, this.rows) * Math.ceilDiv(columns, this.columns);
    double blocks = Math.ceilDiv(all, cores);
    double results = blocks * Math.min(rows, this.rows) * Math.min(columns, this.columns);
    return new Part(blocks, results, results * depth);
  }

  private Part tall(long batch, long rows, long columns, long depth, int cores) {
    long width = Math.ceilDiv(columns, this.columns);
    long most = batch * Math.ceilDiv(rows, LOW) * width < MANY * cores ? LOW : TALL;
    List<Long> ends = new ArrayList<>();
    for (long row = 0; row < rows; ) {
      row += height(rows - row, most);
      ends.add(row);
    }
    long all = batch * ends.size() * width;
    double largest = 0;
    long before = 0;
    for (int core = 0; core < cores; core++) {
      long next = before + all / cores + (core < all % cores ? 1 : 0);
      largest = Math.max(largest, rows(next, ends, width) - rows(before, ends, width));
      before = next;
    }
    double results = largest * Math.min(columns, this.columns);
    return new Part(Math.ceilDiv(all, cores), results, results * depth);
  }

  /** Returns the rows of the next block of those that are left. */
  private static long height(long rows, long most) {
    long rest = rows % TALL;
    boolean isLow = rows < TALL || rows > TALL && (rest == 2 || rest == 3);
    return Math.min(rows, isLow ? LOW : most);
  }

  /** Returns the rows of the first blocks: those of a matrix are beside each other, then below. */
  private static long rows(long blocks, List<Long> ends, long width) {
    long lines = blocks / width;
    int below = (int) (lines % ends.size());
    long above = below == 0 ? 0 : ends.get(below - 1);
    return width * (lines / ends.size() * ends.getLast() + above)
        + blocks % width * (ends.get(below) - above);
  }

  private Part parts(long lines, long length, long depth, int cores) {
    double parts = Math.ceilDiv(lines * length, this.columns);
    double results = Math.ceil(parts / cores) * this.columns;
    double walked = lines == 1 ? 1 : Math.min(lines, results / length + 1);
    return new Part(walked, results, results * depth);
  }

  private Part lines(long lines, long length, long depth, int cores) {
    double each = Math.ceilDiv(lines, cores);
    if (lines < cores && split > 0) {
      double own = lines * length * (1 - split + split / cores);
      return new Part(lines, own, own * depth);
    }
    return new Part(each, each * length, each * length * depth);
  }
}
