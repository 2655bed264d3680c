package io.partita.benchmarks.paper;

import io.partita.benchmarks.paper.Chart.Axis;
import io.partita.benchmarks.paper.Chart.Bar;
import io.partita.benchmarks.paper.Chart.Panel;
import io.partita.benchmarks.paper.Chart.Series;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** The paper's figures 4, 5 and 6 from our measurements. */
final class PaperPlots {
  private static final String ON_CHIP = "weights on chips";
  private static final String LOADED = "with loads of the next block's";
  private static final String PAPER = "the paper";
  private static final List<Workload> ORIGINAL =
      List.of(Workload.AUTOREGRESSIVE, Workload.PROMPT, Workload.MOBILEBERT);
  private static final List<Workload> SCALED =
      List.of(Workload.AUTOREGRESSIVE_64, Workload.PROMPT_64);

  private final Measurements measured;

  private PaperPlots(Measurements measured) {
    this.measured = measured;
  }

  /** Returns the pictures by the ends of their files' names. */
  static Map<String, String> of(Measurements measured) {
    PaperPlots it = new PaperPlots(measured);
    Map<String, String> pictures = new LinkedHashMap<>();
    pictures.put("runtime", it.runtime());
    pictures.put("energy", it.energy());
    pictures.put("speedup", it.speedup());
    return pictures;
  }

  private String runtime() {
    List<Series> parts =
        List.of(
            part("computing", Chart.BLUE),
            part("L2 and control", Chart.GREEN),
            part("waiting for L3", Chart.YELLOW),
            part("links", Chart.RED));
    return Chart.of(
        "A block's time on the slowest chip by what it does, ms",
        ORIGINAL.stream().map(this::runtime).toList(),
        parts);
  }

  private static Series part(String name, String colour) {
    return new Series(name, colour, false, List.of());
  }

  private Panel runtime(Workload workload) {
    List<BlockRun> runs = measured.of(workload);
    Series paper =
        published(
            workload,
            Published::milliseconds,
            point -> new double[] {point.chips(), point.milliseconds().orElseThrow()});
    List<Double> times = new ArrayList<>(values(List.of(paper), 1));
    runs.forEach(run -> times.add(milliseconds(run)));
    return new Panel(
        workload.shortTitle(),
        chips(workload),
        Axis.over("ms", times, false),
        List.of(paper),
        runs.stream().map(PaperPlots::bar).toList());
  }

  /** The points of the paper that state a figure. */
  private static Series published(
      Workload workload,
      Function<Published, OptionalDouble> figure,
      Function<Published, double[]> point) {
    return new Series(
        PAPER,
        Chart.BLACK,
        false,
        Published.of(workload).stream()
            .filter(each -> figure.apply(each).isPresent())
            .map(point)
            .toList());
  }

  private static Bar bar(BlockRun run) {
    Run.Breakdown parts = run.run().slowest();
    return new Bar(
        run.run().chips(),
        Stream.of(parts.compute(), parts.l2(), parts.l3(), parts.link())
            .map(Siracusa::milliseconds)
            .toList());
  }

  private static double milliseconds(BlockRun run) {
    return Siracusa.milliseconds(run.run().cycles());
  }

  private static Axis chips(Workload workload) {
    List<Double> marks = workload.chips().stream().map(Integer::doubleValue).toList();
    return new Axis("chips", marks.getFirst(), marks.getLast(), true, marks);
  }

  private String energy() {
    List<Panel> panels = new ArrayList<>();
    for (Workload workload : Workload.values()) {
      List<Series> series =
          List.of(
              new Series(
                  ON_CHIP,
                  Chart.BLUE,
                  true,
                  points(
                      workload, PaperPlots::milliseconds, run -> 1e3 * run.joulesWithoutLoads())),
              new Series(
                  LOADED,
                  Chart.GREEN,
                  true,
                  points(
                      workload,
                      run -> Siracusa.milliseconds(run.cyclesWithLoads()),
                      run -> 1e3 * run.joulesWithLoads())),
              published(
                  workload,
                  Published::millijoules,
                  point ->
                      new double[] {
                        point.milliseconds().orElseThrow(), point.millijoules().orElseThrow()
                      }));
      panels.add(
          new Panel(
              workload.shortTitle(),
              Axis.over("ms", values(series, 0), true),
              Axis.over("mJ", values(series, 1), true),
              series,
              List.of()));
    }
    return Chart.of(
        "Energy by the paper's formula against time, for each number of chips", panels, List.of());
  }

  private List<double[]> points(
      Workload workload, ToDoubleFunction<BlockRun> x, ToDoubleFunction<BlockRun> y) {
    return measured.of(workload).stream()
        .map(run -> new double[] {x.applyAsDouble(run), y.applyAsDouble(run)})
        .toList();
  }

  private static List<Double> values(List<Series> series, int coordinate) {
    return series.stream()
        .flatMap(each -> each.points().stream())
        .map(point -> point[coordinate])
        .toList();
  }

  private String speedup() {
    List<Panel> panels = new ArrayList<>();
    for (Workload workload : Stream.concat(SCALED.stream(), ORIGINAL.stream()).toList()) {
      List<Series> series = new ArrayList<>();
      measured
          .of(workload, 1)
          .ifPresent(
              one -> {
                series.add(
                    new Series(
                        ON_CHIP,
                        Chart.BLUE,
                        true,
                        points(
                            workload,
                            run -> run.run().chips(),
                            run -> one.run().interval() / run.run().interval())));
                series.add(
                    new Series(
                        LOADED,
                        Chart.GREEN,
                        true,
                        points(
                            workload,
                            run -> run.run().chips(),
                            run -> one.cyclesWithLoads() / run.cyclesWithLoads())));
              });
      series.add(
          published(
              workload,
              Published::speedup,
              point -> new double[] {point.chips(), point.speedup().orElseThrow()}));
      series.add(
          new Series(
              "as many times as chips",
              Chart.GREY,
              true,
              workload.chips().stream().map(chips -> new double[] {chips, chips}).toList()));
      panels.add(
          new Panel(
              workload.shortTitle(),
              chips(workload),
              Axis.over("times one chip", values(series, 1), true),
              series,
              List.of()));
    }
    return Chart.of("Speedup over one chip by the number of chips", panels, List.of());
  }
}
