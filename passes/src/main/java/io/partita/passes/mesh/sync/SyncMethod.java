package io.partita.passes.mesh.sync;

import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.op.Codec;
import io.partita.ir.type.ElementType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How the sums of a block travel, as in {@code drop}, {@code int4+bf16(k=8)} or {@code drop+bf16},
 * or its tokens, as in {@code vq(k=1024,groups=16)}.
 *
 * @param drops whether the sync after attention is dropped
 * @param scatters whether heads are scattered over devices before
 * @param width the encoding of the elements of the remaining sums
 */
public record SyncMethod(boolean drops, boolean scatters, Width width) {
  /** The encoding of elements. */
  public sealed interface Width {
    /** Elements are sent unchanged. */
    record Exact() implements Width {}

    /** Elements are sent as a narrower float. */
    record Cast(Codec codec) implements Width {}

    /**
     * Elements are sent as integers of a few bits, and some features as bf16.
     *
     * @param bits the bits of an integer
     * @param exact the number of features that are sent as bf16; empty for the default share
     * @param seed the seed of a random selection of these; empty for those of the widest ranges
     * @param sum the type in which terms are added
     * @param via the exchange of terms
     * @param error the largest relative error of a sum, if the exchange is chosen by it
     */
    record LowBit(
        int bits,
        OptionalInt exact,
        OptionalInt seed,
        ElementType sum,
        LowBitSyncs.Via via,
        OptionalDouble error)
        implements Width {}

    /**
     * Tokens travel as indices of centroids.
     *
     * @param size the number of centroids of each group
     * @param groups of features
     * @param of what is quantised
     */
    record Vector(int size, int groups, TokenGathers.Kind of) implements Width {
      @Override
      public String toString() {
        String kind = of == TokenGathers.Kind.FEATURES ? "" : ",of=" + of;
        return "vq(k=" + size + ",groups=" + groups + kind + ")";
      }
    }
  }

  /** No rewrite. */
  public static final SyncMethod EXACT = new SyncMethod(false, false, new Width.Exact());

  private static final int MIN_BITS = 2;
  private static final int MAX_BITS = 8;
  private static final Pattern PART = Pattern.compile("([a-z]+)([0-9]*)(?:\\(([^()]*)\\))?");
  private static final Pattern OPTION = Pattern.compile("(?:([a-z]+)=)?([a-z0-9.]{1,9})");
  private static final String SCATTER = "scatter";
  private static final List<String> NAMES = List.of("exact", "drop", "bf16", "int4", "vq");
  private static final int USUAL_CENTROIDS = 1024;
  private static final int MAX_CENTROIDS = 1 << 16;

  /** A part of a method, such as {@code bf16(k=8)}: a word, a number and options. */
  private record Part(String text, String word, String number, Map<String, String> options) {
    /**
     * @throws SyncRules.Unreadable if the number is missing or out of range
     */
    OptionalInt integer(String option, int least, int most) throws SyncRules.Unreadable {
      String given = options.get(option);
      return given == null
          ? OptionalInt.empty()
          : OptionalInt.of(inRange(text, option, given, least, most));
    }

    void requireOptions(List<String> known) throws SyncRules.Unreadable {
      for (String option : options.keySet()) {
        if (!known.contains(option)) {
          throw new SyncRules.Unreadable(
              known.isEmpty() ? word + number + " without options" : "only " + known,
              text,
              NearestName.remedy(option, known));
        }
      }
    }
  }

  /** Parses the part of a clause after its colon. */
  static SyncMethod parse(String text) throws SyncRules.Unreadable {
    List<Part> parts = new ArrayList<>();
    for (String each : text.split("\\+(?![^(]*\\))", -1)) {
      parts.add(part(each.strip()));
    }
    boolean drops = parts.getFirst().word.equals("drop") && parts.getFirst().number.isEmpty();
    boolean scatters = drops && parts.getFirst().options.equals(Map.of(SCATTER, ""));
    if (drops) {
      if (!scatters) {
        parts.getFirst().requireOptions(List.of());
      }
      parts.removeFirst();
    }
    Width width = parts.isEmpty() ? new Width.Exact() : width(text, parts);
    return new SyncMethod(drops, scatters, width);
  }

  private static Width width(String text, List<Part> parts) throws SyncRules.Unreadable {
    Part first = parts.getFirst();
    boolean isInteger = first.word.equals("int");
    if (parts.size() > (isInteger ? 2 : 1)) {
      throw unreadable(text);
    }
    if (isInteger) {
      return lowBit(first, parts.size() > 1 ? Optional.of(parts.get(1)) : Optional.empty());
    }
    if (first.word.equals("vq") && first.number.isEmpty()) {
      return vector(first);
    }
    first.requireOptions(List.of());
    if (first.word.equals("exact") && first.number.isEmpty()) {
      return new Width.Exact();
    }
    String name = first.word + first.number;
    for (Codec codec : Codec.ALL) {
      if (codec != Codec.EXACT && codec.toString().equals(name)) {
        return new Width.Cast(codec);
      }
    }
    throw new SyncRules.Unreadable(
        "exact, drop, bf16, int2 to int8, or vq", text, NearestName.remedy(name, NAMES));
  }

  private static Width vector(Part part) throws SyncRules.Unreadable {
    part.requireOptions(List.of("k", "groups", "of"));
    Optional<TokenGathers.Kind> of =
        TokenGathers.Kind.parse(part.options.getOrDefault("of", "features"));
    if (of.isEmpty()) {
      throw new SyncRules.Unreadable("of=features or of=kv", part.text, "choose one of them");
    }
    return new Width.Vector(
        part.integer("k", 2, MAX_CENTROIDS).orElse(USUAL_CENTROIDS),
        part.integer("groups", 1, Integer.MAX_VALUE).orElse(1),
        of.get());
  }

  private static Width lowBit(Part integer, Optional<Part> wide) throws SyncRules.Unreadable {
    integer.requireOptions(List.of("sum", "via", "error"));
    int bits = inRange(integer.text, "bits", integer.number, MIN_BITS, MAX_BITS);
    String sum = integer.options.getOrDefault("sum", "bf16");
    if (!sum.equals("bf16") && !sum.equals("f32")) {
      throw new SyncRules.Unreadable("sum=bf16 or sum=f32", integer.text, "choose one of them");
    }
    Optional<LowBitSyncs.Via> via =
        LowBitSyncs.Via.parse(integer.options.getOrDefault("via", "gather"));
    if (via.isEmpty()) {
      throw new SyncRules.Unreadable(
          "via=" + LowBitSyncs.Via.choices(), integer.text, "choose one of them");
    }
    String given = integer.options.get("error");
    boolean isBest = via.get() == LowBitSyncs.Via.BEST;
    if (isBest == (given == null) || given != null && !given.matches("[0-9]+(\\.[0-9]+)?")) {
      throw new SyncRules.Unreadable(
          isBest ? "error=X, the largest relative error of a sum" : "error with via=best only",
          integer.text,
          "write (via=best,error=0.05), or name the exchange");
    }
    OptionalDouble error =
        given == null ? OptionalDouble.empty() : OptionalDouble.of(Double.parseDouble(given));
    OptionalInt exact = OptionalInt.of(0);
    OptionalInt seed = OptionalInt.empty();
    if (wide.isPresent()) {
      Part part = wide.get();
      if (!(part.word + part.number).equals("bf16")) {
        throw unreadable(integer.text + "+" + part.text);
      }
      part.requireOptions(List.of("k", "random"));
      exact = part.integer("k", 0, Integer.MAX_VALUE);
      seed = part.integer("random", 0, Integer.MAX_VALUE);
    }
    ElementType type = sum.equals("f32") ? ElementType.F32 : ElementType.BF16;
    return new Width.LowBit(bits, exact, seed, type, via.get(), error);
  }

  private static SyncRules.Unreadable unreadable(String text) {
    return new SyncRules.Unreadable(
        "exact, drop, bf16, int4, int4+bf16(k=8), vq(k=1024,groups=16), or drop+ and one of the others",
        text,
        "write one of these");
  }

  private static Part part(String text) throws SyncRules.Unreadable {
    Matcher matcher = PART.matcher(text);
    if (!matcher.matches()) {
      throw unreadable(text);
    }
    Map<String, String> options = new LinkedHashMap<>();
    if (matcher.group(3) != null) {
      for (String option : matcher.group(3).split(",", -1)) {
        Matcher pair = OPTION.matcher(option.strip());
        boolean isFlag = pair.matches() && pair.group(1) == null && pair.group(2).equals(SCATTER);
        boolean isOption = isFlag || pair.matches() && pair.group(1) != null;
        String name = isFlag ? SCATTER : isOption ? pair.group(1) : "";
        if (!isOption || options.put(name, isFlag ? "" : pair.group(2)) != null) {
          throw new SyncRules.Unreadable(
              "options such as (k=8), each once", text, "write NAME=VALUE, separated by commas");
        }
      }
    }
    return new Part(text, matcher.group(1), matcher.group(2), options);
  }

  private static int inRange(String where, String name, String text, int least, int most)
      throws SyncRules.Unreadable {
    if (text.matches("[0-9]{1,9}")) {
      int number = Integer.parseInt(text);
      if (least <= number && number <= most) {
        return number;
      }
    }
    String range = most == Integer.MAX_VALUE ? least + " or more" : least + " to " + most;
    throw new SyncRules.Unreadable(name + " of " + range, where, "choose another number");
  }

  /** Returns the text form, such as {@code drop+int4+bf16(k=8)}. */
  @Override
  public String toString() {
    String text =
        switch (width) {
          case Width.Exact() -> drops ? "" : "exact";
          case Width.Cast(Codec codec) -> codec.toString();
          case Width.LowBit low -> text(low);
          case Width.Vector vector -> vector.toString();
        };
    String drop = scatters ? "drop(" + SCATTER + ")" : "drop";
    return drops ? text.isEmpty() ? drop : drop + "+" + text : text;
  }

  private static String text(Width.LowBit low) {
    List<String> more = new ArrayList<>();
    if (low.sum() == ElementType.F32) {
      more.add("sum=f32");
    }
    if (low.via() != LowBitSyncs.Via.GATHER) {
      more.add("via=" + low.via());
    }
    low.error().ifPresent(error -> more.add("error=" + BigDecimal.valueOf(error).toPlainString()));
    String integer =
        "int" + low.bits() + (more.isEmpty() ? "" : "(" + String.join(",", more) + ")");
    List<String> options = new ArrayList<>();
    low.exact().ifPresent(count -> options.add("k=" + count));
    low.seed().ifPresent(seed -> options.add("random=" + seed));
    if (options.equals(List.of("k=0"))) {
      return integer;
    }
    return integer + "+bf16" + (options.isEmpty() ? "" : "(" + String.join(",", options) + ")");
  }
}
