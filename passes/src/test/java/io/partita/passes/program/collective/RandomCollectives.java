package io.partita.passes.program.collective;

import io.partita.ir.function.Combine;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Random collectives and algorithms, with uneven and empty parts. */
final class RandomCollectives {
  private static final int MAX_PIECES = 20;

  private RandomCollectives() {}

  static Collective draw(SplittableRandom random, int devices, ElementType element) {
    CollectiveKind[] kinds = CollectiveKind.values();
    CollectiveKind kind = kinds[random.nextInt(kinds.length)];
    List<Long> parts = new ArrayList<>();
    for (int part = kind.parts(devices); part > 0; part--) {
      parts.add(random.nextInt(6) == 0 ? 0L : random.nextLong(1, 4));
    }
    boolean rooted = kind == CollectiveKind.BROADCAST || kind == CollectiveKind.REDUCE;
    Combine[] reductions = {Combine.ADD, Combine.MAX, Combine.MIN};
    return new Collective(
        kind,
        devices,
        rooted ? random.nextInt(devices) : 0,
        parts,
        element,
        kind.reduces() ? reductions[random.nextInt(3)] : Combine.REPLACE);
  }

  static Algorithm algorithm(SplittableRandom random, int devices) {
    return switch (random.nextInt(4)) {
      case 0 ->
          new Algorithm.Tree(
              random.nextInt(2, Math.max(3, devices + 2)), random.nextInt(1, MAX_PIECES));
      case 1 -> new Algorithm.Ring();
      case 2 -> new Algorithm.Hierarchical(random.nextInt(2, Math.max(3, devices + 2)));
      default -> new Algorithm.Direct();
    };
  }
}
