package io.partita.passes.graph.simplify;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.Module;
import io.partita.ir.propagate.RandomMeshModules;
import io.partita.ir.text.PirParser;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.verify.Verifier;
import org.junit.jupiter.api.Test;

/** Tests rules without knowledge of layouts on modules of the mesh dialect. */
class SimplifyMeshTest {
  @Test
  void reshardsOfConstantsStay() {
    Module module =
        PirParser.parse(
            """
            pir 1
            module {
              mesh(x=2)
              graph @main(%x: f32[4{x}]) -> ("y": f32[4{x}]) {
                %0 = constant [1.0, 2.0, 3.0, 4.0] : f32[4]
                %1 = exp(%0) : f32[4]
                %2 = reshard(%1) {to = "[*{x}]"} : f32[4{x}]
                %3 = add(%x, %2) : f32[4{x}]
                return %3
              }
            }
            """);
    assertThat(PirPrinter.print(new SimplifyPass().run(module)))
        .isEqualTo(
            """
            pir 1
            module {
              mesh(x=2)
              graph @main(%x: f32[4{x}]) -> ("y": f32[4{x}]) {
                %0 = constant [2.7182817, 7.389056, 20.085537, 54.59815] : f32[4]
                %1 = reshard(%0) {to = "[*{x}]"} : f32[4{x}]
                %2 = add(%x, %1) : f32[4{x}]
                return %2
              }
            }
            """);
  }

  @Test
  void simplifiedModulesKeepTheRules() {
    int changed = 0;
    for (int seed = 0; seed < 500; seed++) {
      Module module = RandomMeshModules.draw(seed);
      Module simple = new SimplifyPass().run(module);
      assertThat(Verifier.violations(simple))
          .as("seed %d:\n%s", seed, PirPrinter.print(module))
          .isEmpty();
      changed += simple.equals(module) ? 0 : 1;
    }
    assertThat(changed).isGreaterThan(100);
  }
}
