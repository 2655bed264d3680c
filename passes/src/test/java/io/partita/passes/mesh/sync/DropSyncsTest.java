package io.partita.passes.mesh.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.propagate.CloseTensors;
import io.partita.ir.propagate.DecoderBlocks;
import io.partita.ir.propagate.LayoutPropagation;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.propagate.SyncInsertion;
import io.partita.ir.propagate.VaryingModules;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.verify.VaryingDependence;
import io.partita.ir.verify.Verifier;
import io.partita.passes.program.localize.Localization;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DropSyncsTest {
  private static DropSyncs drop(String blocks) {
    return new DropSyncs(BlockSelection.parse(blocks).orElseThrow());
  }

  private static long syncs(Module module) {
    return module.graph().nodes().stream()
        .filter(node -> node.op() instanceof Communication.Sync)
        .count();
  }

  private static long bytes(Program program) {
    return program.devices().stream()
        .flatMap(device -> device.graph().nodes().stream())
        .filter(node -> node.op() instanceof Communication.Exchange)
        .flatMap(node -> ((Communication.Exchange) node.op()).steps().stream())
        .filter(Step.Send.class::isInstance)
        .mapToLong(Step::bytes)
        .sum();
  }

  /** Tests that the result equals the handwritten blocks of the paper's figure 3. */
  @ParameterizedTest
  @CsvSource({"2,false", "3,false", "4,false", "2,true", "3,true", "4,true"})
  void blocksBecomeThoseOfThePaper(int devices, boolean isBiased) {
    Module dropped = drop("0").run(VaryingModules.joinedBlock(devices, isBiased));
    Verifier.verify(dropped);
    assertThat(syncs(dropped)).isEqualTo(1);
    SequencedMap<String, Tensor> inputs = VaryingModules.inputs(dropped, devices);
    Module written = VaryingModules.block(devices, isBiased);
    CloseTensors.verify(
        MeshEvaluator.run(dropped, List.copyOf(inputs.values())),
        MeshEvaluator.run(written, List.copyOf(inputs.values())));
    Program program = Localization.of(dropped, 1);
    CloseTensors.verify(
        List.copyOf(new ProgramEvaluator(program, 1).run(inputs).values()),
        List.copyOf(VaryingModules.evaluate(written, inputs).values()));
    Program joined = Localization.of(VaryingModules.joinedBlock(devices, isBiased), 1);
    assertThat(2 * bytes(program)).isEqualTo(bytes(joined));
  }

  private static Module decoder(int devices) {
    DecoderBlocks blocks = new DecoderBlocks();
    Graph graph = blocks.build(3);
    Mesh mesh = Mesh.line("x", devices);
    Map<Value, Layout> pinned = blocks.pinned(mesh);
    return SyncInsertion.insert(LayoutPropagation.run(graph, mesh, pinned), List.of());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1", "0-1", "0+2", "all"})
  void someBlocksOfSeveral(String blocks) {
    Module joined = decoder(3);
    assertThat(syncs(joined)).isEqualTo(6);
    Module dropped = drop(blocks).run(joined);
    Verifier.verify(dropped);
    int count = blocks.equals("all") ? 3 : blocks.length() == 1 ? 1 : 2;
    assertThat(syncs(dropped)).isEqualTo(6 - count);
    assertThat(VaryingDependence.of(dropped))
        .singleElement()
        .satisfies(
            found -> {
              assertThat(found.begins()).hasSize(count);
              assertThat(found.exits()).hasSize(count);
            });
    SequencedMap<String, Tensor> inputs = VaryingModules.inputs(joined, 1);
    List<Tensor> expected = MeshEvaluator.run(dropped, List.copyOf(inputs.values()));
    CloseTensors.verify(
        List.copyOf(new ProgramEvaluator(Localization.of(dropped, 1), 1).run(inputs).values()),
        expected);
    assertThat(expected).isNotEqualTo(MeshEvaluator.run(joined, List.copyOf(inputs.values())));
  }

  /** The skip connection is scaled on each device, as all have it. */
  @Test
  void sumsMayBeScaledAndMoved() {
    String text = PirPrinter.print(VaryingModules.joinedBlock(2, false));
    Module scaled =
        PirParser.parse(
            text.replace(
                "%16 = sync(%15)",
                "%100 = constant 0.5 : f32[]\n"
                    + "    %101 = mul(%15, %100) : f32[1,3,8] partial(sum: x)\n"
                    + "    %102 = reshape(%101) {to = [3, 8]} : f32[3,8] partial(sum: x)\n"
                    + "    %103 = reshape(%102) {to = [1, 3, 8]} : f32[1,3,8] partial(sum: x)\n"
                    + "    %16 = sync(%103)"));
    Module dropped = drop("all").run(scaled);
    Verifier.verify(dropped);
    String found = PirPrinter.print(dropped);
    // The norm reads half of the input and of the own term, and no device adds the input alone.
    assertThat(found.lines().filter(line -> line.contains("varying(x)")).map(String::strip))
        .satisfiesExactly(
            line -> assertThat(line).contains("localize(%13)"),
            line -> assertThat(line).contains("add(%x, "),
            line -> assertThat(line).contains("mul("),
            line -> assertThat(line).contains("reshape("),
            line -> assertThat(line).contains("reshape("),
            line -> assertThat(line).contains("rms_norm("),
            line -> assertThat(line).contains("gated_ffn("));
  }

  /** Tests a norm of the sum in the skip connection, for which no device has a term. */
  @Test
  void blocksWithNormsOfSumsAreRefused() {
    String text = PirPrinter.print(VaryingModules.joinedBlock(2, false));
    Module normed = PirParser.parse(text.replace("%19 = reshard(%16)", "%19 = reshard(%17)"));
    assertThatThrownBy(() -> drop("all").run(normed))
        .hasMessageContaining("P4222")
        .hasMessageContaining("block 0, sync \"attended\"")
        .hasMessageContaining("exclude the block");
  }

  @Test
  void unknownBlocksAreRefused() {
    assertThat(BlockSelection.parse("3-1")).isEmpty();
    assertThat(BlockSelection.parse("1,2")).isEmpty();
    assertThat(BlockSelection.parse("")).isEmpty();
    assertThatThrownBy(() -> drop("1-4").run(decoder(2)))
        .hasMessage(
            "error P4221: there is no such block\n"
                + "  where:     pass drop-syncs, option blocks\n"
                + "  expected:  numbers from 0 to 2\n"
                + "  found:     4");
    Module plain = new Module(new DecoderBlocks().build(1));
    assertThatThrownBy(() -> drop("all").run(plain))
        .hasMessage(
            "error P4222: the sync after a block's attention can't be dropped\n"
                + "  where:     pass drop-syncs\n"
                + "  expected:  a distributed module\n"
                + "  found:     one without\n"
                + "  fix:       add shard(tensor=N) before it");
  }

  /** Tests blocks with a dropped sync, which have one sync for attention and network. */
  @Test
  void syncsAreDroppedOnce() {
    Module once = drop("all").run(decoder(2));
    assertThatThrownBy(() -> drop("0").run(once)).hasMessageContaining("P4222");
  }
}
