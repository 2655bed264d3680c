package io.partita.maven;

import java.nio.file.Path;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.graph.Exclusion;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.DependencyRequest;
import org.eclipse.aether.resolution.DependencyResolutionException;

/**
 * The jars of the compiler. They aren't dependencies of the plugin, which Maven would resolve and
 * open in every build, but are resolved when a goal has something to do.
 *
 * @param repositories where plugins come from
 */
record CompilerArtifacts(
    RepositorySystem system, RepositorySystemSession session, List<RemoteRepository> repositories) {
  /** Only {@code generate} reads tokenizers, of ten jars. */
  private static final Exclusion TOKENIZERS =
      new Exclusion("ai.djl.huggingface", "tokenizers", "*", "*");

  private static final String RUNTIME = "runtime";

  /**
   * Returns the class path of a compiler, whose files are in the local repository.
   *
   * @throws MojoExecutionException if they aren't in any repository, or can't be fetched
   */
  List<Path> classPath(String groupId, String version) throws MojoExecutionException {
    Artifact compiler = new DefaultArtifact(groupId, "partita-cli", "jar", version);
    Dependency root = new Dependency(compiler, RUNTIME, false, List.of(TOKENIZERS));
    CollectRequest request = new CollectRequest(root, repositories);
    try {
      return system
          .resolveDependencies(session, new DependencyRequest(request, null))
          .getArtifactResults()
          .stream()
          .map(result -> result.getArtifact().getFile().toPath())
          .toList();
    } catch (DependencyResolutionException e) {
      throw new MojoExecutionException(
          "the compiler "
              + compiler
              + " can't be resolved, which goals do when a model has to be compiled or checked: "
              + e.getMessage()
              + (session.isOffline()
                  ? ". Maven is offline; 'mvn dependency:get -Dartifact="
                      + groupId
                      + ":partita-cli:"
                      + version
                      + "' or a build that isn't offline puts the compiler into the local repository"
                  : ""),
          e);
    }
  }
}
