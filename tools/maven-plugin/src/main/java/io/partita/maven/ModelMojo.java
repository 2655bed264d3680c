package io.partita.maven;

import java.io.File;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.inject.Inject;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.apache.maven.toolchain.ToolchainManager;
import org.eclipse.aether.RepositorySystem;

/** The parameters of all goals: a model, its target and the output. */
abstract class ModelMojo extends AbstractMojo {
  /** The {@code .onnx} or {@code .pir} file. */
  @Parameter(property = "partita.model", required = true)
  File model;

  /** The target: {@code java}, or {@code siracusa}, as in {@code siracusa:chips=4}. */
  @Parameter(property = "partita.target", defaultValue = "java")
  String target;

  /** The number of devices; with {@code plan} also {@code auto}. */
  @Parameter(property = "partita.devices")
  String devices;

  /** The strategy, such as {@code pipeline=2,tensor=4}. */
  @Parameter(property = "partita.strategy")
  String strategy;

  /**
   * How the sums of each block are communicated, such as {@code blocks 0-3: drop; others: bf16}.
   */
  @Parameter(property = "partita.sync")
  String sync;

  /** The ranges of sums in few bits, a file of {@code partita calibrate}. */
  @Parameter(property = "partita.calibration")
  File calibration;

  /** The order of blocks for rules that name ranked ones, a file of {@code partita rank}. */
  @Parameter(property = "partita.ranking")
  File ranking;

  /**
   * Lets half of the devices run ahead on an approximate attention: {@code lambda=0.1,chunk=128}.
   */
  @Parameter(property = "partita.speculate")
  String speculate;

  /** Chooses the best strategy for this target, such as {@code siracusa:chips=8}. */
  @Parameter(property = "partita.plan")
  String plan;

  /** Passes to run instead of the default ones. */
  @Parameter(property = "partita.passes")
  String passes;

  /** Extents of dynamic dimensions: {@code <past>256</past>}. */
  @Parameter Map<String, String> dimensions = new LinkedHashMap<>();

  /** Values of inputs that determine shapes: {@code <shape>2,3,4</shape>}. */
  @Parameter Map<String, String> bindings = new LinkedHashMap<>();

  /** Parameters of the target and sizes of its memories: {@code <l3>128MiB</l3>}. */
  @Parameter Map<String, String> settings = new LinkedHashMap<>();

  /** The folder of the program. */
  @Parameter(
      property = "partita.output",
      defaultValue = "${project.build.directory}/generated-sources/partita/${mojo.executionId}")
  File output;

  /** A JDK 25 or newer for the compiler; by default it is searched for. */
  @Parameter(property = "partita.jdkHome")
  File jdkHome;

  /** Options of the compiler's JVM, such as {@code -Xmx4g}. */
  @Parameter List<String> jvmArguments = new ArrayList<>();

  /** Skips the goal. */
  @Parameter(property = "partita.skip", defaultValue = "false")
  boolean skip;

  @Parameter(defaultValue = "${project}", readonly = true, required = true)
  MavenProject project;

  @Parameter(defaultValue = "${session}", readonly = true, required = true)
  MavenSession session;

  @Parameter(defaultValue = "${mojoExecution}", readonly = true, required = true)
  MojoExecution execution;

  @Parameter(defaultValue = "${plugin}", readonly = true, required = true)
  PluginDescriptor plugin;

  @Inject RepositorySystem repositories;

  @Inject ToolchainManager toolchains;

  @Override
  public final void execute() throws MojoExecutionException, MojoFailureException {
    if (skip) {
      getLog().info("skipped");
    } else {
      executeOnModel();
    }
  }

  abstract void executeOnModel() throws MojoExecutionException, MojoFailureException;

  /** Finds a JDK, and resolves the compiler. */
  Compiler compiler() throws MojoExecutionException, MojoFailureException {
    JdkSearch search = new JdkSearch(System.getProperties(), System.getenv());
    Path home =
        jdkHome == null
            ? search.find(Toolchains.homes(toolchains, session))
            : search.require(jdkHome.toPath());
    CompilerArtifacts artifacts =
        new CompilerArtifacts(
            repositories, session.getRepositorySession(), project.getRemotePluginRepositories());
    List<Path> jars = artifacts.classPath(plugin.getGroupId(), plugin.getVersion());
    return new Compiler(home, jars, jvmArguments);
  }

  /** Records the last execution of this goal. */
  Stamp stamp(List<String> arguments) {
    Path folder = Path.of(project.getBuild().getDirectory(), "partita");
    String name = execution.getExecutionId() + "-" + execution.getGoal() + ".stamp";
    List<Path> jars =
        plugin.getArtifacts().stream().map(artifact -> artifact.getFile().toPath()).toList();
    return new Stamp(folder.resolve(name), arguments, jars);
  }

  /** Writes a stamp; if an input has changed meanwhile, says so, and the next build begins anew. */
  void record(
      Stamp stamp, Compiler compiler, List<Path> inputs, List<Path> outputs, Instant started)
      throws MojoExecutionException {
    stamp
        .write(compiler.classPath(), inputs, outputs, started)
        .ifPresent(
            input ->
                getLog()
                    .warn(
                        input
                            + " was changed or removed while goal "
                            + execution.getGoal()
                            + " used it; the next build will not rely on this result"));
  }

  /** The options shared by compiling and checking. */
  void addShared(List<String> arguments) {
    arguments.addAll(List.of("--target", target));
    add(arguments, "--devices", devices);
    add(arguments, "--strategy", strategy);
    add(arguments, "--sync", sync);
    add(arguments, "--calibration", calibration);
    add(arguments, "--ranking", ranking);
    add(arguments, "--speculate", speculate);
    add(arguments, "--passes", passes);
    settings.forEach((name, value) -> arguments.addAll(List.of("--set", name + "=" + value)));
  }

  static void add(List<String> arguments, String option, Object value) {
    if (value != null) {
      arguments.addAll(List.of(option, value.toString()));
    }
  }

  boolean isJava() {
    return target.equals("java");
  }

  /** A failure that names the parameters and the POM. */
  MojoFailureException failure(String what, CompilerFailure failure) {
    return new MojoFailureException(
        new FailureMessage(model, execution.getExecutionId(), project.getFile(), plan, output)
            .text(what, failure));
  }
}
