package io.partita.benchmarks.paper;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/** The goals of the page, in order. */
final class Goals {
  static final String GEMM = "int8 gemm";
  static final String GEMV = "int8 gemv";
  static final String REQUANTIZED_GEMV = "int8 gemv, requantized to int8";
  static final String FLOAT_GEMM = "f32 gemm";
  static final String DECODER = "tinyllama-42m";
  static final String SCALED = "tinyllama-42m-64h";

  private static final int DECODER_BLOCKS = 8;

  private final Measurements measured;
  private final List<Goal> goals = new ArrayList<>();

  private Goals(Measurements measured) {
    this.measured = measured;
  }

  static List<Goal> of(Measurements measured) {
    Goals it = new Goals(measured);
    it.kernels();
    it.peers();
    it.autoregressive();
    it.models();
    it.prompt();
    it.more();
    it.predictions();
    return it.goals;
  }

  private void kernels() {
    Optional<KernelRun> gemm = measured.kernel(GEMM);
    Optional<KernelRun> floats = measured.kernel(FLOAT_GEMM);
    goals.add(
        Goal.atLeast(
            19,
            " MAC/cycle",
            "int8 gemm, operands in L1",
            "15.5 (PULP-NN), limit 21.3",
            gemm.map(KernelRun::rate),
            gemm.map(run -> blocks(run, Siracusa.PRODUCTS)).orElse("")));
    vector(GEMV + ", weights from L2", measured.kernel(GEMV));
    vector("the same, requantized to int8", measured.kernel(REQUANTIZED_GEMV));
    goals.add(
        Goal.atLeast(
            3.3,
            " MAC/cycle",
            "f32 gemm, operands in L1",
            "limit 4",
            floats.map(KernelRun::rate),
            floats.map(run -> blocks(run, Siracusa.FLOAT_PRODUCTS)).orElse("")));
  }

  private void vector(String what, Optional<KernelRun> run) {
    goals.add(
        Goal.atLeast(
            6.7,
            " MAC/cycle",
            what,
            "limit 7.97",
            run.map(KernelRun::loopRate),
            run.map(
                    found ->
                        String.format(
                            Locale.ROOT,
                            "cores compute in %.0f %% of the loop",
                            100.0 * found.computing() / found.cycles()))
                .orElse("")));
  }

  private static String blocks(KernelRun run, double limit) {
    return String.format(
        Locale.ROOT,
        "%.0f cycles for each block of 16 sums besides its products at the limit",
        run.overhead(limit));
  }

  private void peers() {
    peers(PeerRun.INTEGER, "integer networks, of Deeploy's cycles", PeerRun::integer);
    peers(
        PeerRun.FLOAT,
        "float networks, of Deeploy's cycles",
        peer -> !peer.integer() && !peer.kernel());
    peers(PeerRun.KERNEL, "single kernels, of Deeploy's cycles", PeerRun::kernel);
  }

  /** A goal isn't met as long as a network isn't there. */
  private void peers(double bound, String what, Predicate<PeerRun> chosen) {
    List<PeerRun> peers = measured.peers().stream().filter(chosen).toList();
    List<String> over = new ArrayList<>();
    for (PeerRun peer : peers) {
      if (!peer.isThere()) {
        over.add(peer.network() + " not measured");
      } else if (peer.ratio() > bound) {
        over.add(peer.network() + " " + Goal.number(peer.ratio()));
      }
    }
    Goal goal =
        Goal.atMost(
            bound,
            "",
            what,
            "1",
            peers.stream().filter(PeerRun::isThere).map(PeerRun::ratio).max(Double::compare),
            String.join(", ", over) + "; [all](#beside-deeploy)");
    goals.add(peers.stream().allMatch(PeerRun::isThere) ? goal : goal.inPart());
  }

  private void autoregressive() {
    Optional<BlockRun> eight = measured.of(Workload.AUTOREGRESSIVE, 8);
    goals.add(time(TimeGoal.TOKEN));
    goals.add(
        block(
            0.48,
            " mJ",
            "the same with loads of weights from L3",
            "0.64 mJ",
            eight,
            run -> 1e3 * run.joulesWithLoads(),
            Goals::energies));
    goals.add(
        block(
            0.16,
            " mJ",
            "the same without",
            "",
            eight,
            run -> 1e3 * run.joulesWithoutLoads(),
            Goals::energies));
    goals.add(
        block(
            1.1,
            "",
            "the same on 1 chip, of L3's time",
            "",
            measured.of(Workload.AUTOREGRESSIVE, 1),
            run -> run.run().interval() / run.run().l3Roofline()));
  }

  private void models() {
    Optional<ModelRun> decoder = measured.model(DECODER, 8, 8).filter(ModelRun::hasThreeTokens);
    goals.add(
        Goal.atMost(
            1.1,
            "",
            "whole TinyLlama-42M on 8 chips, from token to token: of the longer of L3's time and"
                + " computing",
            "",
            decoder.map(
                model -> model.interval() / Math.max(model.run().l3Roofline(), busy(model.run()))),
            decoder.map(model -> shares(model.run())).orElse("")));
    resident(16, 8);
    resident(8, 4);
  }

  /** The time in which a chip doesn't wait for L3. */
  private static long busy(Run run) {
    return run.cycles() - run.slowest().l3();
  }

  private void resident(int chips, int bits) {
    Optional<ModelRun> model = measured.model(SCALED, chips, bits);
    goals.add(
        Goal.atMost(
            0,
            " MB",
            "TinyLlama-42M with 64 heads in "
                + bits
                + " bits on "
                + chips
                + " chips: loads of blocks",
            "32 chips",
            model.map(run -> run.blocks() / 1e6),
            model.map(Goals::loads).orElse("")));
  }

  /** Loads of more bytes than the blocks' weights have show that these take more bits in memory. */
  private static String loads(ModelRun run) {
    double weights = Workload.AUTOREGRESSIVE.weights() * DECODER_BLOCKS * run.bits() / 8.0;
    return "the chips' L2 for weights of "
        + Goal.number(weights / 1e6)
        + " MB"
        + (run.blocks() > weights ? ", which take more bits there" : "")
        + "; loads of embedding and head: "
        + Goal.number(run.ends() / 1e6)
        + " MB";
  }

  private void prompt() {
    goals.add(time(TimeGoal.PROMPT));
    goals.add(roofline("the same on 1 chip", Workload.PROMPT));
    speedup(Workload.PROMPT, 8);
  }

  private Goal roofline(String what, Workload workload) {
    return block(
        1.15,
        "",
        what + ", of the longer of L3's time and products at 21.3 MAC/cycle",
        "",
        measured.of(workload, 1),
        run ->
            run.run().interval()
                / Math.max(run.run().l3Roofline(), workload.macs() / Siracusa.PRODUCTS));
  }

  private void speedup(Workload workload, int chips) {
    double published = Published.of(workload, chips).orElseThrow().speedup().orElseThrow();
    Optional<Double> speedup =
        measured
            .of(workload, 1)
            .flatMap(
                one ->
                    measured
                        .of(workload, chips)
                        .map(run -> one.run().interval() / run.run().interval()));
    goals.add(
        Goal.none(
            "speedup of " + chips + " chips over that one",
            Goal.number(published),
            speedup,
            measured.of(workload, chips).map(run -> shares(run.run())).orElse("")));
  }

  private void more() {
    goals.add(time(TimeGoal.MOBILEBERT));
    goals.add(time(TimeGoal.TOKEN_64));
    goals.add(roofline("the same on 1 chip", Workload.AUTOREGRESSIVE_64));
    speedup(Workload.AUTOREGRESSIVE_64, 64);
  }

  private void predictions() {
    List<Run> runs = new ArrayList<>(measured.blocks().stream().map(BlockRun::run).toList());
    measured.models().stream().map(ModelRun::run).forEach(runs::add);
    List<Double> errors =
        runs.stream()
            .map(run -> 100 * Math.abs((double) run.predicted() / run.cycles() - 1))
            .sorted()
            .toList();
    goals.add(
        Goal.atMost(
            6,
            " %",
            "predictions of all runs of this page: median of the errors",
            "",
            errors.isEmpty() ? Optional.empty() : Optional.of(errors.get(errors.size() / 2)),
            "exchanges; [measurements](measurements.md#networks) has other networks"));
  }

  private Goal time(TimeGoal goal) {
    return block(
        goal.milliseconds(),
        " ms",
        goal.what(),
        goal.paper(),
        measured.of(goal.workload(), goal.chips()),
        run -> Siracusa.milliseconds(run.run().cycles()));
  }

  private static Goal block(
      double bound,
      String unit,
      String what,
      String paper,
      Optional<BlockRun> run,
      Function<BlockRun, Double> value) {
    return block(bound, unit, what, paper, run, value, Goals::shares);
  }

  /**
   * @param bounds returns what bounds the run
   */
  private static Goal block(
      double bound,
      String unit,
      String what,
      String paper,
      Optional<BlockRun> run,
      Function<BlockRun, Double> value,
      Function<Run, String> bounds) {
    return Goal.atMost(
        bound, unit, what, paper, run.map(value), run.map(BlockRun::run).map(bounds).orElse(""));
  }

  /** What the slowest chip does, in percent of its time. */
  static String shares(Run run) {
    Run.Breakdown parts = run.slowest();
    double percent = 100.0 / run.cycles();
    return String.format(
        Locale.ROOT,
        "computing %.0f %%, L2 and control %.0f %%, waiting for L3 %.0f %%, links %.0f %%",
        percent * parts.compute(),
        percent * parts.l2(),
        percent * parts.l3(),
        percent * parts.link());
  }

  /** The energy of what all chips do, without loads. */
  private static String energies(Run run) {
    Run.Energy parts = run.energy();
    return String.format(
        Locale.ROOT,
        "computing %.3f mJ, L2 %.3f mJ, links %.3f mJ",
        1e3 * parts.compute(),
        1e3 * parts.l2(),
        1e3 * parts.link());
  }
}
