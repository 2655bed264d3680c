package io.partita.passes.mesh.sync;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The partial sums of several terms that devices pass on when a sum travels by tree or by ring. The
 * ranges of single terms and of whole sums are measured apart.
 *
 * @param first the place of the first term; by ring it depends on the feature
 * @param count the number of terms, of consecutive places modulo the number of places
 * @param isRing whether the sum travels by ring
 */
record PartialSums(int first, int count, boolean isRing) {
  /** Returns all partial sums: those of a ring by the number of terms, then those of a tree. */
  static List<PartialSums> of(int places) {
    List<PartialSums> all = new ArrayList<>();
    for (int count = 2; count < places; count++) {
      all.add(new PartialSums(0, count, true));
    }
    for (int place = 1; place < places; place++) {
      int count = treeTerms(place, places);
      if (count > 1) {
        all.add(new PartialSums(place, count, false));
      }
    }
    return all;
  }

  /** Returns how many terms a place sends up a binary tree: its own and those it received. */
  static int treeTerms(int place, int places) {
    return Math.min(Integer.lowestOneBit(place), places - place);
  }

  /** Returns the place where the sum of a feature ends in a ring; it begins at the next place. */
  static int ringEnd(int feature, int places) {
    return feature % places;
  }

  /** Returns the places of the terms of a feature, in the order of summation. */
  List<Integer> terms(int feature, int places) {
    int from = isRing ? ringEnd(feature, places) + 1 : first;
    return IntStream.range(from, from + count).mapToObj(place -> place % places).toList();
  }
}
