package io.partita.benchmarks;

import ai.onnxruntime.OrtException;
import com.fasterxml.jackson.jr.ob.JSON;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Runs all or the given benchmarks; prints a table and writes it as JSON. */
final class Benchmarks {
  private static final Path JSON_FILE = Path.of("tests", "benchmarks", "target", "benchmarks.json");
  private static final String TINY_LLAMA = "tinyllama-42m";

  /** The tokens in the decoder's cache, including the new one. */
  private static final int CAPACITY = 128;

  private static final int PROMPT = 256;

  private final List<Figure> figures = new ArrayList<>();
  private final Path folder;
  private final Launcher partita;

  private Benchmarks(Path folder) {
    this.folder = folder;
    this.partita = new Launcher(folder);
  }

  private interface Benchmark {
    void run() throws IOException, InterruptedException, OrtException;
  }

  /** See {@code tests/benchmarks/run}. */
  public static void main(String[] names) throws Exception {
    Path folder = Files.createTempDirectory("partita-benchmarks-");
    try {
      new Benchmarks(folder).run(new TreeSet<>(List.of(names)));
    } finally {
      delete(folder);
    }
  }

  private void run(Set<String> names) throws IOException, InterruptedException, OrtException {
    Map<String, Benchmark> all = new LinkedHashMap<>();
    all.put("start", this::start);
    all.put("compile", this::compile);
    all.put("chips", this::chips);
    all.put("inspect", this::inspect);
    all.put("plan", this::plan);
    all.put("decode", this::decode);
    all.put("prefill", this::prefill);
    if (!all.keySet().containsAll(names)) {
      throw new IllegalArgumentException("the benchmarks are " + String.join(", ", all.keySet()));
    }
    System.out.printf(
        "%s, %s, %d processors%n",
        System.getProperty("os.name"),
        System.getProperty("java.vm.name") + " " + Runtime.version(),
        Runtime.getRuntime().availableProcessors());
    for (Map.Entry<String, Benchmark> benchmark : all.entrySet()) {
      if (names.isEmpty() || names.contains(benchmark.getKey())) {
        benchmark.getValue().run();
      }
    }
    List<Map<String, Object>> fields = figures.stream().map(Figure::fields).toList();
    Files.createDirectories(JSON_FILE.getParent());
    JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).write(fields, JSON_FILE.toFile());
    System.out.println(JSON_FILE.toString().replace(File.separatorChar, '/'));
  }

  private void add(Figure figure) {
    figures.add(figure);
    System.out.println(figure.line());
  }

  private void start() throws IOException, InterruptedException {
    add(Figure.atMost("partita --version", partita.least(5, "--version"), "s", 0.5));
  }

  private String zoo(String model, String file, String... options)
      throws IOException, InterruptedException {
    Path onnx = folder.resolve(file);
    if (!Files.exists(onnx)) {
      List<String> arguments = new ArrayList<>(List.of("zoo", model, "-o", onnx.toString()));
      arguments.addAll(List.of(options));
      partita.seconds(arguments.toArray(String[]::new));
    }
    return onnx.toString();
  }

  private String decoder() throws IOException, InterruptedException {
    return zoo(TINY_LLAMA, "decode.onnx", "--mode", "decode", "--dynamic");
  }

  private double compile(String onnx, String output, String... options)
      throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of("-J-Xmx512m", "compile", onnx));
    arguments.addAll(List.of("--target", "java", "-o", folder.resolve(output).toString()));
    arguments.addAll(List.of(options));
    return partita.least(3, arguments.toArray(String[]::new));
  }

  private void compile() throws IOException, InterruptedException {
    double prompt = compile(zoo(TINY_LLAMA, "prompt.onnx"), "prompt");
    add(Figure.atMost("compile " + TINY_LLAMA + ", prompt, 512 MB of heap", prompt, "s", 5));
    double decode = compile(decoder(), "decode", "--dim", "past=" + CAPACITY);
    add(Figure.atMost("compile " + TINY_LLAMA + ", decode, 512 MB of heap", decode, "s", 5));
  }

  /** Compiles the networks of the peer suite to C for one chip, and a text model for four chips. */
  private void chips() throws IOException, InterruptedException {
    Path models = Path.of("..", "shared", "peer-suite", "Models");
    if (Files.isDirectory(models)) {
      List<Path> networks;
      try (Stream<Path> files = Files.walk(models)) {
        networks = files.filter(file -> file.endsWith("network.onnx")).sorted().toList();
      }
      for (Path network : networks) {
        chips(models.relativize(network.getParent()).toString(), network, 1);
      }
    }
    Path decoder = Path.of("tests", "models", "tiny-shakespeare", "decode", "network.onnx");
    chips("tiny-shakespeare", decoder, 4, "--dim", "past=" + CAPACITY);
  }

  private void chips(String what, Path network, int count, String... options)
      throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of("compile", network.toString()));
    arguments.addAll(List.of("--target", "siracusa:chips=" + count, "--devices", "" + count));
    arguments.addAll(List.of("-o", folder.resolve("chips").toString()));
    arguments.addAll(List.of(options));
    double seconds = partita.processorSeconds(arguments.toArray(String[]::new));
    add(Figure.of("compile " + what + " to C for " + count + ", processor time", seconds, "s"));
  }

  private void inspect() throws IOException, InterruptedException {
    String onnx = zoo("llama-3.1-8b", "llama.onnx");
    double seconds = partita.least(3, "-J-Xmx1g", "inspect", onnx);
    add(Figure.atMost("inspect llama-3.1-8b, 1 GB of heap", seconds, "s", 10));
  }

  private void plan() throws IOException, InterruptedException {
    String onnx = zoo("llama-3.1-8b", "llama.onnx");
    String target = "siracusa:chips=32,l3=2GiB";
    double seconds = partita.least(2, "-J-Xmx2g", "plan", onnx, "--target", target);
    add(Figure.atMost("plan llama-3.1-8b on 32 chips, 2 GB of heap", seconds, "s", 20));
    String small = zoo(TINY_LLAMA, "prompt.onnx");
    double auto =
        partita.least(
            2, "-J-Xmx512m", "plan", small, "--target", "siracusa:chips=64", "--devices", "auto");
    add(Figure.atMost("plan " + TINY_LLAMA + " on 1 to 64 chips, 512 MB of heap", auto, "s", 30));
  }

  private void decode() throws IOException, InterruptedException, OrtException {
    String onnx = decoder();
    compile(onnx, "decode", "--dim", "past=" + CAPACITY);
    Path compiled = folder.resolve("decode");
    try (DecoderRace race = new DecoderRace(Path.of(onnx), compiled, CAPACITY)) {
      addRace(
          "decode " + TINY_LLAMA + ", capacity " + CAPACITY, race, 2 * CAPACITY, 3 * CAPACITY, 0.5);
    }
  }

  private void prefill() throws IOException, InterruptedException, OrtException {
    String onnx = zoo(TINY_LLAMA, "prefill.onnx", "--seq", "" + PROMPT);
    compile(onnx, "prefill");
    try (PrefillRace race = new PrefillRace(Path.of(onnx), folder.resolve("prefill"))) {
      addRace("prefill " + TINY_LLAMA + ", " + PROMPT + " tokens", race, 10, 10, Double.NaN);
    }
  }

  /**
   * @param least the required speed relative to ONNX Runtime, or NaN
   */
  private void addRace(String what, Race race, int warmUp, int runs, double least)
      throws OrtException {
    Race.Times times = race.run(warmUp, runs);
    add(Figure.of(what + ": emitted Java, a run", times.javaMedian(), "ms"));
    add(Figure.of(what + ": ONNX Runtime, 1 thread", times.onnxRuntimeMedian(), "ms"));
    add(Figure.atLeast(what + ": speed, ONNX Runtime = 1", times.speed(), "", least));
    add(Figure.of(what + ": largest difference of logits", race.worst(), ""));
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
