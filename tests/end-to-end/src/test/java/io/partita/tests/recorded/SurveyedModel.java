package io.partita.tests.recorded;

import io.partita.driver.StandardPasses;
import io.partita.driver.cases.CaseResult;
import io.partita.driver.cases.CaseRunner;
import io.partita.driver.cases.EvaluatorRunner;
import io.partita.driver.cases.TestCase;
import io.partita.driver.cases.Tolerance;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.passes.Pipeline;
import io.partita.passes.graph.anatomy.ModelAnatomy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A recorded model and its results on several backends.
 *
 * @param blocks such as {@code 2 of 2}; {@code -} if there are none, or if the model can't be
 *     imported
 */
record SurveyedModel(TestCase test, String blocks, Map<SurveyedBackend, CaseResult> results) {
  static SurveyedModel of(TestCase test, Tolerance tolerance) {
    Map<SurveyedBackend, CaseResult> results = new EnumMap<>(SurveyedBackend.class);
    for (SurveyedBackend backend : SurveyedBackend.values()) {
      results.put(backend, backend.cases(tolerance).run(test));
    }
    return new SurveyedModel(test, blocksOf(test), results);
  }

  /** The folder's name. */
  String name() {
    return Path.of(test.name()).getFileName().toString();
  }

  /** The number of a model's blocks that are raised with the recorded sizes. */
  static String blocksOf(TestCase test) {
    List<Module> imported = new ArrayList<>();
    new CaseRunner(
            module -> {
              imported.add(module);
              return new EvaluatorRunner().prepare(module);
            },
            new Pipeline(List.of()),
            Tolerance.DEFAULT)
        .run(test);
    if (imported.isEmpty()) {
      return "-";
    }
    try {
      Module raised = StandardPasses.usual().run(imported.getFirst(), (pass, before, after) -> {});
      ModelAnatomy anatomy = ModelAnatomy.of(imported.getFirst().graph(), raised.graph());
      long found = anatomy.completeBlocks() + anatomy.integerAttentions().size();
      return anatomy.candidates() == 0 ? "-" : found + " of " + anatomy.candidates();
    } catch (PartitaException refused) {
      return "-";
    }
  }

  /** {@code yes}, {@code WRONG}, or the first diagnostic's number. */
  static String verdict(CaseResult result) {
    return switch (result.status()) {
      case PASS -> "yes";
      case FAIL -> "WRONG";
      case UNSUPPORTED -> result.codes().getFirst();
    };
  }

  String verdict(SurveyedBackend backend) {
    return verdict(results.get(backend));
  }
}
