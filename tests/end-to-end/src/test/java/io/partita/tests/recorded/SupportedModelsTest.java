package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;

import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.TestCase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every recorded model gives the recorded results on every backend, or is refused as stated in
 * docs/models.md; {@code -Dgolden.update=true} regenerates that page.
 */
@Order(1)
class SupportedModelsTest {
  private static final Path PAGE = Path.of("../../docs/models.md");

  private static final String MODELS = "## Models";

  private static final List<String> SECTIONS =
      List.of(
          "## By exporter",
          MODELS,
          "## What is refused",
          "## Smaller graphs of each exporter",
          "## ONNX operators in C");

  /** One model in so many is tried by the thorough tests. */
  private static final int SAMPLED = 6;

  /** The time limit for graphs in the evaluator, in seconds. */
  private static final int QUICK = 300;

  /** The number of networks per C program; each is as long as a hundred operators. */
  private static final int NETWORKS_AT_ONCE = 16;

  /** The evaluator on all users' models: which ones can be imported and are right. */
  @Test
  @Timeout(QUICK)
  void theEvaluatorAgreesWithTheRecordingOrThePage() throws IOException {
    Map<String, String> expected = new TreeMap<>();
    int column = 2 + List.of(SurveyedBackend.values()).indexOf(SurveyedBackend.EVALUATOR) + 1;
    for (String line : rows(sections(Files.readString(PAGE)).get(MODELS))) {
      String[] cells = line.split("\\|");
      expected.put(cells[1].strip(), cells[column + 1].strip());
    }
    Map<String, String> found = new TreeMap<>();
    for (TestCase test : UserModels.require()) {
      CaseResult result = SurveyedBackend.EVALUATOR.cases(UserModels.TOLERANCE).run(test);
      assertThat(result.status()).as(result.line()).isNotEqualTo(CaseResult.Status.FAIL);
      found.put(UserModels.folder(test).getFileName() + "", SurveyedModel.verdict(result));
    }
    assertThat(found).isEqualTo(expected);
  }

  @Test
  @Tag("thorough")
  void thePageHoldsForSomeUserModels() throws IOException {
    EmittedC.requireCompiler();
    List<TestCase> all = UserModels.require();
    List<TestCase> some =
        IntStream.iterate(0, i -> i < all.size(), i -> i + SAMPLED).mapToObj(all::get).toList();
    assertThat(rows(sections(Files.readString(PAGE)).get(MODELS)))
        .containsAll(rows(sections(ModelsPage.ofUsers(surveyed(some))).get(MODELS)));
  }

  @Test
  @Tag("exhaustive")
  void thePageListsUserModels() throws IOException {
    EmittedC.requireCompiler();
    List<ModelsPage.UserModel> models = surveyed(UserModels.require());
    verify(ModelsPage.ofUsers(models));
    assertThat(wrong(models.stream().map(ModelsPage.UserModel::surveyed).toList())).isEmpty();
  }

  private static List<ModelsPage.UserModel> surveyed(List<TestCase> tests) {
    List<ModelsPage.UserModel> models = new ArrayList<>();
    for (TestCase test : tests) {
      models.add(
          new ModelsPage.UserModel(
              SurveyedModel.of(test, UserModels.TOLERANCE),
              UserModels.exporter(test),
              UserModels.writesText(test) ? WrittenText.verdict(test, "java") : "-"));
    }
    return models;
  }

  @Test
  @Tag("thorough")
  void thePageListsFixtures() throws IOException {
    EmittedC.requireCompiler();
    List<SurveyedModel> surveyed = fixtures();
    verify(ModelsPage.ofFixtures(surveyed));
    assertThat(wrong(surveyed)).isEmpty();
  }

  @Test
  @Tag("thorough")
  void thePageListsOperatorsInC() throws IOException {
    EmittedC.requireCompiler();
    verify(ModelsPage.ofOperators(operators()));
  }

  /** Updates sections of the page if requested, else compares their verdicts with it. */
  private static void verify(String sections) throws IOException {
    if (Boolean.getBoolean("golden.update")) {
      Map<String, String> all = new LinkedHashMap<>();
      SECTIONS.forEach(name -> all.put(name, ""));
      if (Files.exists(PAGE)) {
        all.putAll(sections(Files.readString(PAGE)));
      }
      all.putAll(sections(sections));
      all.keySet().retainAll(SECTIONS);
      Files.writeString(PAGE, ModelsPage.title() + String.join("", all.values()));
    }
    Map<String, String> written = sections(Files.readString(PAGE));
    for (Map.Entry<String, String> section : sections(sections).entrySet()) {
      assertThat(rows(section.getValue()))
          .as("%s; -Dgolden.update=true accepts what is there now", section.getKey())
          .isEqualTo(rows(written.getOrDefault(section.getKey(), "")));
    }
    assertThat(SECTIONS).containsAll(sections(sections).keySet());
  }

  private static Map<String, String> sections(String page) {
    Map<String, String> sections = new LinkedHashMap<>();
    for (String part : ("\n" + page).split("\n(?=## )")) {
      if (part.startsWith("## ")) {
        sections.put(part.lines().findFirst().orElseThrow(), part.stripTrailing() + "\n\n");
      }
    }
    return sections;
  }

  /** Rows of tables without the texts of diagnostics, which other tests check. */
  private static List<String> rows(String section) {
    boolean isRefusals = section.startsWith("## What is refused");
    return section
        .lines()
        .filter(line -> line.startsWith("| ") && !line.startsWith("| ---"))
        .skip(1)
        .map(line -> isRefusals ? line.substring(0, line.lastIndexOf(" | ")) : line)
        .toList();
  }

  /** A test fails as long as there is one. */
  private static List<String> wrong(List<SurveyedModel> models) {
    return models.stream()
        .flatMap(model -> model.results().values().stream())
        .filter(result -> result.status() == CaseResult.Status.FAIL)
        .map(CaseResult::line)
        .toList();
  }

  private static List<SurveyedModel> fixtures() {
    Map<Path, List<TestCase>> suites =
        Fixture.all().stream()
            .map(Fixture::recorded)
            .collect(
                Collectors.groupingBy(
                    test -> folder(test).getParent(), TreeMap::new, Collectors.toList()));
    Map<Path, CaseResult> inC = new HashMap<>();
    suites.forEach(
        (suite, tests) -> {
          CasesInC run = new CasesInC(NETWORKS_AT_ONCE);
          run.run(tests);
          inC.putAll(results(suite, tests, run));
        });
    List<SurveyedModel> surveyed = new ArrayList<>();
    for (Fixture fixture : Fixture.all()) {
      Map<SurveyedBackend, CaseResult> results = new EnumMap<>(SurveyedBackend.class);
      CaseResult passed = passed(fixture.recorded()); // FixtureTest requires it of each
      results.put(SurveyedBackend.EVALUATOR, passed);
      results.put(SurveyedBackend.JAVA, passed);
      CaseResult fromC = inC.get(fixture.folder());
      boolean isNear = fromC.status() == CaseResult.Status.FAIL; // may be within its own tolerance
      results.put(
          SurveyedBackend.C,
          isNear ? SurveyedBackend.C.cases(fixture.tolerance()).run(fixture.recorded()) : fromC);
      surveyed.add(new SurveyedModel(fixture.recorded(), "-", results));
    }
    return surveyed;
  }

  private static Collection<ModelsPage.Operator> operators() throws IOException {
    List<TestCase> cases = ConformanceInCTest.all();
    Path suite = folder(cases.getFirst()).getParent();
    Map<Path, CaseResult> inC = results(suite, cases, ConformanceInCTest.verified(cases));
    Map<String, ModelsPage.Operator> operators = new TreeMap<>();
    for (TestCase test : cases) {
      Set<String> types =
          ModelProto.parseFrom(Files.readAllBytes(test.model())).getGraph().getNodeList().stream()
              .map(NodeProto::getOpType)
              .collect(Collectors.toSet());
      if (types.size() > 1) {
        continue; // expanded functions of operators that have their own cases
      }
      for (String type : types) {
        ModelsPage.Operator known =
            operators.getOrDefault(type, new ModelsPage.Operator(type, 0, new LinkedHashMap<>()));
        CaseResult result = inC.get(folder(test));
        if (result.status() != CaseResult.Status.PASS) {
          known.refused().merge(SurveyedModel.verdict(result), 1, Integer::sum);
        }
        operators.put(type, new ModelsPage.Operator(type, known.cases() + 1, known.refused()));
      }
    }
    return operators.values();
  }

  private static Path folder(TestCase test) {
    return test.model().getParent();
  }

  /** The result of each case of one folder, with unique names, by the case's own folder. */
  private static Map<Path, CaseResult> results(Path suite, List<TestCase> cases, CasesInC run) {
    Map<Path, CaseResult> results = new HashMap<>();
    cases.forEach(test -> results.put(folder(test), passed(test)));
    run.unsupported()
        .forEach(
            (reason, names) ->
                names.forEach(name -> results.put(suite.resolve(name), refused(name, reason))));
    run.wrong().forEach(result -> results.put(Path.of(result.name()), result));
    assertThat(results.values().stream().filter(each -> each.status() == CaseResult.Status.PASS))
        .as("cases that nothing is said against")
        .hasSize(run.passed());
    return results;
  }

  private static CaseResult passed(TestCase test) {
    return new CaseResult(test.name(), CaseResult.Status.PASS, "", List.of(), 0);
  }

  private static CaseResult refused(String name, String reason) {
    return new CaseResult(name, CaseResult.Status.UNSUPPORTED, reason, List.of(reason), 0);
  }
}
