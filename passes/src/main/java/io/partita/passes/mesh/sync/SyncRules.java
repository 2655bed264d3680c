package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.passes.ModulePass;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * How the sums of each block travel between devices, as in {@code blocks 0-3: drop; blocks 4,5:
 * int4+bf16(k=8)}. Blocks that no clause names send exact values.
 */
public record SyncRules(List<Clause> clauses) {
  /** No rewrite. */
  public static final SyncRules NONE = new SyncRules(List.of());

  private static final Pattern CLAUSE =
      Pattern.compile("(?:(all|others|blocks?\\s+([0-9][0-9,\\-\\s]*))\\s*:)?\\s*(.*)");

  /** The method of some blocks. */
  public record Clause(BlockSelection blocks, SyncMethod method) {
    @Override
    public String toString() {
      return blocks.clause() + ": " + method;
    }
  }

  /** A text that isn't one of a method or of rules. */
  static final class Unreadable extends Exception {
    private static final long serialVersionUID = 1L;

    private final String expected;
    private final String found;
    private final String remedy;

    Unreadable(String expected, String found, String remedy) {
      super(expected);
      this.expected = expected;
      this.found = found;
      this.remedy = remedy;
    }
  }

  public SyncRules {
    clauses = List.copyOf(clauses);
  }

  /**
   * Reads clauses {@code BLOCKS: METHOD} with semicolons between. {@code BLOCKS} is {@code blocks
   * 0-3,5}, {@code all}, or {@code others} for those that no other clause names; without it, a
   * method is that of all blocks.
   *
   * @throws PartitaException with {@link SyncCode#RULES}
   */
  public static SyncRules parse(String text) {
    List<Clause> clauses = new ArrayList<>();
    for (String part : text.split(";", -1)) {
      if (!part.isBlank() || clauses.isEmpty()) {
        try {
          clauses.add(clause(part.strip(), clauses));
        } catch (Unreadable unreadable) {
          throw SyncCode.RULES.at(
              "--sync, clause " + (clauses.size() + 1) + " \"" + part.strip() + "\"",
              unreadable.expected,
              unreadable.found.isEmpty() ? "nothing" : unreadable.found,
              unreadable.remedy);
        }
      }
    }
    return new SyncRules(resolved(clauses));
  }

  private static Clause clause(String text, List<Clause> before) throws Unreadable {
    Matcher matcher = CLAUSE.matcher(text);
    if (!matcher.matches() || matcher.group(3).isEmpty()) {
      throw new Unreadable(
          "a clause such as blocks 0-3: drop",
          text,
          "write BLOCKS: METHOD, with ; between clauses");
    }
    String blocks =
        matcher.group(1) == null
            ? "all"
            : matcher.group(2) == null
                ? matcher.group(1)
                : matcher.group(2).replaceAll("\\s", "").replace(',', '+');
    SyncMethod method = SyncMethod.parse(matcher.group(3));
    BlockSelection selection =
        BlockSelection.parse(blocks.equals("others") ? "all" : blocks)
            .orElseThrow(
                () ->
                    new Unreadable(
                        "blocks such as 0-3,5, in ascending ranges",
                        matcher.group(2),
                        "write numbers and ranges with commas between"));
    if (blocks.equals("others")) {
      selection = BlockSelection.OTHERS;
    }
    for (Clause other : before) {
      if (clash(other.blocks, selection) || clash(selection, other.blocks)) {
        throw new Unreadable(
            "blocks that no other clause names",
            selection.clause() + " beside " + other.blocks.clause(),
            "name each block once; 'others' stands for the rest");
      }
    }
    return new Clause(selection, method);
  }

  private static boolean clash(BlockSelection one, BlockSelection other) {
    boolean isRest = one.equals(BlockSelection.OTHERS);
    return one.overlaps(other) || isRest && (other.equals(one) || other.isComplement());
  }

  /** With the other clauses' blocks taken out of {@code others}. */
  private static List<Clause> resolved(List<Clause> clauses) {
    List<BlockSelection.Range> named =
        clauses.stream().flatMap(each -> each.blocks.ranges().stream()).toList();
    return clauses.stream()
        .map(
            each ->
                each.blocks.equals(BlockSelection.OTHERS)
                    ? new Clause(BlockSelection.allBut(named), each.method)
                    : each)
        .toList();
  }

  /** Whether a calibration is needed. */
  public boolean needsCalibration() {
    return clauses.stream()
        .anyMatch(each -> each.method.width() instanceof SyncMethod.Width.LowBit);
  }

  public boolean isEmpty() {
    return clauses.isEmpty();
  }

  /** The part that decides what devices compute between sums: which syncs are dropped. */
  public SyncRules drops() {
    return new SyncRules(
        clauses.stream()
            .filter(each -> each.method.drops())
            .map(
                each -> new Clause(each.blocks, new SyncMethod(true, new SyncMethod.Width.Exact())))
            .toList());
  }

  /**
   * The passes that rewrite a sharded module so, in their order.
   *
   * @param calibration the ranges of low-bit sums
   * @throws PartitaException with {@link SyncCode#RULES} when there is none and one is needed
   */
  public List<ModulePass> passes(Optional<SyncCalibration> calibration) {
    List<ModulePass> passes = new ArrayList<>();
    List<BlockSelection> dropped =
        clauses.stream().filter(each -> each.method.drops()).map(Clause::blocks).toList();
    if (!dropped.isEmpty()) {
      passes.add(new DropSyncs(BlockSelection.union(dropped)));
    }
    for (Clause clause : clauses) {
      switch (clause.method.width()) {
        case SyncMethod.Width.Exact() -> {}
        case SyncMethod.Width.Cast(var codec) -> passes.add(SetCodec.ofSums(codec, clause.blocks));
        case SyncMethod.Width.LowBit low ->
            passes.add(
                new LowBitSyncs(
                    calibration.orElseThrow(() -> uncalibrated(clause)),
                    new LowBitSyncs.Options(
                        clause.blocks, low.bits(), low.exact(), low.seed(), low.sum())));
      }
    }
    return passes;
  }

  private static PartitaException uncalibrated(Clause clause) {
    return SyncCode.RULES.at(
        "--sync, clause \"" + clause + "\"",
        "the ranges of what devices send",
        "none",
        "measure them with partita calibrate, and add --calibration FILE");
  }

  /** The text that {@link #parse} reads. */
  @Override
  public String toString() {
    return clauses.stream().map(Clause::toString).collect(Collectors.joining("; "));
  }
}
