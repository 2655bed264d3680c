package io.partita.ir.target;

/**
 * How cores share what a kernel computes, as its header in runtime-c says.
 *
 * <ul>
 *   <li>With {@code rows} and {@code columns}: each core takes blocks of so many results, whole
 *       ones and those at the edges alike.
 *   <li>With {@code columns} alone: each core takes as many elements of all lines together, in
 *       parts of so many; its blocks are the lines that it walks along.
 *   <li>Without both: each core takes whole lines. Of fewer lines than cores, each core takes a
 *       part of each line, but does all of what isn't in {@code split} for it.
 * </ul>
 *
 * @param split how much of a line's work can be shared: none at 0, all at 1
 */
public record WorkSharing(long rows, long columns, double split) {
  /**
   * What one core has.
   *
   * @param results that it computes
   * @param work in multiply-accumulates, or in elements times passes
   */
  public record Part(double blocks, double results, double work) {}

  /** What the core has that has most, of {@code batch × rows × columns} results. */
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
    long all = batch * Math.ceilDiv(rows, this.rows) * Math.ceilDiv(columns, this.columns);
    double blocks = Math.ceilDiv(all, cores);
    double results = blocks * Math.min(rows, this.rows) * Math.min(columns, this.columns);
    return new Part(blocks, results, results * depth);
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
