package io.partita.backend.java.code;

import io.partita.backend.java.plan.Storage;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Arrays that a step uses only while it runs, and that all steps share. */
final class Scratch {
  private final Map<Storage, List<Integer>> lengths = new EnumMap<>(Storage.class);
  private final Map<Storage, Integer> taken = new EnumMap<>(Storage.class);

  /** Releases the arrays of the previous step. */
  void nextStep() {
    taken.clear();
  }

  /** A field of at least {@code elements}. */
  String take(Storage storage, long elements) {
    List<Integer> known = lengths.computeIfAbsent(storage, key -> new ArrayList<>());
    int index = taken.merge(storage, 1, Integer::sum) - 1;
    int needed = Math.toIntExact(elements);
    if (index == known.size()) {
      known.add(needed);
    } else {
      known.set(index, Math.max(known.get(index), needed));
    }
    return field(storage, index);
  }

  private static String field(Storage storage, int index) {
    String name = storage.name();
    return "scratch" + name.charAt(0) + name.substring(1).toLowerCase(Locale.ROOT) + index;
  }

  /** One array. */
  record Array(Storage storage, String field, int elements) {}

  List<Array> arrays() {
    List<Array> arrays = new ArrayList<>();
    lengths.forEach(
        (storage, sizes) -> {
          for (int i = 0; i < sizes.size(); i++) {
            arrays.add(new Array(storage, field(storage, i), sizes.get(i)));
          }
        });
    return arrays;
  }
}
