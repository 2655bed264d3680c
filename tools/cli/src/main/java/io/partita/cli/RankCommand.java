package io.partita.cli;

import io.partita.driver.Compilation;
import io.partita.driver.OutputFile;
import io.partita.driver.evaluate.Evaluation;
import io.partita.driver.evaluate.EvaluationData;
import io.partita.driver.evaluate.Ranking;
import io.partita.driver.evaluate.RankingFile;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.BlockRanking;
import io.partita.passes.mesh.sync.BlockSelection;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Ranks blocks by the cost of dropping a sync. */
@Command(
    name = "rank",
    description = {
      "Measure the cost of dropping the sync after attention in each block of a model, for"
          + " --sync 'ranked N: drop' and 'insensitive: drop'.",
      "Syncs are dropped one after the other, from the last block to the first; the sensitivity of"
          + " a block is the resulting loss in the metric. Repeating the command resumes an interrupted"
          + " ranking."
    })
final class RankCommand implements Callable<Integer> {
  @Parameters(paramLabel = "MODEL", description = "A .onnx or .pir file.")
  GivenModel model;

  @Mixin DataOptions data = new DataOptions();

  @Option(
      names = "--array",
      paramLabel = "NAME",
      description = "The array of samples; by default ${DEFAULT-VALUE}.")
  String array = "calibration";

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "FILE",
      description = "The ranking (.json).")
  Path output;

  @Option(
      names = "--tau1",
      paramLabel = "X",
      description =
          "A block of at most this sensitivity is insensitive (ISB); by default ${DEFAULT-VALUE}.")
  double insensitive = BlockRanking.INSENSITIVE;

  @Option(
      names = "--tau2",
      paramLabel = "X",
      description =
          "A block of at most this sensitivity is sensitive (SB), others extremely sensitive (ESB); by"
              + " default ${DEFAULT-VALUE}.")
  double sensitive = BlockRanking.SENSITIVE;

  @Option(
      names = "--scatter",
      paramLabel = "BLOCKS",
      description =
          "Also choose the heads that devices have when the sync of these blocks is dropped: all, or"
              + " numbers such as 0-3+5. By default those of extremely sensitive blocks.")
  String scattered;

  @Mixin ModelOptions options = new ModelOptions();

  @Mixin DeviceOptions devices = new DeviceOptions();

  @Option(names = "--json", description = "Print JSON.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    data.verify(spec);
    OutputFile.verify(output);
    if (!(insensitive <= sensitive && Double.isFinite(insensitive + sensitive))) {
      throw new ParameterException(
          spec.commandLine(), "--tau1 and --tau2 take finite numbers, and --tau2 the larger one");
    }
    Strategy strategy = devices.required(spec);
    Compilation.Request request =
        new Compilation.Request(
            model.file(), options.dims, options.values, null, OptionalLong.empty());
    EvaluationData given = EvaluationData.read(data.file, array);
    PrintWriter err = spec.commandLine().getErr();
    RankingFile file;
    try (Progress progress = Progress.start(err, "starting")) {
      file =
          new Ranking(progress::note, progress)
              .run(
                  new Ranking.Request(
                      new Evaluation.Request(
                          request,
                          Optional.empty(),
                          given,
                          data.scaling(),
                          data.samples(),
                          data.threads),
                      strategy,
                      insensitive,
                      sensitive,
                      blocks(),
                      output));
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.text(report(file)));
    } else {
      lines(file).forEach(out::println);
    }
    return ExitCode.DONE;
  }

  private BlockSelection blocks() {
    return scattered == null
        ? BlockSelection.NONE
        : BlockSelection.parse(scattered)
            .orElseThrow(
                () ->
                    new ParameterException(
                        spec.commandLine(),
                        "--scatter takes all, or numbers and ranges such as 0-3+5, not "
                            + scattered));
  }

  /** The value with the last blocks dropped is listed in the line of the first of them. */
  private List<String> lines(RankingFile file) {
    BlockRanking ranking = file.ranking();
    List<String> lines = new ArrayList<>();
    lines.add(String.format(Locale.ROOT, "%-5s %12s %12s", "block", file.metric(), "sensitivity"));
    for (int block : ranking.order()) {
      lines.add(
          String.format(
              Locale.ROOT,
              "%-5d %12.4f %12.4f  %s",
              block,
              file.values().get(ranking.blocks().size() - block),
              ranking.blocks().get(block).sensitivity(),
              text(ranking.kind(block))));
    }
    lines.add(String.format(Locale.ROOT, "%-5s %12.4f", "exact", file.values().getFirst()));
    file.heads().forEach((block, order) -> lines.add("heads of block " + block + ": " + order));
    lines.add(output + ": " + ranking.blocks().size() + " blocks on " + ranking.mesh());
    return lines;
  }

  private static String text(BlockRanking.Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private Map<String, Object> report(RankingFile file) {
    BlockRanking ranking = file.ranking();
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("output", output.toString());
    report.put("mesh", ranking.mesh());
    report.put("metric", file.metric());
    report.put("values", file.values());
    report.put("order", ranking.order());
    List<Map<String, Object>> blocks = new ArrayList<>();
    for (int block = 0; block < ranking.blocks().size(); block++) {
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("block", block);
      entry.put("sensitivity", ranking.blocks().get(block).sensitivity());
      entry.put("kind", text(ranking.kind(block)));
      blocks.add(entry);
    }
    report.put("blocks", blocks);
    Map<String, Object> heads = new LinkedHashMap<>();
    file.heads().forEach((block, order) -> heads.put(block.toString(), order));
    report.put("heads", heads);
    return report;
  }
}
