package io.partita.cli;

import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.GvsocHeaders;
import io.partita.backend.emitted.run.GvsocPython;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists the tools on this machine that Partita uses, and how to install missing ones. */
@Command(
    name = "doctor",
    description = {
      "Check this machine: JDK, heap, processors, Maven, start-up cache, and the tools that build and"
          + " run emitted C; and say how to install what is missing.",
      "The exit code is 1 if a required tool is missing."
    })
final class DoctorCommand implements Callable<Integer> {
  private static final long MEBIBYTE = 1 << 20;

  /** Enough for every zoo model of up to a billion parameters, since weights are mapped. */
  private static final long GOOD_HEAP = 512 * MEBIBYTE;

  private static final String CACHE_OPTION = "-XX:AOTCache=";

  enum Status {
    OK,
    OPTIONAL,
    MISSING
  }

  /**
   * One finding.
   *
   * @param fix the remedy; empty if there is no problem
   */
  record Finding(String name, Status status, String value, String fix) {}

  @Option(names = "--gvsoc", paramLabel = "PATH", description = "Where GVSoC is installed.")
  Path gvsoc;

  @Option(
      names = GvsocPython.OPTION,
      paramLabel = "PROGRAM",
      description = "The Python that runs GVSoC, or that has ttnn; by default python3.")
  String pythonName;

  @Mixin TtsimOptions ttsim = new TtsimOptions();

  @Option(names = "--json", description = "Print one JSON object instead of lines.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    List<Finding> findings =
        new ArrayList<>(
            List.of(
                version(), jdk(), compiler(), heap(), processors(), startUp(), maven(), scratch()));
    ChipTools.all().forEach(tool -> findings.add(chipTool(tool)));
    findings.addAll(gvsocPackages());
    findings.addAll(gvsocHeaders());
    findings.addAll(ranks());
    findings.addAll(TtsimTools.findings(pythonName, ttsim));
    boolean well = findings.stream().noneMatch(finding -> finding.status() == Status.MISSING);
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.text(report(findings, well)));
    } else {
      int width =
          findings.stream().mapToInt(finding -> finding.name().length()).max().orElseThrow();
      findings.forEach(finding -> print(finding, width, out));
      out.println(well ? "all required tools are installed" : "a required tool is missing");
    }
    return well ? ExitCode.DONE : ExitCode.CHECK_FAILED;
  }

  private static Finding version() throws IOException {
    return ok("partita", new Version().getVersion()[0].substring("partita ".length()));
  }

  private static Finding jdk() {
    return ok("JDK", Runtime.version() + ", " + System.getProperty("java.home"));
  }

  private static Finding compiler() {
    return ToolProvider.getSystemJavaCompiler() != null
        ? ok("javac", "in the JDK")
        : new Finding(
            "javac",
            Status.MISSING,
            "this Java has none; run, generate and check --target java need it",
            "install a JDK of 25 or newer and set JAVA_HOME to its folder");
  }

  private static Finding heap() {
    long bytes = Runtime.getRuntime().maxMemory();
    String size = "at most " + bytes / MEBIBYTE + " MiB";
    return bytes >= GOOD_HEAP
        ? ok("heap", size)
        : new Finding(
            "heap", Status.OPTIONAL, size, "increase it, for example: partita -J-Xmx2g …");
  }

  private static Finding processors() {
    return ok("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
  }

  /** The JVM ignores a cache that it can't use, such as the empty one of a failed training run. */
  private static Finding startUp() throws IOException {
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (argument.startsWith(CACHE_OPTION)) {
        Path cache = Path.of(argument.substring(CACHE_OPTION.length()));
        if (Files.isRegularFile(cache) && Files.size(cache) > 0) {
          return ok("AOT cache", cache + ", " + Files.size(cache) / MEBIBYTE + " MiB");
        }
        return new Finding(
            "AOT cache",
            Status.OPTIONAL,
            cache + " is not usable, so commands start slowly",
            "delete it; ./partita makes a new one");
      }
    }
    return new Finding(
        "AOT cache",
        Status.OPTIONAL,
        "none in use, so commands start slowly",
        "start Partita by its ./partita script");
  }

  private static Finding maven() {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of(path.split(File.pathSeparator))
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder, "mvn"))
        .filter(Files::isExecutable)
        .findFirst()
        .map(mvn -> ok("Maven", mvn.toString()))
        .orElse(
            new Finding(
                "Maven",
                Status.OPTIONAL,
                "not on the PATH; only building needs it",
                "apt install maven, brew install maven, or https://maven.apache.org"));
  }

  private static Finding scratch() {
    Path folder = Path.of(System.getProperty("java.io.tmpdir"));
    return Files.isWritable(folder)
        ? ok("scratch", folder.toString())
        : new Finding(
            "scratch",
            Status.MISSING,
            folder + " can't be written; emitted Java is compiled there",
            "name another folder: partita -J-Djava.io.tmpdir=FOLDER …");
  }

  private static Finding chipTool(ChipTools.Tool tool) {
    return tool.found()
        .map(found -> ok(tool.name(), found + "; " + tool.purpose()))
        .orElseGet(
            () ->
                new Finding(
                    tool.name(),
                    Status.OPTIONAL,
                    "not on the PATH; " + tool.purpose(),
                    tool.fix()));
  }

  /** Checks the packages that GVSoC imports, by importing them. */
  private List<Finding> gvsocPackages() {
    Optional<Path> python = GvsocPython.find(pythonName == null ? GvsocPython.USUAL : pythonName);
    if (python.isEmpty()) {
      return List.of();
    }
    Optional<Path> installed = gvsocInstallation();
    String name = "GVSoC's Python";
    try {
      List<String> missing = GvsocPython.missing(python.get(), installed);
      return List.of(
          missing.isEmpty()
              ? ok(name, python.get() + " has the packages")
              : new Finding(
                  name,
                  Status.OPTIONAL,
                  python.get() + " lacks " + String.join(", ", missing) + "; --on gvsoc needs them",
                  GvsocPython.remedy(python.get(), missing) + ", or --python PROGRAM"));
    } catch (IOException broken) {
      return List.of(new Finding(name, Status.OPTIONAL, broken.getMessage(), "--python PROGRAM"));
    }
  }

  private Optional<Path> gvsocInstallation() {
    return gvsoc != null
        ? Optional.of(gvsoc)
        : Build.find("gvsoc").map(found -> found.resolve("../..").normalize());
  }

  /** Checks that the board's components for GVSoC can be compiled. */
  private List<Finding> gvsocHeaders() {
    String name = "GVSoC's headers";
    return gvsocInstallation().stream()
        .map(Path::toAbsolutePath)
        .map(
            installed ->
                GvsocHeaders.find(installed, Optional.empty())
                    .map(found -> ok(name, found.toString()))
                    .orElseGet(
                        () ->
                            new Finding(
                                name,
                                Status.OPTIONAL,
                                "not around " + installed + "; --on gvsoc needs them",
                                GvsocHeaders.OPTION
                                    + " PATH: core/engine/include of GVSoC's sources")))
        .toList();
  }

  /** Checks that MPI starts processes on this machine. */
  private static List<Finding> ranks() throws IOException {
    if (Build.find("mpirun").isEmpty()) {
      return List.of();
    }
    String problem = ChipTools.startRanks();
    return List.of(
        problem.isEmpty()
            ? ok("MPI ranks", "mpirun starts two processes")
            : new Finding(
                "MPI ranks",
                Status.OPTIONAL,
                "mpirun can't start two processes: " + problem,
                "install a complete MPI: apt-get install openmpi-bin libopenmpi-dev"));
  }

  static Finding ok(String name, String value) {
    return new Finding(name, Status.OK, value, "");
  }

  private static void print(Finding finding, int width, PrintWriter out) {
    String status = finding.status().name().toLowerCase(Locale.ROOT);
    String name = finding.name() + " ".repeat(width - finding.name().length());
    out.printf("%-8s  %s  %s%n", status, name, finding.value());
    if (!finding.fix().isEmpty()) {
      out.printf("%s  fix: %s%n", " ".repeat(10 + width), finding.fix());
    }
  }

  private static Map<String, Object> report(List<Finding> findings, boolean well) {
    List<Map<String, Object>> entries = new ArrayList<>();
    for (Finding finding : findings) {
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("name", finding.name());
      entry.put("status", finding.status().name().toLowerCase(Locale.ROOT));
      entry.put("value", finding.value());
      entry.put("fix", finding.fix());
      entries.add(entry);
    }
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("ok", well);
    report.put("findings", entries);
    return report;
  }
}
