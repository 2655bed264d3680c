package io.partita.passes.mesh.sync;

import io.partita.ir.tensor.Float16;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.SequencedMap;

/**
 * The errors of a sum in few bits, by its encoding and exchange: the relative L2 distance from the
 * exact sum, over tokens of calibration data. They are computed from the terms, as the rewritten
 * module computes them.
 *
 * @param squares the squared distances by {@link #key}
 * @param norm the squared norm of the exact sums
 */
public record SumErrors(SequencedMap<String, Double> squares, double norm) {
  /** No measurements. */
  public static final SumErrors NONE = new SumErrors(new LinkedHashMap<>(), 0);

  private static final int MIN_BITS = 2;
  private static final int MAX_BITS = 8;

  public SumErrors {
    squares = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(squares));
  }

  /** Returns the text of an encoding, such as {@code int4(via=tree)+bf16}. */
  public static String key(int bits, boolean hasExact, LowBitSyncs.Via via) {
    return "int" + bits + "(via=" + via + ")" + (hasExact ? "+bf16" : "");
  }

  /** Returns the relative L2 distance; empty if it wasn't measured. */
  public OptionalDouble relative(String key) {
    Double square = squares.get(key);
    return square == null
        ? OptionalDouble.empty()
        : OptionalDouble.of(norm == 0 ? 0 : Math.sqrt(square / norm));
  }

  /** Returns the errors over the tokens of both. */
  public SumErrors plus(SumErrors other) {
    SequencedMap<String, Double> sum = new LinkedHashMap<>(squares);
    other.squares.forEach((key, square) -> sum.merge(key, square, Double::sum));
    return new SumErrors(sum, norm + other.norm);
  }

  /**
   * Measures all widths and exchanges, with the default number of features as bf16 and with none.
   *
   * @param terms by token and place, the features of the place's term
   */
  static SumErrors of(float[][][] terms, FeatureRanges ranges) {
    SequencedMap<String, Double> squares = new LinkedHashMap<>();
    int selected = LowBitSyncs.exact(OptionalInt.empty(), ranges.features());
    Bounds bounds = Bounds.of(ranges);
    double[][] exact = Arrays.stream(terms).map(SumErrors::sum).toArray(double[][]::new);
    for (int bits = MIN_BITS; bits <= MAX_BITS; bits++) {
      for (boolean hasExact : new boolean[] {false, true}) {
        boolean[] kept = new boolean[ranges.features()];
        ranges.widest(hasExact ? selected : 0).forEach(j -> kept[j] = true);
        for (LowBitSyncs.Via via : LowBitSyncs.Via.EXCHANGES) {
          Encoding encoding = new Encoding(bounds, bits, kept);
          double square = 0;
          for (int token = 0; token < terms.length; token++) {
            for (int j = 0; j < kept.length; j++) {
              double error = encoding.sum(terms[token], j, via) - exact[token][j];
              square += error * error;
            }
          }
          squares.put(key(bits, hasExact, via), square);
        }
      }
    }
    double norm = Arrays.stream(exact).flatMapToDouble(Arrays::stream).map(x -> x * x).sum();
    return new SumErrors(squares, norm);
  }

  private static double[] sum(float[][] terms) {
    double[] sum = new double[terms[0].length];
    for (float[] term : terms) {
      for (int j = 0; j < sum.length; j++) {
        sum[j] += term[j];
      }
    }
    return sum;
  }

  /**
   * The largest magnitudes of what devices send, by feature.
   *
   * @param terms by place
   * @param tree of a partial sum that a place sends up a tree
   * @param ring of a partial sum in a ring, by the number of terms
   * @param sums of whole sums
   */
  private record Bounds(double[][] terms, double[][] tree, double[][] ring, double[] sums) {
    static Bounds of(FeatureRanges ranges) {
      int places = ranges.places();
      int features = ranges.features();
      Bounds bounds =
          new Bounds(
              new double[places][features],
              new double[places][features],
              new double[places][features],
              new double[features]);
      for (int j = 0; j < features; j++) {
        bounds.sums[j] = ranges.sumBound(j);
        for (int place = 0; place < places; place++) {
          bounds.terms[place][j] = ranges.bound(place, j);
          boolean isTerm = place == 0 || PartialSums.treeTerms(place, places) == 1;
          bounds.tree[place][j] = isTerm ? ranges.bound(place, j) : ranges.treeBound(place, j);
          bounds.ring[place][j] = place < 2 ? 0 : ranges.ringBound(place, j);
        }
      }
      return bounds;
    }
  }

  /**
   * An encoding of terms, in the arithmetic of {@link LowBitArithmetic}.
   *
   * @param exact whether a feature is sent as bf16
   */
  private record Encoding(Bounds bounds, int bits, boolean[] exact) {
    private float again(float value, double bound) {
      float levels = (1 << (bits - 1)) - 1;
      float scale = bound > 0 ? (float) (levels / bound) : 0;
      float code = Math.max(-levels, Math.min(levels, (float) Math.rint(value * scale)));
      return code * (float) (bound / levels);
    }

    private static float bf16(float value) {
      return Float16.fromBfloat(Float16.toBfloat(value));
    }

    /** The sum of a feature on all devices. */
    float sum(float[][] terms, int j, LowBitSyncs.Via via) {
      return switch (via) {
        case GATHER -> gathered(terms, j);
        case SCATTER -> whole(scattered(terms, j), j);
        case TREE -> whole(exact[j] ? scattered(terms, j) : tree(terms, j), j);
        case RING -> whole(exact[j] ? scattered(terms, j) : ring(terms, j), j);
        case BEST -> throw new IllegalArgumentException(via.toString());
      };
    }

    private float whole(float sum, int j) {
      return bf16(exact[j] ? sum : again(sum, bounds.sums[j]));
    }

    private float term(float[][] terms, int place, int j) {
      return exact[j] ? bf16(terms[place][j]) : again(terms[place][j], bounds.terms[place][j]);
    }

    private float gathered(float[][] terms, int j) {
      float sum = bf16(term(terms, 0, j));
      for (int place = 1; place < terms.length; place++) {
        sum = bf16(sum + bf16(term(terms, place, j)));
      }
      return sum;
    }

    private float scattered(float[][] terms, int j) {
      float sum = term(terms, 0, j);
      for (int place = 1; place < terms.length; place++) {
        sum += term(terms, place, j);
      }
      return sum;
    }

    private float tree(float[][] terms, int j) {
      float[] sums = new float[terms.length];
      for (int place = 0; place < sums.length; place++) {
        sums[place] = terms[place][j];
      }
      for (int distance = 1; distance < sums.length; distance *= 2) {
        for (int to = 0; to + distance < sums.length; to += 2 * distance) {
          int from = to + distance;
          sums[to] += again(sums[from], bounds.tree[from][j]);
        }
      }
      return sums[0];
    }

    private float ring(float[][] terms, int j) {
      int places = terms.length;
      int place = (PartialSums.ringEnd(j, places) + 1) % places;
      float sum = terms[place][j];
      for (int hop = 1; hop < places; hop++) {
        double bound = hop == 1 ? bounds.terms[place][j] : bounds.ring[hop][j];
        place = (place + 1) % places;
        sum = terms[place][j] + again(sum, bound);
      }
      return sum;
    }
  }
}
