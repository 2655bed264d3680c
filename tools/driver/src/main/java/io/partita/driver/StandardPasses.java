package io.partita.driver;

import io.partita.driver.chip.SchedulePass;
import io.partita.driver.quantize.QuantizePass;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.op.Codec;
import io.partita.ir.stage.Stage;
import io.partita.ir.stage.Staged;
import io.partita.passes.Pass;
import io.partita.passes.PassCall;
import io.partita.passes.PassCode;
import io.partita.passes.PassRegistry;
import io.partita.passes.Pipeline;
import io.partita.passes.graph.element.StoreInBf16;
import io.partita.passes.graph.raise.RaisePass;
import io.partita.passes.graph.simplify.SimplifyPass;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.graph.state.KvStatePass;
import io.partita.passes.mesh.shard.ClassTokens;
import io.partita.passes.mesh.shard.SelectPass;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.speculate.SpeculateGroups;
import io.partita.passes.mesh.sync.BlockSelection;
import io.partita.passes.mesh.sync.ChooseAlgorithms;
import io.partita.passes.mesh.sync.DropSyncs;
import io.partita.passes.mesh.sync.SetCodec;
import io.partita.passes.program.localize.DelayReceives;
import io.partita.passes.program.localize.Localize;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** All passes, and the default pipelines. */
public final class StandardPasses {
  public static final PassRegistry REGISTRY =
      new PassRegistry(
          List.of(
              PassRegistry.entry(new SimplifyPass()),
              PassRegistry.entry(new RaisePass()),
              PassRegistry.entry(new StoreInBf16()),
              PassRegistry.entry(
                  QuantizePass.NAME + "(calibration=FILE, ...)",
                  QuantizePass.PURPOSE,
                  QuantizePass::of),
              PassRegistry.entry(ChooseAlgorithms.byDeviceCount()),
              PassRegistry.entry(
                  "sync-codec(bf16)",
                  "send floats between devices in fewer bits: bf16",
                  StandardPasses::syncCodec),
              PassRegistry.entry(
                  "drop-syncs(blocks=0-3+5)",
                  "let devices continue with their own attention in some blocks: all, or such as 0-3+5",
                  StandardPasses::dropSyncs),
              PassRegistry.entry(
                  "low-bit(calibration=FILE, ...)",
                  "send terms of sums in few bits, with ranges from partita calibrate",
                  LowBitOptions::pass),
              PassRegistry.entry(
                  "kv-state(capacity=N)",
                  "turn the KV cache from inputs and outputs into state of N positions",
                  call -> {
                    call.requireOptions("capacity", "");
                    long capacity =
                        call.integer("capacity")
                            .orElseGet(
                                () ->
                                    call.integer("")
                                        .orElseThrow(
                                            () ->
                                                call.wrong(
                                                    "capacity", "a number of positions", "none")));
                    if (capacity < 1) {
                      throw call.wrong("capacity", "1 position or more", Long.toString(capacity));
                    }
                    return new KvStatePass(capacity, note -> {});
                  }),
              PassRegistry.entry(
                  "select(top_k=K)",
                  "return the best K next tokens of a language model instead of all scores",
                  StandardPasses::select),
              PassRegistry.entry(
                  "class-tokens(devices=N)",
                  "give each device of a sequence split a class token, and the head their mean",
                  StandardPasses::classTokens),
              PassRegistry.entry(
                  "shard(tensor=N, sequence=N, pipeline=N, norm=everywhere|root|tokens, inside=N,"
                      + " vocabulary=split|replicated, remaining=split|replicated,"
                      + " capacities=N:N:...)",
                  "distribute the model over devices: tensor=N, sequence=N, pipeline=N or several",
                  call -> new ShardPass(Strategy.of(call.arguments()))),
              PassRegistry.entry(
                  "speculate(lambda=L, chunk=C, guess=computed|sent, devices=N)",
                  "let a second group of devices run ahead on an approximate attention",
                  StandardPasses::speculate),
              PassRegistry.entry(new Localize()),
              PassRegistry.entry(
                  Pass.of(
                      "delay-receives",
                      "let devices compute while messages are in flight",
                      Stage.PROGRAM,
                      Stage.PROGRAM,
                      program -> DelayReceives.apply(program, Localize.CAPACITY))),
              new PassRegistry.Entry(
                  SchedulePass.NAME,
                  "schedule(target=T, l1=B)",
                  SchedulePass.PURPOSE,
                  Stage.PROGRAM,
                  Stage.SCHEDULE,
                  SchedulePass::of)));

  private StandardPasses() {}

  private static SetCodec syncCodec(PassCall call) {
    call.requireOptions("");
    String name = call.arguments().getOrDefault("", "");
    List<String> names =
        Codec.ALL.stream().filter(each -> each != Codec.EXACT).map(Codec::toString).toList();
    if (!names.contains(name)) {
      throw call.wrong("", String.join(" or ", names), name.isEmpty() ? "none" : name);
    }
    return new SetCodec(Codec.parse(name));
  }

  private static DropSyncs dropSyncs(PassCall call) {
    call.requireOptions("blocks");
    String blocks = call.arguments().getOrDefault("blocks", "");
    return new DropSyncs(
        BlockSelection.parse(blocks)
            .orElseThrow(
                () -> call.wrong("blocks", "all, or numbers and ranges such as 0-3+5", blocks)));
  }

  private static SpeculateGroups speculate(PassCall call) {
    call.requireOptions("lambda", "chunk", "guess", "devices");
    Map<String, String> options = new TreeMap<>(call.arguments());
    options.remove("devices");
    return new SpeculateGroups(
        Speculation.of("pass " + call.name(), options), call.integer("devices"));
  }

  private static ClassTokens classTokens(PassCall call) {
    call.requireOptions("devices");
    long devices = call.integer("devices").orElse(0);
    if (devices < 1 || devices > Integer.MAX_VALUE) {
      throw call.wrong("devices", "the number of devices", call.arguments().toString());
    }
    return new ClassTokens((int) devices);
  }

  /** {@code select(greedy)} is {@code select(top_k=1)}. */
  private static SelectPass select(PassCall call) {
    call.requireOptions("top_k", "");
    boolean isGreedy = "greedy".equals(call.arguments().get("")) && call.arguments().size() == 1;
    long count = isGreedy ? 1 : call.integer("top_k").orElse(0);
    if (count < 1 || call.arguments().size() != 1) {
      throw call.wrong("", "greedy, or top_k=K of 1 or more", call.arguments().toString());
    }
    return new SelectPass(count);
  }

  /** The passes that prepare a model for a backend, except for its KV cache and its dimensions. */
  public static Pipeline usual() {
    return Pipeline.parse("simplify,raise,simplify", REGISTRY);
  }

  /** The passes that clean up after a change of a module. */
  static Pipeline tidy() {
    return new Pipeline(List.of(new SimplifyPass()));
  }

  /**
   * The passes before a test case runs: none for the evaluator, which then checks only the import.
   */
  public static Pipeline forChecking(Target target) {
    return target == Target.EVALUATOR ? new Pipeline(List.of()) : usual();
  }

  /**
   * Verifies the result of a pass.
   *
   * @throws PartitaException if it isn't valid, which is a bug in the pass
   */
  public static void verifyStructure(Pass<?, ?> pass, Staged<?> model) {
    List<Diagnostic> violations = model.violations();
    if (!violations.isEmpty()) {
      Diagnostic first = violations.getFirst();
      throw new PartitaException(
          PassCode.BROKE_MODULE,
          "pass " + pass.name() + ", " + first.where(),
          first.expected(),
          first.found(),
          "report this as a bug in Partita, with the model");
    }
  }
}
