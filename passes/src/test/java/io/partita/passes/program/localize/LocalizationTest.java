package io.partita.passes.program.localize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.MeshCode;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.tensor.Tensor;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that programs of devices compute the results of the whole model. */
class LocalizationTest {
  private final Set<SyncKind> seen = EnumSet.noneOf(SyncKind.class);
  private int refused;
  private int multiAxis;

  @Test
  void reshardsKeepTheWhole() {
    verifyReshards(0, 600);
  }

  @Tag("thorough")
  @Test
  void moreReshardsKeepTheWhole() {
    verifyReshards(600, 3000);
  }

  private void verifyReshards(int from, int to) {
    for (long seed = from; seed < to; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      requireWhole(seed, RandomMeshModules.draw(random, RandomLayouts.mesh(random)), random);
    }
    assertThat(seen).containsExactlyInAnyOrder(SyncKind.values());
    assertThat(multiAxis).isGreaterThan((to - from) / 6);
    assertThat(refused).as("parts that would become partial").isLessThan((to - from) / 4);
  }

  private void requireWhole(long seed, Module module, SplittableRandom random) {
    int capacity = random.nextInt(3);
    Program program;
    try {
      program = Localization.of(module, capacity);
    } catch (PartitaException e) {
      assertThat(e.diagnostics().getFirst().code())
          .as("seed %d: %s", seed, e.getMessage())
          .isEqualTo(MeshCode.RESHARD);
      refused++;
      return;
    }
    count(module);
    Value x = module.graph().inputs().getFirst();
    long[] data = random.longs(x.type().shape().elements(), -50, 50).toArray();
    Tensor input = Tensor.ofLongs(x.type(), data);
    Tensor whole = Evaluator.run(module.graph(), List.of(input)).getFirst();
    assertThat(new ProgramEvaluator(program, capacity).run(Map.of("x", input)).get("y"))
        .as("seed %d: %s %s", seed, module.placement(), module.graph().nodes())
        .isEqualTo(whole);
  }

  private void count(Module module) {
    for (Node node : module.graph().nodes()) {
      if (node.op() instanceof Communication.Sync sync) {
        seen.addAll(sync.kinds().values());
        multiAxis += sync.kinds().size() > 1 ? 1 : 0;
      }
    }
  }
}
