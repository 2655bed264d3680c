package io.partita.passes.mesh.sync;

import io.partita.ir.graph.Node;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A set of blocks of a model, counted from 0.
 *
 * @param isComplement whether the blocks are all but those in the ranges
 * @param sync the name of the only sync to rewrite in them; empty for all
 */
public record BlockSelection(List<Range> ranges, boolean isComplement, Optional<String> sync) {
  /** No block. */
  public static final BlockSelection NONE = new BlockSelection(List.of(), false);

  /** All blocks. */
  public static final BlockSelection ALL = allBut(List.of());

  /** The blocks that other selections leave, which is resolved when all are known. */
  static final BlockSelection OTHERS = new BlockSelection(List.of(new Range(-1, -1)), false);

  private static final Pattern RANGE = Pattern.compile("([0-9]{1,6})(?:-([0-9]{1,6}))?");

  /** The blocks from {@code first} to {@code last}, inclusive. */
  public record Range(int first, int last) {
    boolean overlaps(Range other) {
      return first <= other.last && other.first <= last;
    }

    @Override
    public String toString() {
      return first == last ? "" + first : first + "-" + last;
    }
  }

  public BlockSelection {
    ranges = List.copyOf(ranges);
  }

  /** A selection of all syncs of blocks. */
  public BlockSelection(List<Range> ranges, boolean isComplement) {
    this(ranges, isComplement, Optional.empty());
  }

  /** One sync of a block. */
  static BlockSelection only(int block, String sync) {
    return new BlockSelection(List.of(new Range(block, block)), false, Optional.of(sync));
  }

  static BlockSelection allBut(List<Range> ranges) {
    return new BlockSelection(ranges, true);
  }

  /** Parses {@code all}, or numbers and ranges such as {@code 0-3+5}; empty for other text. */
  public static Optional<BlockSelection> parse(String text) {
    if (text.equals("all")) {
      return Optional.of(ALL);
    }
    List<Range> ranges = new ArrayList<>();
    for (String part : text.split("\\+", -1)) {
      Matcher matcher = RANGE.matcher(part);
      if (!matcher.matches()) {
        return Optional.empty();
      }
      int first = Integer.parseInt(matcher.group(1));
      int last = matcher.group(2) == null ? first : Integer.parseInt(matcher.group(2));
      if (last < first) {
        return Optional.empty();
      }
      ranges.add(new Range(first, last));
    }
    return Optional.of(new BlockSelection(ranges, false));
  }

  public boolean contains(int block) {
    return isComplement
        != ranges.stream().anyMatch(range -> range.first() <= block && block <= range.last());
  }

  /** Whether a sync of a block is to be rewritten. */
  boolean contains(int block, Node node) {
    return contains(block) && sync.map(node.name()::equals).orElse(true);
  }

  /** Whether both may contain the same block. */
  boolean overlaps(BlockSelection other) {
    if (isComplement && other.isComplement) {
      return true;
    } else if (isComplement) {
      return other.overlaps(this);
    } else if (other.isComplement) {
      return ranges.stream().anyMatch(range -> !other.excludes(range));
    }
    return ranges.stream().anyMatch(range -> other.ranges.stream().anyMatch(range::overlaps));
  }

  private boolean excludes(Range blocks) {
    int next = blocks.first;
    for (Range range : ranges.stream().sorted(Comparator.comparingInt(Range::first)).toList()) {
      next = range.first <= next ? Math.max(next, range.last + 1) : next;
    }
    return next > blocks.last;
  }

  /** Returns the union of selections. */
  static BlockSelection union(List<BlockSelection> selections) {
    List<Range> within =
        selections.stream()
            .filter(each -> !each.isComplement)
            .flatMap(each -> each.ranges.stream())
            .toList();
    BlockSelection some = new BlockSelection(within, false);
    return selections.stream()
        .filter(each -> each.isComplement)
        .findFirst()
        .map(each -> each.with(some))
        .orElse(some);
  }

  /** Returns the complement of ranges that are disjoint from the others. */
  private BlockSelection with(BlockSelection others) {
    return allBut(
        ranges.stream()
            .filter(range -> !others.overlaps(new BlockSelection(List.of(range), false)))
            .toList());
  }

  boolean isEmpty() {
    return ranges.isEmpty() && !isComplement;
  }

  /** Returns the beginning of a clause: {@code blocks 0-3,5}, {@code all}, or {@code others}. */
  String clause() {
    if (isComplement || equals(OTHERS)) {
      return ranges.isEmpty() ? "all" : "others";
    }
    return "blocks " + ranges.stream().map(Range::toString).collect(Collectors.joining(","));
  }

  /**
   * Checks that the model has all named blocks.
   *
   * @param where the option that names them
   * @param count the number of blocks of the model
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#BLOCKS}
   */
  public void require(String where, int count) {
    int last = ranges.stream().map(Range::last).max(Comparator.naturalOrder()).orElse(0);
    if (last >= count) {
      throw SyncCode.BLOCKS.at(
          where,
          count == 0 ? "a model with attention" : "numbers from 0 to " + (count - 1),
          count == 0 ? "none" : last,
          count == 0 ? "run raise first, which finds attention" : "");
    }
  }
}
