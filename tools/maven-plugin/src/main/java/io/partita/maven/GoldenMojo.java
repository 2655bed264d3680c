package io.partita.maven;

import io.partita.golden.GoldenFolder;
import java.io.File;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Compares emitted files with committed ones and fails with a diff if they differ. With {@code
 * -Dgolden.update=true} the committed ones are rewritten instead.
 */
@Mojo(name = "golden", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class GoldenMojo extends ModelMojo {
  /** The folder of the committed files. */
  @Parameter(
      property = "partita.goldens",
      defaultValue = "${project.basedir}/src/test/golden/${mojo.executionId}")
  File goldens;

  /**
   * Globs of the files to compare, such as {@code **.java} or {@code chip*.c}; by default all but
   * weights, checksums and the data of reports.
   */
  @Parameter List<String> includes = new ArrayList<>();

  /** Rewrites the committed files. */
  @Parameter(property = GoldenFolder.UPDATE, defaultValue = "false")
  boolean update;

  /** Created by Maven. */
  public GoldenMojo() {}

  @Override
  void executeOnModel() throws MojoExecutionException, MojoFailureException {
    GoldenFolder folder = GoldenFolder.of(goldens.toPath()).including(includes);
    try {
      if (update) {
        folder
            .update(output.toPath())
            .forEach(file -> getLog().info("updated " + new File(goldens, file)));
        return;
      }
      String difference = folder.difference(output.toPath());
      if (!difference.isEmpty()) {
        throw failure("isn't compiled to what was committed", new CompilerFailure(difference));
      }
    } catch (UncheckedIOException e) {
      throw new MojoExecutionException(
          "goldens in " + goldens + " can't be read or written: " + FileProblem.words(e.getCause()),
          e);
    }
  }
}
