package io.partita.maven;

import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import javax.inject.Inject;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProjectHelper;

/**
 * Compiles a model to Java or C. Java is compiled with the sources of the project; C is attached to
 * it as a zip file. Does nothing if model, parameters and compiler are unchanged.
 */
@Mojo(name = "compile", defaultPhase = LifecyclePhase.GENERATE_SOURCES, threadSafe = true)
public final class CompileMojo extends ModelMojo {
  /** The Java package of the class; by default none. */
  @Parameter(property = "partita.packageName")
  String packageName;

  /** The name of the Java class; by default {@code Model}. */
  @Parameter(property = "partita.className")
  String className;

  /** Positions of the KV cache. */
  @Parameter(property = "partita.cacheCapacity")
  Long cacheCapacity;

  /** The number of prompt tokens that a decoder also takes at once. */
  @Parameter(property = "partita.chunk")
  Long chunk;

  /**
   * Quantizes the model first, with the options of {@code partita quantize}: {@code
   * <calibration>eval.npz</calibration><weights>int8</weights>}. The file of the data is relative
   * to the project.
   */
  @Parameter Map<String, String> quantize = new LinkedHashMap<>();

  /** Further options of {@code partita compile}. */
  @Parameter List<String> arguments = new ArrayList<>();

  /** Whether the program is attached to the project as a zip file; by default for C. */
  @Parameter(property = "partita.attach")
  Boolean attach;

  /** The classifier of the attached zip file. */
  @Parameter(property = "partita.classifier", defaultValue = "${mojo.executionId}")
  String classifier;

  @Inject MavenProjectHelper helper;

  /** Created by Maven. */
  public CompileMojo() {}

  @Override
  void executeOnModel() throws MojoExecutionException, MojoFailureException {
    List<String> command = command();
    Stamp stamp = stamp(command);
    if (stamp.isCurrent()) {
      getLog().info(model + " is unchanged since it was compiled");
    } else {
      stamp.clear();
      compile(command, stamp);
    }
    if (isJava()) {
      project.addCompileSourceRoot(output.getPath());
    }
    if (attach == null ? !isJava() : attach) {
      File archive =
          new File(
              project.getBuild().getDirectory(),
              project.getBuild().getFinalName() + "-" + classifier + ".zip");
      ProgramArchive.write(output.toPath(), archive.toPath());
      helper.attachArtifact(project, "zip", classifier, archive);
    }
  }

  private void compile(List<String> command, Stamp stamp)
      throws MojoExecutionException, MojoFailureException {
    Compiler compiler = compiler();
    Instant started = Instant.now();
    CompilerReport report;
    try {
      report = compiler.run(command);
    } catch (CompilerFailure failure) {
      throw failure("can't be compiled", failure);
    }
    report.notes().forEach(getLog()::info);
    List<Path> inputs = report.strings("inputs").stream().map(Path::of).toList();
    List<Path> files =
        report.strings("files").stream().map(file -> output.toPath().resolve(file)).toList();
    record(stamp, compiler, inputs, files, started);
    double seconds = Duration.between(started, Instant.now()).toMillis() / 1e3;
    getLog()
        .info(
            String.format(
                Locale.ROOT, "%s: %d files in %s (%.1f s)", model, files.size(), output, seconds));
  }

  /**
   * Returns the options of a quantization as the command takes them; null for none.
   *
   * @param folder the folder to which the file of the data is relative
   */
  static String quantization(Map<String, String> options, Path folder) {
    if (options.isEmpty()) {
      return null;
    }
    Map<String, String> resolved = new LinkedHashMap<>(options);
    resolved.computeIfPresent("calibration", (name, file) -> folder.resolve(file).toString());
    return resolved.entrySet().stream()
        .map(option -> option.getKey() + "=" + option.getValue())
        .collect(Collectors.joining(","));
  }

  private List<String> command() {
    List<String> command = new ArrayList<>(List.of("compile", model.getPath()));
    addShared(command);
    add(command, "--plan", plan);
    dimensions.forEach((name, extent) -> add(command, "--dim", name + "=" + extent));
    bindings.forEach((name, value) -> add(command, "--bind", name + "=" + value));
    add(command, "--kv-capacity", cacheCapacity);
    add(command, "--chunk", chunk);
    add(command, "--quantize", quantization(quantize, project.getBasedir().toPath()));
    add(command, "--package", packageName);
    add(command, "--class", className);
    command.addAll(arguments);
    command.addAll(List.of("--output", output.getPath(), "--json"));
    return command;
  }
}
