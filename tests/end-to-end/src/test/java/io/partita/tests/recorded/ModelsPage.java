package io.partita.tests.recorded;

import io.partita.driver.cases.CaseResult;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Writes docs/models.md from the results of all recorded models. */
final class ModelsPage {
  private static final int MAX_REASON_LENGTH = 150;

  private final StringBuilder text = new StringBuilder();

  /** A user's model, its exporter, and whether it writes its recorded text. */
  record UserModel(SurveyedModel surveyed, String exporter, String writesText) {
    private boolean isRefused() {
      return surveyed.results().values().stream()
          .anyMatch(result -> result.status() == CaseResult.Status.UNSUPPORTED);
    }

    /** The exporter without versions and variants. */
    private String tool() {
      if (exporter.startsWith("optimum")) {
        return "Optimum (TorchScript)";
      }
      if (exporter.startsWith("TS")) {
        return "torch.onnx, TorchScript";
      }
      if (exporter.startsWith("dynamo")) {
        return "torch.onnx, dynamo";
      }
      if (exporter.startsWith("onnxruntime-genai") || exporter.startsWith("genai")) {
        return "onnxruntime-genai";
      }
      return exporter.startsWith("quantize") ? "ONNX Runtime's quantisers" : "written by hand";
    }
  }

  /**
   * The cases of one ONNX operator in C.
   *
   * @param refused the refused cases by diagnostic and operation
   */
  record Operator(String name, int cases, SequencedMap<String, Integer> refused) {}

  private void line(String line) {
    text.append(line).append('\n');
  }

  private void row(Collection<String> cells) {
    line("| " + String.join(" | ", cells) + " |");
  }

  private void header(List<String> cells) {
    row(cells);
    row(cells.stream().map(cell -> "---").toList());
  }

  /** The text before the first section. */
  static String title() {
    ModelsPage page = new ModelsPage();
    page.introduction();
    return page.text.toString();
  }

  /** The sections on models of users. */
  static String ofUsers(List<UserModel> models) {
    ModelsPage page = new ModelsPage();
    page.summary(models);
    page.models(models);
    page.refusals(models);
    return page.text.toString();
  }

  /** The section on the repository's own graphs. */
  static String ofFixtures(List<SurveyedModel> fixtures) {
    ModelsPage page = new ModelsPage();
    page.fixtures(fixtures);
    return page.text.toString();
  }

  /** The section on ONNX operators in C. */
  static String ofOperators(Collection<Operator> operators) {
    ModelsPage page = new ModelsPage();
    page.operators(operators);
    return page.text.toString();
  }

  private void introduction() {
    text.append(
        """
        # Supported models

        This page lists the architectures, exporters and quantisations that work. It is generated: a test compiles and runs each
        model and compares its outputs with those recorded from ONNX Runtime. The models are small instances with random weights
        (2 to 4 layers), written by common export tools. Their names begin with the architecture.

        - *yes*: the outputs equal the recorded ones, floats within 1e-3 relative and 1e-5 absolute. Where ONNX Runtime
          rounds activations to 8 bits before products with 4-bit weights (`accuracy_level` 4), that rounding explains the difference.
        - *a number*: Partita refuses the model with that [diagnostic](diagnostics.md), which says where, why and what to do.
          `./partita explain NUMBER` explains it.
        - *WRONG*: the outputs differ. A test fails if there is any.
        - *blocks* counts the attention blocks that are recognised and compiled as such. The others are compiled node by node.
        - *text* compares the text that `partita generate` writes token by token from an empty cache with the text of
          ONNX Runtime.
        - `-`: not applicable to the model.

        To regenerate this page:

        ```sh
        mvn -q -Dtest.excluded.groups= -pl :partita-tests -am -Dsurefire.failIfNoSpecifiedTests=false -Dtest=SupportedModelsTest \\
          -Dgolden.update=true test
        ```

        To try another model, run `./partita check FOLDER` (`--target java`, `--target siracusa`, `--devices N`) on a
        folder with `network.onnx`, `inputs.npz` and `outputs.npz`, or `./partita inspect MODEL.onnx` without recorded data.

        """);
  }

  private void summary(List<UserModel> models) {
    line("## By exporter");
    line("");
    header(
        List.of(
            "exporter",
            "models",
            "evaluator",
            "all blocks raised",
            "Java",
            "Java, 2 and 3 devices",
            "C",
            "C, 2 chips",
            "text"));
    Map<String, List<UserModel>> tools =
        models.stream()
            .collect(Collectors.groupingBy(UserModel::tool, TreeMap::new, Collectors.toList()));
    tools.forEach(this::tool);
    tool("all", models);
    line("");
    long refused = models.stream().filter(UserModel::isRefused).count();
    line(refused + " of " + models.size() + " models are refused by at least one backend.");
    line("");
  }

  private void tool(String name, List<UserModel> models) {
    row(
        List.of(
            name,
            Integer.toString(models.size()),
            share(models, model -> passes(model, EnumSet.of(SurveyedBackend.EVALUATOR))),
            share(
                models.stream().filter(model -> !model.surveyed().blocks().equals("-")).toList(),
                model -> isWhole(model.surveyed().blocks())),
            share(models, model -> passes(model, EnumSet.of(SurveyedBackend.JAVA))),
            share(
                models,
                model ->
                    passes(
                        model, EnumSet.of(SurveyedBackend.JAVA_ON_2, SurveyedBackend.JAVA_ON_3))),
            share(models, model -> passes(model, EnumSet.of(SurveyedBackend.C))),
            share(models, model -> passes(model, EnumSet.of(SurveyedBackend.C_ON_2))),
            share(
                models.stream().filter(model -> !model.writesText().equals("-")).toList(),
                model -> model.writesText().equals("yes"))));
  }

  private static <T> String share(List<T> all, Predicate<T> holds) {
    return all.isEmpty() ? "-" : all.stream().filter(holds).count() + " of " + all.size();
  }

  private static boolean isWhole(String blocks) {
    String[] numbers = blocks.split(" of ");
    return numbers.length == 2 && numbers[0].equals(numbers[1]);
  }

  private static boolean passes(UserModel model, Set<SurveyedBackend> backends) {
    return backends.stream().allMatch(backend -> model.surveyed().verdict(backend).equals("yes"));
  }

  private void models(List<UserModel> models) {
    line("## Models");
    line("");
    List<String> titles = new ArrayList<>(List.of("model", "exporter", "blocks"));
    for (SurveyedBackend backend : SurveyedBackend.values()) {
      titles.add(backend.title());
    }
    titles.add("text");
    header(titles);
    for (UserModel model : models) {
      List<String> cells =
          new ArrayList<>(
              List.of(model.surveyed().name(), model.exporter(), model.surveyed().blocks()));
      for (SurveyedBackend backend : SurveyedBackend.values()) {
        cells.add(model.surveyed().verdict(backend));
      }
      cells.add(model.writesText());
      row(cells);
    }
    line("");
  }

  /** Each model's diagnostics, with the backends that give them. */
  private void refusals(List<UserModel> models) {
    line("## What is refused");
    line("");
    if (models.stream().noneMatch(UserModel::isRefused)) {
      line("None of the models above.");
      line("");
      return;
    }
    header(List.of("model", "where", "diagnostic", "what it says"));
    for (UserModel model : models) {
      Map<String, List<String>> backends = new LinkedHashMap<>();
      Map<String, String> reasons = new LinkedHashMap<>();
      model
          .surveyed()
          .results()
          .forEach(
              (backend, result) -> {
                if (result.status() != CaseResult.Status.PASS) {
                  String verdict = SurveyedModel.verdict(result);
                  backends.computeIfAbsent(verdict, any -> new ArrayList<>()).add(backend.title());
                  reasons.putIfAbsent(verdict, reason(result.detail()));
                }
              });
      backends.forEach(
          (verdict, where) ->
              row(
                  List.of(
                      model.surveyed().name(),
                      String.join("; ", where),
                      verdict,
                      reasons.get(verdict))));
    }
    line("");
  }

  private static String reason(String detail) {
    String first = detail.split("; P\\d{4} ", 2)[0].replace("|", "\\|").replace('\n', ' ');
    return first.length() <= MAX_REASON_LENGTH
        ? first
        : first.substring(0, MAX_REASON_LENGTH) + "...";
  }

  private void fixtures(List<SurveyedModel> fixtures) {
    line("## Smaller graphs of each exporter");
    line("");
    line("The repository's own [fixtures](../tests/fixtures/README.md), by folder.");
    line("");
    header(List.of("folder", "graphs", "evaluator", "Java", "C", "refused"));
    Map<String, List<SurveyedModel>> families =
        fixtures.stream()
            .collect(
                Collectors.groupingBy(
                    fixture -> fixture.test().model().getParent().getParent().getFileName() + "",
                    TreeMap::new,
                    Collectors.toList()));
    families.forEach(
        (family, members) ->
            row(
                List.of(
                    family,
                    Integer.toString(members.size()),
                    share(
                        members,
                        fixture -> fixture.verdict(SurveyedBackend.EVALUATOR).equals("yes")),
                    share(members, fixture -> fixture.verdict(SurveyedBackend.JAVA).equals("yes")),
                    share(members, fixture -> fixture.verdict(SurveyedBackend.C).equals("yes")),
                    refused(members))));
    line("");
  }

  /** Names with their numbers. */
  private static String refused(List<SurveyedModel> models) {
    return models.stream()
        .flatMap(
            model ->
                model.results().values().stream()
                    .map(SurveyedModel::verdict)
                    .filter(verdict -> !verdict.equals("yes"))
                    .distinct()
                    .map(verdict -> model.name() + " " + verdict))
        .collect(Collectors.joining(", "));
  }

  private void operators(Collection<Operator> operators) {
    Function<Operator, String> name = operator -> "`" + operator.name() + "`";
    line("## ONNX operators in C");
    line("");
    line("ONNX's own node tests, run as C on this host. The evaluator and Java pass all of them.");
    line("C passes all tests of these operators:");
    line("");
    line(
        operators.stream()
                .filter(operator -> operator.refused().isEmpty())
                .map(name)
                .collect(Collectors.joining(", "))
            + ".");
    line("");
    if (operators.stream().allMatch(operator -> operator.refused().isEmpty())) {
      line("It refuses none of the cases.");
      return;
    }
    line("It refuses some cases of these operators:");
    line("");
    header(List.of("operator", "cases", "refused, with the diagnostic and the operation"));
    for (Operator operator : operators) {
      if (!operator.refused().isEmpty()) {
        row(
            List.of(
                name.apply(operator),
                Integer.toString(operator.cases()),
                operator.refused().entrySet().stream()
                    .map(entry -> entry.getValue() + " (" + entry.getKey() + ")")
                    .collect(Collectors.joining(", "))));
      }
    }
  }
}
