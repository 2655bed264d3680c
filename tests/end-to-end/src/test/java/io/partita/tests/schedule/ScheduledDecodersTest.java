package io.partita.tests.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.ir.graph.Module;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Address;
import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.ChipSchedule.StoredConstant;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleStep.FetchRows;
import io.partita.ir.schedule.ScheduleStep.StartTransfer;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.type.TensorType;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.DevicePrediction;
import io.partita.tests.recorded.SharedFolder;
import io.partita.zoo.Mode;
import io.partita.zoo.Zoo;
import io.partita.zoo.ZooOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Decoders fit Siracusa chips, and data that isn't resident in L2 is fetched once per token. */
@Timeout(300)
class ScheduledDecodersTest {
  private static final int CAPACITY = 128;

  @TempDir private Path folder;

  private static Module prepared(Path model) {
    Map<String, Long> dims = Map.of("past", (long) CAPACITY);
    return new Compilation(note -> {}, progress -> {})
        .prepare(new Compilation.Request(model, dims, Map.of(), null));
  }

  private Module zoo(String name, ZooOptions options) throws IOException {
    Path file = folder.resolve(name + ".onnx");
    Zoo.write(name, options.withMode(Mode.DECODE).withDynamic(true), file);
    return prepared(file);
  }

  private static Program alone(Module module) {
    Mesh mesh = Mesh.line("chips", 1);
    SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
    module.graph().inputs().forEach(each -> inputs.put(each.name(), whole(mesh, each.type())));
    SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    module
        .graph()
        .outputs()
        .forEach(each -> outputs.put(each.name(), whole(mesh, each.value().type())));
    return new Program(mesh, List.of(module), inputs, outputs);
  }

  private static ShardedType whole(Mesh mesh, TensorType type) {
    return new ShardedType(type, Layout.replicated(mesh, type.rank()));
  }

  private static Schedule schedule(Module module, int chips) {
    Program program =
        chips == 1
            ? alone(module)
            : Distribution.program(new ShardPass(Strategy.parse("tensor=" + chips)).run(module));
    return Scheduler.schedule(
        program, TargetLibrary.find("siracusa:chips=" + chips), SchedulerOptions.STANDARD);
  }

  /**
   * Checks that each constant in L3 is either a table whose rows are fetched, or fetched whole,
   * once.
   *
   * @return the number of constants that are fetched whole
   */
  private static int fetchesEachWeightOnce(ChipSchedule chip) {
    int whole = 0;
    Set<Address> tables =
        chip.steps().stream()
            .filter(FetchRows.class::isInstance)
            .map(step -> ((FetchRows) step).table())
            .collect(Collectors.toSet());
    for (StoredConstant constant : chip.constants()) {
      if (!constant.at().isHome()) {
        long end = constant.at().offset() + constant.bytes();
        long fetched =
            chip.steps().stream()
                .filter(StartTransfer.class::isInstance)
                .map(StartTransfer.class::cast)
                .filter(
                    start ->
                        start.far().offset() >= constant.at().offset()
                            && start.far().offset() < end)
                .mapToLong(StartTransfer::bytes)
                .sum();
        if (!tables.contains(constant.at())) {
          assertThat(fetched).as(constant.text()).isEqualTo((constant.bytes() + 7) / 8 * 8);
          whole++;
        }
      }
    }
    return whole;
  }

  @ParameterizedTest(name = "{0} chips")
  @ValueSource(ints = 3)
  void trainedLlamaFitsAnyNumberOfChips(int chips) {
    Path models = SharedFolder.require("models", "it comes with the project's data");
    Schedule schedule =
        schedule(prepared(models.resolve("shakespeare-llama/decode/network.onnx")), chips);
    for (ChipSchedule chip : schedule.roles()) {
      assertThat(chip.home().used()).isLessThanOrEqualTo(chip.home().available());
      fetchesEachWeightOnce(chip);
    }
    assertThat(schedule.roles()).hasSizeLessThanOrEqualTo(3);
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0} chips")
  @ValueSource(ints = {1, 8})
  void trainedLlamaFitsOtherNumbersOfChips(int chips) {
    trainedLlamaFitsAnyNumberOfChips(chips);
  }

  @Tag("thorough")
  @Test
  void decoderOfTheMcuPaperFitsEightChips() throws IOException {
    Schedule schedule = schedule(zoo("tinyllama-42m", ZooOptions.defaults()), 8);
    long blocks = 8L * (4 * 512 * 512 + 2 * 512 * 2048) / 8 * Float.BYTES;
    long scores = 32000L * 512 / 8 * Float.BYTES;
    for (ChipSchedule chip : schedule.roles()) {
      assertThat(fetchesEachWeightOnce(chip)).isPositive();
      long fetched =
          chip.steps().stream()
              .mapToLong(step -> step instanceof StartTransfer start ? start.bytes() : 0)
              .sum();
      long staying =
          chip.constants().stream()
              .filter(each -> each.at().isHome() && each.bytes() > 8192)
              .mapToLong(StoredConstant::bytes)
              .sum();
      assertThat(fetched + staying).isEqualTo(blocks + scores);
      assertThat(staying).isGreaterThan(1 << 20);
    }
    assertThat(schedule.roles()).hasSizeLessThanOrEqualTo(3);
  }

  /**
   * The schedule sends the bytes of the program's messages, and takes less time than without
   * prefetch.
   */
  @Test
  void predictionsCountMessagesAndFetches() {
    Path models = SharedFolder.require("models", "it comes with the project's data");
    Module module = prepared(models.resolve("shakespeare-llama/decode/network.onnx"));
    Schedule schedule = schedule(module, 8);
    TargetDescription target = TargetLibrary.find("siracusa:chips=8");
    SchedulePrediction prediction = SchedulePrediction.of(schedule, target);
    for (DevicePrediction device : prediction.devices()) {
      Module own = schedule.program().devices().get(device.device());
      List<Step> messages =
          own.graph().nodes().stream()
              .filter(node -> node.op() instanceof Communication.Exchange)
              .flatMap(node -> ((Communication.Exchange) node.op()).steps().stream())
              .toList();
      assertThat(device.traffic().sent()).isEqualTo(bytes(messages, Step.Send.class));
      assertThat(device.traffic().received()).isEqualTo(bytes(messages, Step.Receive.class));
    }
    SchedulerOptions inTurn = new SchedulerOptions(OptionalLong.empty(), true, false);
    Schedule slower = Scheduler.schedule(schedule.program(), target, inTurn);
    assertThat(SchedulePrediction.of(slower, target).seconds()).isGreaterThan(prediction.seconds());
  }

  private static long bytes(List<Step> messages, Class<? extends Step> kind) {
    return messages.stream().filter(kind::isInstance).mapToLong(Step::bytes).sum();
  }

  @Tag("thorough")
  @Test
  void sixtyFourChipsHaveFewRoles() throws IOException {
    Schedule schedule = schedule(zoo("tinyllama-42m-64h", ZooOptions.defaults().withLayers(2)), 64);
    assertThat(schedule.roles().stream().mapToInt(role -> role.devices().size()).sum())
        .isEqualTo(64);
    assertThat(schedule.roles()).hasSizeLessThan(8);
    for (ChipSchedule chip : schedule.roles()) {
      assertThat(fetchesEachWeightOnce(chip)).as("all weights stay in L2").isZero();
      assertThat(chip.constants()).anyMatch(each -> each.at().isHome() && each.bytes() > 8192);
    }
  }
}
