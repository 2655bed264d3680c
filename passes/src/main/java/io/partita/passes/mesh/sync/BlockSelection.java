package io.partita.passes.mesh.sync;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Some blocks of a model, counted from 0.
 *
 * @param ranges none for all
 */
public record BlockSelection(List<Range> ranges) {
  private static final Pattern RANGE = Pattern.compile("([0-9]{1,6})(?:-([0-9]{1,6}))?");

  /** From {@code first} to {@code last}, both included. */
  public record Range(int first, int last) {}

  public BlockSelection {
    ranges = List.copyOf(ranges);
  }

  /** Reads {@code all}, or numbers and ranges such as {@code 0-3+5}; empty for other text. */
  public static Optional<BlockSelection> parse(String text) {
    List<Range> ranges = new ArrayList<>();
    if (!text.equals("all")) {
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
    }
    return Optional.of(new BlockSelection(ranges));
  }

  public boolean contains(int block) {
    return ranges.isEmpty()
        || ranges.stream().anyMatch(range -> range.first() <= block && block <= range.last());
  }

  /**
   * That the model has all of them.
   *
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#BLOCKS}
   */
  void require(int count) {
    require("pass drop-syncs, option blocks", count);
  }

  /** As {@link #require(int)}, for the option that {@code where} names. */
  void require(String where, int count) {
    int last = ranges.stream().map(Range::last).max(Comparator.naturalOrder()).orElse(0);
    if (last >= count) {
      throw SyncCode.BLOCKS.at(
          where,
          count == 0 ? "a model with attention" : "numbers from 0 to " + (count - 1),
          count == 0 ? "none" : last,
          count == 0 ? "run raise before, which finds attention" : "");
    }
  }
}
