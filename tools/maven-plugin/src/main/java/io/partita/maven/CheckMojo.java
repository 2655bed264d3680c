package io.partita.maven;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Runs recorded inputs through emitted code and compares its outputs with recorded ones. Each case
 * is compiled with the shapes of its arrays. Does nothing if nothing has changed since all cases
 * passed.
 */
@Mojo(name = "check", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class CheckMojo extends ModelMojo {
  /**
   * Folders of recorded cases, or folders above them: {@code network.onnx}, {@code inputs.npz} and
   * {@code outputs.npz}, or ONNX's {@code test_data_set_0}. By default the folder of the model.
   */
  @Parameter List<File> cases = new ArrayList<>();

  /** Relative tolerance of floats. */
  @Parameter(property = "partita.relativeTolerance")
  String relativeTolerance;

  /** Absolute tolerance of floats. */
  @Parameter(property = "partita.absoluteTolerance")
  String absoluteTolerance;

  /** Created by Maven. */
  public CheckMojo() {}

  @Override
  void executeOnModel() throws MojoExecutionException, MojoFailureException {
    if (plan != null) {
      throw failure(
          "can't be checked",
          new CompilerFailure(
              "cases are compiled with a strategy, not with a plan: give this goal <strategy> and"
                  + " <devices> in a separate execution"));
    }
    List<Path> folders =
        cases.isEmpty()
            ? List.of(model.getAbsoluteFile().getParentFile().toPath())
            : cases.stream().map(File::toPath).toList();
    List<String> command = command(folders);
    Stamp stamp = stamp(command);
    if (stamp.isCurrent()) {
      getLog().info("the recorded cases have passed and are unchanged");
      return;
    }
    stamp.clear();
    Compiler compiler = compiler();
    Instant started = Instant.now();
    CompilerReport report;
    try {
      report = compiler.run(command);
    } catch (CompilerFailure failure) {
      throw failure("can't be checked", failure);
    }
    String failures =
        report.objects("cases").stream()
            .filter(result -> !result.get("status").equals("PASS"))
            .map(result -> result.get("status") + " " + result.get("name") + detail(result))
            .collect(Collectors.joining("\n"));
    if (!failures.isEmpty()) {
      throw failure("doesn't answer as recorded", new CompilerFailure(failures));
    }
    record(stamp, compiler, files(folders), List.of(), started);
    getLog().info(report.objects("cases").size() + " recorded cases passed");
  }

  private static String detail(java.util.Map<?, ?> result) {
    Object detail = result.get("detail");
    return detail == null || detail.equals("") ? "" : "\n  " + detail;
  }

  private List<String> command(List<Path> folders) {
    List<String> command = new ArrayList<>(List.of("check"));
    addShared(command);
    add(command, "--rtol", relativeTolerance);
    add(command, "--atol", absoluteTolerance);
    command.add("--json");
    folders.forEach(folder -> command.add(folder.toString()));
    return command;
  }

  private static List<Path> files(List<Path> folders) throws MojoExecutionException {
    List<Path> files = new ArrayList<>();
    for (Path folder : folders) {
      try (Stream<Path> all = Files.walk(folder)) {
        all.filter(Files::isRegularFile).sorted().forEach(files::add);
      } catch (UncheckedIOException e) {
        throw unreadable(folder, e.getCause());
      } catch (IOException e) {
        throw unreadable(folder, e);
      }
    }
    return files;
  }

  private static MojoExecutionException unreadable(Path folder, IOException failure) {
    return new MojoExecutionException(
        "cases in " + folder + " can't be read: " + FileProblem.words(failure), failure);
  }
}
