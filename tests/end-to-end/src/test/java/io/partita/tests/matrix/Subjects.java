package io.partita.tests.matrix;

import io.partita.driver.SeededInputs;
import io.partita.driver.StandardPasses;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.frontend.onnx.OnnxImporter;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import io.partita.tests.recorded.OtherInputs;
import io.partita.tests.recorded.SharedFolder;
import io.partita.zoo.Mode;
import io.partita.zoo.Zoo;
import io.partita.zoo.ZooModel;
import io.partita.zoo.ZooOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** The models that the matrix distributes. */
final class Subjects {
  private static final long SEED = 20_261;
  private static final Path FIXTURES = Path.of("../fixtures");
  private static final Path MODELS = Path.of("../models");

  /** A model that is both in the repository and in the shared data. */
  private static final String BUNDLED = "tiny-shakespeare";

  /** Models whose results on other inputs are meaningless, like those in {@code FixtureTest}. */
  private static final Set<String> RECORDED_INPUTS_ONLY =
      Set.of("microsoft/attention_mask_1d_end_start");

  /** Folders of single operators as written by exporters. */
  private static final Set<String> STRUCTURES =
      Set.of(
          "dynamic",
          "encodings",
          "external",
          "functions",
          "if_constant",
          "microsoft",
          "shape_chains");

  /** Models with more than 1 GB of weights, even with one layer. */
  private static final Set<String> LARGE = Set.of("llama-3.1-8b", "llama-3.1-70b");

  private Subjects() {}

  /** Returns exported networks and single structures. */
  static List<Subject> fixtures() {
    return recorded(FIXTURES).stream()
        .map(
            subject ->
                STRUCTURES.contains(subject.family())
                    ? subject.in("structures of exporters")
                    : subject)
        .toList();
  }

  /** Returns trained networks of the repository and, if available, of the shared data. */
  static List<Subject> trained() {
    List<Subject> subjects = new ArrayList<>(recorded(MODELS));
    SharedFolder.find("models", "it comes with the project's shared data").stream()
        .flatMap(folder -> recorded(folder).stream())
        .filter(subject -> !subject.family().equals(BUNDLED))
        .forEach(subjects::add);
    return subjects.stream().map(subject -> subject.in("trained models")).toList();
  }

  /** Returns decoders with a growing cache in their compiled form. */
  static List<Subject> decoders() {
    List<Subject> subjects = new ArrayList<>();
    for (Subject subject : Stream.of(fixtures(), trained()).flatMap(List::stream).toList()) {
      if (Decoders.isDecoder(subject)) {
        subjects.add(Decoders.compiled(subject));
      }
    }
    return subjects;
  }

  /** Returns the test networks of Deeploy, if available in the shared data. */
  static List<Subject> peers() {
    return SharedFolder.find("peer-suite", "see PeerSuiteTest").stream()
        .flatMap(folder -> recorded(folder).stream())
        .map(
            subject ->
                subject.in(
                    subject.family().equals("Models")
                        ? "networks of the peer suite"
                        : "kernels of the peer suite"))
        .toList();
  }

  /** Returns models of the zoo with one layer, of which the blocks alone are parts. */
  static List<Subject> zoo(Path scratch) {
    List<Subject> subjects = new ArrayList<>();
    for (ZooModel model : Zoo.models()) {
      boolean isPart = model.name().endsWith("-block");
      if (!isPart && !LARGE.contains(model.name())) {
        for (Mode mode : model.decodes() ? Mode.values() : new Mode[] {Mode.PROMPT}) {
          String name = model.name() + " " + mode.name().toLowerCase(Locale.ROOT);
          Path file = scratch.resolve(name + ".onnx");
          subjects.add(
              new Subject("models of the zoo", "zoo", name, file, () -> zoo(model, mode, file)));
        }
      }
    }
    return subjects;
  }

  private static Subject.Loaded zoo(ZooModel model, Mode mode, Path file) {
    ZooOptions options = ZooOptions.defaults().withLayers(1).withMode(mode);
    if (model.decodes()) {
      options = options.withSequence(16);
    }
    try {
      if (!Files.exists(file)) {
        Zoo.write(model.name(), options, file);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    Module imported = new OnnxImporter(ImportOptions.NONE).examine(OnnxModel.read(file)).orThrow();
    Module module = StandardPasses.usual().run(imported, (pass, before, after) -> {});
    return loaded(module, SeededInputs.of(module.graph(), SEED));
  }

  private static List<Subject> recorded(Path folder) {
    List<Subject> subjects = new ArrayList<>();
    for (TestCase test : TestCase.find(folder)) {
      String path = folder.relativize(Path.of(test.name())).toString();
      int slash = path.indexOf('/');
      String family = slash < 0 ? path : path.substring(0, slash);
      String name = path.substring(slash + 1);
      subjects.add(
          new Subject("models of exporters", family, name, test.model(), () -> load(test, path)));
    }
    return subjects;
  }

  /** Loads a recorded case with other inputs. */
  private static Subject.Loaded load(TestCase test, String path) {
    List<Subject.Loaded> found = new ArrayList<>();
    ModuleRunner keeper =
        module ->
            inputs -> {
              if (found.isEmpty()) {
                found.add(
                    loaded(
                        module,
                        RECORDED_INPUTS_ONLY.contains(path) ? inputs : other(module, inputs)));
              }
              return Evaluator.run(module.graph(), inputs);
            };
    CaseResult result = new CaseRunner(keeper, StandardPasses.usual(), Tolerance.DEFAULT).run(test);
    if (found.isEmpty()) {
      throw new IllegalStateException(result.line());
    }
    return found.getFirst();
  }

  private static List<Tensor> other(Module module, List<Tensor> recorded) {
    Map<String, Tensor> named = new LinkedHashMap<>();
    module.graph().inputs().forEach(input -> named.put(input.name(), recorded.get(input.index())));
    Map<String, Tensor> other = OtherInputs.like(named, named.keySet(), SEED);
    return List.copyOf(other.values());
  }

  static Subject.Loaded loaded(Module module, List<Tensor> inputs) {
    ModelAnatomy anatomy = ModelAnatomy.of(module.graph());
    List<Long> queries = new ArrayList<>();
    long heads = 0;
    for (Node node : module.graph().nodes()) {
      if (node.op() instanceof Structured.Attention) {
        queries.add(node.operand(0).type().dim(2).value());
        heads = Math.max(heads, node.operand(0).type().dim(1).value());
      }
    }
    Stream.of(anatomy.integerAttentions(), anatomy.misses())
        .flatMap(List::stream)
        .map(candidate -> candidate.node().operand(0).type().shape())
        .forEach(scores -> queries.add(scores.fromEnd(1).value()));
    return new Subject.Loaded(module, inputs, queries, heads);
  }
}
