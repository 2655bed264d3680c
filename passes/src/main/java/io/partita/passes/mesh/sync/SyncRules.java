package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.propagate.LayoutInference;
import io.partita.passes.ModulePass;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The methods for the sums of each block, such as {@code blocks 0-3: drop; blocks 4,5:
 * int4+bf16(k=8)}. Blocks without a clause send exact values.
 */
public record SyncRules(List<Clause> clauses) {
  /** No rewrite. */
  public static final SyncRules NONE = new SyncRules(List.of());

  private static final Pattern CLAUSE =
      Pattern.compile(
          "(?:(all|others|insensitive|ranked\\s+([0-9]{1,6})|blocks?\\s+([0-9][0-9,\\-\\s]*))\\s*:)?"
              + "\\s*(.*)");

  private static final String FORM = "write BLOCKS: METHOD, with clauses separated by ;";

  private static final List<String> SELECTIONS =
      List.of("all", "others", "insensitive", "ranked", "block", "blocks");

  /** The method of some blocks. */
  public record Clause(BlockSelection blocks, SyncMethod method) {
    @Override
    public String toString() {
      return blocks.clause() + ": " + method;
    }
  }

  /** Malformed text of a method or of rules. */
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
   * Parses clauses {@code BLOCKS: METHOD}, separated by semicolons. {@code BLOCKS} is {@code blocks
   * 0-3,5}, {@code all}, or {@code others} for those that no other clause names; without it, the
   * method applies to all blocks. With a ranking, it may also be {@code ranked 4} for the 4 blocks
   * that are least sensitive to dropping, or {@code insensitive}.
   *
   * @throws PartitaException with {@link SyncCode#RULES}
   */
  public static SyncRules parse(String text, Optional<BlockRanking> ranking) {
    List<Clause> clauses = new ArrayList<>();
    for (String part : text.split(";", -1)) {
      if (!part.isBlank() || clauses.isEmpty()) {
        try {
          clauses.add(clause(part.strip(), clauses, ranking));
        } catch (Unreadable unreadable) {
          throw SyncCode.RULES.at(
              "--sync, clause " + (clauses.size() + 1) + " \"" + part.strip() + "\"",
              unreadable.expected,
              unreadable.found.isEmpty() ? "nothing" : unreadable.found,
              unreadable.remedy);
        }
      }
    }
    return new SyncRules(
        resolved(clauses).stream().filter(clause -> !clause.blocks.isEmpty()).toList());
  }

  /** Returns the rules for given methods of blocks. */
  public static SyncRules of(List<SyncMethod> byBlock) {
    Map<SyncMethod, List<BlockSelection.Range>> ranges = new LinkedHashMap<>();
    for (int block = 0; block < byBlock.size(); block++) {
      List<BlockSelection.Range> of =
          ranges.computeIfAbsent(byBlock.get(block), method -> new ArrayList<>());
      if (!of.isEmpty() && of.getLast().last() == block - 1) {
        of.set(of.size() - 1, new BlockSelection.Range(of.getLast().first(), block));
      } else {
        of.add(new BlockSelection.Range(block, block));
      }
    }
    return new SyncRules(
        ranges.entrySet().stream()
            .map(each -> new Clause(new BlockSelection(each.getValue(), false), each.getKey()))
            .toList());
  }

  /** Returns the method of a block. */
  public SyncMethod method(int block) {
    return clauses.stream()
        .filter(clause -> clause.blocks.contains(block))
        .map(Clause::method)
        .findFirst()
        .orElse(SyncMethod.EXACT);
  }

  /** Returns the rules for only one of so many blocks. */
  public SyncRules alone(int block, int count) {
    List<SyncMethod> methods = new ArrayList<>(Collections.nCopies(count, SyncMethod.EXACT));
    methods.set(block, method(block));
    return of(methods);
  }

  /** Returns the rules for only one sync of a block, in an encoding of its elements. */
  public SyncRules alone(int block, String sync) {
    SyncMethod method = new SyncMethod(false, false, method(block).width());
    return new SyncRules(List.of(new Clause(BlockSelection.only(block, sync), method)));
  }

  /**
   * Returns the names of the syncs of a block whose elements the rules encode.
   *
   * @param exact a module of the mesh dialect, without rewrites
   */
  public List<String> encoded(Module exact, int block) {
    LayoutInference layouts = LayoutInference.of(exact);
    return switch (method(block).width()) {
      case SyncMethod.Width.Exact() -> List.of();
      case SyncMethod.Width.Vector vector ->
          TokenSync.of(exact, layouts).stream()
              .filter(sync -> sync.block() == block)
              .map(sync -> sync.node().name())
              .distinct()
              .toList();
      case SyncMethod.Width.Cast cast -> sums(exact, layouts, block);
      case SyncMethod.Width.LowBit low -> sums(exact, layouts, block);
    };
  }

  /** Returns the name of the sync of a block that the rules drop, if any. */
  public Optional<String> dropped(Module exact, int block) {
    return method(block).drops()
        ? sums(exact, LayoutInference.of(exact), block).stream().findFirst()
        : Optional.empty();
  }

  private static List<String> sums(Module exact, LayoutInference layouts, int block) {
    return SumSync.of(exact, layouts).stream()
        .filter(sync -> sync.block() == block)
        .map(sync -> sync.node().name())
        .distinct()
        .toList();
  }

  private static Clause clause(String text, List<Clause> before, Optional<BlockRanking> ranking)
      throws Unreadable {
    Matcher matcher = CLAUSE.matcher(text);
    if (!matcher.matches() || matcher.group(4).isEmpty()) {
      throw new Unreadable("a clause such as blocks 0-3: drop", text, FORM);
    }
    int colon = matcher.group(4).indexOf(':');
    if (colon >= 0) {
      throw unknownBlocks(matcher.group(4).substring(0, colon).strip());
    }
    BlockSelection selection = selection(matcher, ranking);
    for (Clause other : before) {
      if (clash(other.blocks, selection) || clash(selection, other.blocks)) {
        throw new Unreadable(
            "blocks that are in no other clause",
            selection.clause() + " beside " + other.blocks.clause(),
            "name each block once; 'others' stands for the rest");
      }
    }
    return new Clause(selection, SyncMethod.parse(matcher.group(4)));
  }

  private static Unreadable unknownBlocks(String text) {
    String word = text.split("[\\s0-9]", 2)[0];
    return new Unreadable(
        "blocks 0-3,5, all, others, ranked 4 or insensitive before the colon",
        text,
        NearestName.of(word, SELECTIONS)
            .filter(near -> !near.equals(word))
            .map(near -> NearestName.suggestion(near + text.substring(word.length())))
            .orElse(FORM));
  }

  private static BlockSelection selection(Matcher clause, Optional<BlockRanking> ranking)
      throws Unreadable {
    String blocks = clause.group(1) == null ? "all" : clause.group(1);
    if (blocks.equals("all")) {
      return BlockSelection.ALL;
    } else if (blocks.equals("others")) {
      return BlockSelection.OTHERS;
    } else if (clause.group(3) != null) {
      String numbers = clause.group(3).replaceAll("\\s", "").replace(',', '+');
      return BlockSelection.parse(numbers)
          .orElseThrow(
              () ->
                  new Unreadable(
                      "blocks such as 0-3,5, in ascending ranges",
                      clause.group(3),
                      "write numbers and ranges, separated by commas"));
    } else if (ranking.isEmpty()) {
      throw new Unreadable(
          "a ranking of the blocks",
          "none",
          "measure it with partita rank, and add --ranking FILE");
    } else if (clause.group(2) == null) {
      return ranking.get().insensitiveBlocks();
    }
    int count = Integer.parseInt(clause.group(2));
    int most = ranking.get().blocks().size();
    if (count > most) {
      throw new Unreadable("at most " + most + " ranked blocks", "" + count, "choose fewer");
    }
    return ranking.get().least(count);
  }

  private static boolean clash(BlockSelection one, BlockSelection other) {
    boolean isRest = one.equals(BlockSelection.OTHERS);
    return one.overlaps(other) || isRest && (other.equals(one) || other.isComplement());
  }

  /** Returns the clauses with {@code others} resolved. */
  private static List<Clause> resolved(List<Clause> clauses) {
    List<BlockSelection.Range> named =
        clauses.stream()
            .filter(each -> !each.blocks.equals(BlockSelection.OTHERS))
            .flatMap(each -> each.blocks.ranges().stream())
            .toList();
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
        .map(each -> each.method.width())
        .anyMatch(
            each ->
                each instanceof SyncMethod.Width.LowBit || each instanceof SyncMethod.Width.Vector);
  }

  /** The codebooks that a calibration makes for these rules. */
  public List<SyncMethod.Width.Vector> codebooks() {
    return clauses.stream()
        .map(each -> each.method.width())
        .filter(SyncMethod.Width.Vector.class::isInstance)
        .map(SyncMethod.Width.Vector.class::cast)
        .distinct()
        .toList();
  }

  /** What devices gather in blocks whose tokens are split over them. */
  public TokenGathers gathers() {
    return new TokenGathers(gathering(TokenGathers.Kind.FEATURES), gathering(TokenGathers.Kind.KV));
  }

  private BlockSelection gathering(TokenGathers.Kind kind) {
    return BlockSelection.union(
        clauses.stream()
            .filter(
                each ->
                    each.method.width() instanceof SyncMethod.Width.Vector vector
                        && vector.of() == kind)
            .map(Clause::blocks)
            .toList());
  }

  public boolean isEmpty() {
    return clauses.isEmpty();
  }

  /** Whether all blocks send exact values. */
  public boolean isExact() {
    return clauses.stream().allMatch(each -> each.method.equals(SyncMethod.EXACT));
  }

  /** Returns the rules that change what devices compute between sums: dropped syncs. */
  public SyncRules drops() {
    return new SyncRules(
        clauses.stream()
            .filter(each -> each.method.drops())
            .map(
                each ->
                    new Clause(
                        each.blocks,
                        new SyncMethod(true, each.method.scatters(), new SyncMethod.Width.Exact())))
            .toList());
  }

  /**
   * Returns the passes that apply the rules to a sharded module, in order.
   *
   * @param calibration the ranges of low-bit sums
   * @param ranking the ranking with the order of scattered heads
   * @throws PartitaException with {@link SyncCode#RULES} if one of them is needed and missing
   */
  public List<ModulePass> passes(
      Optional<SyncCalibration> calibration, Optional<BlockRanking> ranking) {
    List<ModulePass> passes = new ArrayList<>();
    Map<Integer, List<Integer>> orders = orders(ranking);
    if (!orders.isEmpty()) {
      passes.add(new ReorderHeads(orders));
    }
    List<BlockSelection> dropped =
        clauses.stream().filter(each -> each.method.drops()).map(Clause::blocks).toList();
    if (!dropped.isEmpty()) {
      passes.add(new DropSyncs(BlockSelection.union(dropped)));
    }
    for (Clause clause : clauses) {
      switch (clause.method.width()) {
        case SyncMethod.Width.Exact() -> {}
        case SyncMethod.Width.Cast(var codec) -> passes.add(SetCodec.ofSums(codec, clause.blocks));
        case SyncMethod.Width.Vector vector ->
            passes.add(
                new VectorSyncs(
                    calibration.orElseThrow(() -> uncalibrated(clause)), clause.blocks, vector));
        case SyncMethod.Width.LowBit low ->
            passes.add(
                new LowBitSyncs(
                    calibration.orElseThrow(() -> uncalibrated(clause)),
                    new LowBitSyncs.Options(
                        clause.blocks,
                        low.bits(),
                        low.exact(),
                        low.seed(),
                        low.sum(),
                        low.via(),
                        low.error())));
      }
    }
    return passes;
  }

  /** Returns the new order of heads in blocks that scatter them. */
  private Map<Integer, List<Integer>> orders(Optional<BlockRanking> ranking) {
    Map<Integer, List<Integer>> orders = new TreeMap<>();
    for (Clause clause : clauses) {
      if (clause.method.scatters()) {
        int count = ranking.map(each -> each.blocks().size()).orElse(1);
        for (int block = 0; block < count; block++) {
          if (clause.blocks.contains(block) || ranking.isEmpty()) {
            List<Integer> heads = ranking.map(BlockRanking::heads).orElse(Map.of()).get(block);
            orders.put(block, required(heads, clause, block));
          }
        }
      }
    }
    return orders;
  }

  private static List<Integer> required(List<Integer> heads, Clause clause, int block) {
    if (heads == null) {
      throw SyncCode.RULES.at(
          "--sync, clause \"" + clause + "\"",
          "an order of the heads of block " + block,
          "none",
          "add --scatter all to partita rank, and --ranking FILE here");
    }
    return heads;
  }

  private static PartitaException uncalibrated(Clause clause) {
    return SyncCode.RULES.at(
        "--sync, clause \"" + clause + "\"",
        "a calibration",
        "none",
        "measure it with partita calibrate, and add --calibration FILE");
  }

  /** Returns the text form. */
  @Override
  public String toString() {
    return clauses.stream().map(Clause::toString).collect(Collectors.joining("; "));
  }
}
