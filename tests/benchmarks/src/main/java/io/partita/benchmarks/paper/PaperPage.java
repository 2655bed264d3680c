package io.partita.benchmarks.paper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** The page and its pictures. */
public final class PaperPage {
  /** The name of the page and of all files beside it. */
  public static final String NAME = "mcu-paper";

  private static final String INTRODUCTION =
      """
      # The MCU paper, measured again

      S. Bochem et al., *Distributed Inference with Minimal Off-Chip Traffic for Transformers on Low-Power MCUs* (DATE 2025), split TinyLlama-42M and MobileBERT over Siracusa chips, simulated by GVSoC.
      This page has the same blocks in 8 bits, compiled by Partita and measured on the same simulator, beside the paper's figures. `tests/benchmarks/gvsoc PATH paper` measures them, and writes this page, its pictures and
      [all figures as JSON](mcu-paper.json). What hasn't changed since isn't measured again.

      All programs run twice, and the second run counts; where the first kernels' weights have room in L1 at the end of a run, they are already there or on their way, as they are within a model when the block before ends. Cycles are those of the slowest chip at 500 MHz, from the beginning of its run to the end, of programs that record whole runs and no steps (`make gvsoc PROFILE=runs`). One cycle is 2 ns; L3 gives 0.8 bytes a cycle, and a link 1. [Measurements](measurements.md) states the other conditions.
      Energy is computed by the formula of the paper's section V-A: 13 mW for each core while kernels run, 100 pJ for each byte of L3 and of links, 2 pJ for each byte between L2 and L1.

      The paper measures one block, and says that the weights of the next block are loaded from L3 meanwhile. So there are two figures for each block. *Measured* is the run of the block as the only one of its network; *loads inside*
      are the bytes that it loads from L3 because the chips' L2 can't hold its weights and cache. *With the next block's loads* assumes that L3 loads all matrices of a block during each block: the time is
      the longer of the run and these loads, the energy has these loads too. Whole decoders [below](#whole-decoders) measure how loads and computation really overlap. *Speedup* compares times between runs: the longer of a run and the loads that it starts, the last of which are for the next run.

      A token's block is split by `tensor` or by `tensor,norm=columns`, blocks with several tokens by `tensor`, by `tensor,norm=tokens`, by `sequence`, or by tokens between groups of four chips and by `tensor,norm=tokens` within each (as `sequence=2,tensor=4,norm=tokens` for eight chips), whichever is predicted to be the fastest. With all but the first, chips have the block's input and output split by tokens, as they are between the blocks of a model.
      With `sequence`, each chip or each group has all weights, so that all of them load these; only keys and values are exchanged between them.
      """;

  private final Measurements measured;
  private final List<String> lines = new ArrayList<>();

  private PaperPage(Measurements measured) {
    this.measured = measured;
  }

  /** Returns the files of the page by name. */
  public static Map<String, String> files(Measurements measured) throws IOException {
    Map<String, String> files = new LinkedHashMap<>();
    files.put(NAME + ".json", measured.json());
    files.put(NAME + ".md", new PaperPage(measured).page());
    PaperPlots.of(measured)
        .forEach((name, picture) -> files.put(NAME + "-" + name + ".svg", picture));
    return files;
  }

  public static void write(Measurements measured, Path folder) throws IOException {
    for (Map.Entry<String, String> file : files(measured).entrySet()) {
      Files.writeString(folder.resolve(file.getKey()), file.getValue());
    }
  }

  private String page() {
    lines.add(INTRODUCTION);
    goals();
    bounds();
    kernels();
    peers();
    lines.add("## Blocks\n");
    for (Workload workload : Workload.values()) {
      block(workload);
    }
    breakdown();
    energy();
    lines.add("## Speedup\n");
    lines.add(
        "Figure 6 of the paper, and the same for the models with their own heads. Speedups are over"
            + " the run on one chip with the same loads.\n");
    lines.add("![Speedup over one chip by the number of chips](" + NAME + "-speedup.svg)\n");
    models();
    return String.join("\n", lines);
  }

  private void goals() {
    lines.add("## Goals\n");
    lines.add("| what | goal | paper | Partita | met | what bounds it |");
    lines.add("| --- | ---: | ---: | ---: | --- | --- |");
    Goals.of(measured).forEach(goal -> lines.add(goal.line()));
    lines.add(
        "| accuracy in 8 and 4 bits | perplexity within 1 % and 4 %, top-1 within 0.3 points | |"
            + " [quantization](quantization.md#accuracy) | | |");
    lines.add(
        "\n"
            + "\"On 1 chip, of L3's time\" may be met although the run is shorter than L3's time:"
            + " the last loads are for the next run.\n");
  }

  /** The least times of blocks that have goals, with these kernels and exchanges. */
  private void bounds() {
    lines.add("## Lower bounds\n");
    add(
        "What blocks that have goals take at least with these kernels and messages. The DMA"
            + " reads a chip's part of the matrices and of the cache at %s bytes a cycle; its"
            + " kernels, which need each other's results, run one after the other, each as long as"
            + " it takes alone; a link takes the bytes that a chip sends, at %s byte a cycle. These"
            + " three can overlap, so that the longest counts."
            + " What nothing hides are the ways of the last messages of each exchange between the"
            + " chips that are the farthest apart: %.0f cycles for each link, and %.0f for each of"
            + " the two chips. A block has two exchanges, and four with norms split by tokens or"
            + " products by columns; with tokens split between groups of four chips, those within"
            + " a group count. What the slowest chip does more, by its counters: *computing*"
            + " besides its kernels' time alone, since cold instruction caches, banks that several"
            + " cores use and the DMA delay them; *L2, control and L3*, where it waits for"
            + " transfers and the control core starts loops; *links* besides these ways: messages,"
            + " and what the control core does for each.\n",
        Goal.number(Siracusa.DMA_RATE),
        Goal.number(Siracusa.LINK_RATE),
        Siracusa.LINK_LATENCY,
        Siracusa.MESSAGE);
    lines.add(
        "| block | DMA | kernels | links | ways of messages | at least | ms | goal, ms | measured"
            + " | computing more | L2, control and L3 | links more |");
    lines.add(
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (TimeGoal goal : TimeGoal.values()) {
      measured
          .of(goal.workload(), goal.chips())
          .ifPresent(block -> bound(goal, block, LowerBound.of(block)));
    }
    lines.add("");
  }

  private void bound(TimeGoal goal, BlockRun block, LowerBound bound) {
    Run run = block.run();
    add(
        "| %s | %,.0f | %,.0f | %,.0f | %,.0f | %,.0f | %.3f | %s | %,d | %,.0f | %,d | %,.0f |",
        goal.what(),
        bound.weights(),
        bound.kernels(),
        bound.links(),
        bound.ways(),
        bound.cycles(),
        Siracusa.milliseconds(bound.cycles()),
        Goal.number(goal.milliseconds()),
        run.cycles(),
        run.slowest().compute() - bound.kernels(),
        run.slowest().l2() + run.slowest().l3(),
        run.slowest().link() - bound.ways());
  }

  private void kernels() {
    lines.add("## Kernels\n");
    lines.add(
        "Eight cores of one chip. *In L1* counts the cycles in which the kernel runs, *loop* all"
            + " cycles of the loop, transfers between L2 and L1 included.\n");
    lines.add("| kernel | size | cycles | computing | MAC/cycle in L1 | loop |");
    lines.add("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (KernelRun run : measured.kernels()) {
      add(
          "| %s | [%d, %d] x [%d, %d] | %,d | %,d | %.2f | %.2f |",
          run.name(),
          run.rows(),
          run.inner(),
          run.inner(),
          run.columns(),
          run.cycles(),
          run.computing(),
          run.rate(),
          run.loopRate());
    }
    lines.add("");
    lines.add(
        "Functions of elements and of rows: the cycles that each of the eight cores takes for an"
            + " element of its part, with operands in L1. Two cores share a unit of floats, so that"
            + " an operation on floats takes a core two cycles at least; all share the unit that"
            + " divides and takes roots.\n");
    lines.add("| kernel | size | cycles | computing | cycles for an element |");
    lines.add("| --- | ---: | ---: | ---: | ---: |");
    for (ElementsRun run : measured.elements()) {
      add(
          "| %s | [%d, %d] | %,d | %,d | %.1f |",
          run.name(),
          run.rows(),
          run.columns(),
          run.cycles(),
          run.computing(),
          run.cyclesForAnElement());
    }
    lines.add("");
  }

  private void peers() {
    lines.add("## Beside Deeploy\n");
    lines.add(
        "Networks of Deeploy's test suite on one chip, beside the cycles of Deeploy's own code"
            + " ([what they are](measurements.md#beside-deeploy)). Of a single kernel, the first run"
            + " counts: its code is cold.\n");
    lines.add("| network | Deeploy, cycles | Partita, cycles | of Deeploy's | goal, at most |");
    lines.add("| --- | ---: | ---: | ---: | ---: |");
    for (PeerRun peer : measured.peers()) {
      add(
          "| %s | %,d | %s | %s | %s |",
          peer.network(),
          peer.deeploy(),
          peer.isThere() ? String.format(Locale.ROOT, "%,d", peer.cycles()) : "not measured",
          peer.isThere() ? String.format(Locale.ROOT, "%.2f", peer.ratio()) : "",
          Goal.number(peer.bound()));
    }
    lines.add("");
  }

  private void block(Workload workload) {
    List<BlockRun> runs = measured.of(workload);
    lines.add("### " + workload.title() + "\n");
    if (!runs.isEmpty()) {
      lines.add(
          "| chips | split by | loads inside | measured, cycles | predicted | ms | speedup | mJ"
              + " without L3 | with the next block's loads, ms | speedup | mJ | paper, ms | speedup"
              + " | mJ |");
      lines.add(
          "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
              + " ---: | ---: |");
    }
    Optional<BlockRun> one = measured.of(workload, 1);
    for (BlockRun block : runs) {
      Run run = block.run();
      Optional<Published> published = Published.of(workload, run.chips());
      add(
          "| %d | %s | %s | %,d | %+.0f %% | %.3f | %s | %.3f | %.3f | %s | %.3f | %s | %s | %s |",
          run.chips(),
          run.chips() == 1 ? "" : "`" + block.strategy() + "`",
          block.onChip()
              ? "none"
              : String.format(Locale.ROOT, "%.2f MB", run.moved().loads() / 1e6),
          run.cycles(),
          100 * ((double) run.predicted() / run.cycles() - 1),
          Siracusa.milliseconds(run.cycles()),
          one.map(base -> Goal.number(base.run().interval() / run.interval())).orElse(""),
          1e3 * block.joulesWithoutLoads(),
          Siracusa.milliseconds(block.cyclesWithLoads()),
          one.map(base -> Goal.number(base.cyclesWithLoads() / block.cyclesWithLoads())).orElse(""),
          1e3 * block.joulesWithLoads(),
          number(published.map(Published::milliseconds)),
          number(published.map(Published::speedup)),
          number(published.map(Published::millijoules)));
    }
    for (Misfit misfit : measured.misfits()) {
      if (misfit.workload() == workload) {
        add(
            "\nOn %d %s it can't be compiled: %s.",
            misfit.chips(), misfit.chips() == 1 ? "chip" : "chips", misfit.reason());
      }
    }
    lines.add("");
  }

  private static String number(Optional<OptionalDouble> value) {
    OptionalDouble found = value.orElse(OptionalDouble.empty());
    return found.isPresent() ? Goal.number(found.getAsDouble()) : "";
  }

  private void breakdown() {
    lines.add("## Runtime\n");
    lines.add(
        "Figure 4 of the paper: what the slowest chip does, by its counters. *Computing* are the"
            + " cycles in which kernels run, those that add what other chips sent included, and"
            + " those in which the control core awaits transfers before it awaits a kernel. *L2 and"
            + " control* are all others: transfers between L2 and L1 that aren't hidden,\n"
            + "and the control core's code.\n");
    lines.add("![A block's time by what the slowest chip does](" + NAME + "-runtime.svg)\n");
    lines.add(
        "| block | chips | computing | L2 and control | waiting for L3 | links | bytes L2-L1 |"
            + " L3-L2 | links |");
    lines.add("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (BlockRun block : measured.blocks()) {
      Run run = block.run();
      Run.Breakdown parts = run.slowest();
      Run.Moved moved = run.moved();
      add(
          "| %s | %d | %,d | %,d | %,d | %,d | %,d | %,d | %,d |",
          block.workload().shortTitle(),
          run.chips(),
          parts.compute(),
          parts.l2(),
          parts.l3(),
          parts.link(),
          moved.l2(),
          moved.l3(),
          moved.link());
    }
    lines.add("");
  }

  private void energy() {
    lines.add("## Energy\n");
    lines.add("Figure 5 of the paper. The crosses are what its text states.\n");
    lines.add("![Energy against time](" + NAME + "-energy.svg)\n");
    lines.add("| block | chips | computing, mJ | L2-L1 | L3-L2, measured | links | all |");
    lines.add("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (BlockRun block : measured.blocks()) {
      Run.Energy energy = block.run().energy();
      add(
          "| %s | %d | %.3f | %.3f | %.3f | %.3f | %.3f |",
          block.workload().shortTitle(),
          block.run().chips(),
          1e3 * energy.compute(),
          1e3 * energy.l2(),
          1e3 * energy.l3(),
          1e3 * energy.link(),
          1e3 * energy.total());
    }
    lines.add("");
  }

  private void models() {
    lines.add("## Whole decoders\n");
    lines.add(
        "One token at the end of a cache of 128, with embedding and head. Loads of all chips are"
            + " counted in the schedule; *L3's time* is that of the chip that loads most."
            + " *Interval* is the time from token to token: with *, measured from the beginning of"
            + " the second token to that of the third, with the time that recording takes; else the"
            + " longer of the run and L3's time."
            + " *Least traffic* is compiled with `--set least_traffic=on`, which keeps as many"
            + " weights in L2 as there is room for, though it takes longer. The target's parameter"
            + " `reserved` is the part of L2 for code and data, 128 KiB by default.\n");
    lines.add(
        "| model, bits | chips | loads for blocks, MB | for embedding and head | cycles | predicted"
            + " | waiting for L3 | L3's time | interval, ms | mJ |");
    lines.add("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (ModelRun model : measured.models()) {
      Run run = model.run();
      String reserved =
          model.reserved() == ModelRun.RESERVED ? "" : ", `reserved=" + model.reserved() + "KiB`";
      add(
          "| %s, %d%s%s | %d | %.2f | %.2f | %,d | %+.0f %% | %,d | %,.0f | %.2f%s | %.2f |",
          model.model(),
          model.bits(),
          model.leastTraffic() ? ", least traffic" : "",
          reserved,
          model.chips(),
          model.blocks() / 1e6,
          model.ends() / 1e6,
          run.cycles(),
          100 * ((double) run.predicted() / run.cycles() - 1),
          run.slowest().l3(),
          run.l3Roofline(),
          Siracusa.milliseconds(model.interval()),
          model.hasThreeTokens() ? " *" : "",
          1e3 * run.energy().total());
    }
    lines.add("");
  }

  private void add(String format, Object... values) {
    lines.add(String.format(Locale.ROOT, format, values));
  }
}
