package io.partita.driver;

import io.partita.frontend.onnx.Choice;
import io.partita.frontend.onnx.ImportCode;
import io.partita.frontend.onnx.ImportResult;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.eval.EvaluationCode;
import io.partita.ir.graph.Module;
import io.partita.passes.graph.state.PositionTables;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Finds the user's extents that don't fit a model that can be imported without them, and extents
 * that do.
 */
final class InvalidExtents {
  private final OnnxModel model;
  private final Map<String, String> values;
  private final ImportResult open;
  private final DecoderDimensions decoder;
  private final Map<String, Long> dims;
  private final Collection<String> given;

  /**
   * @param open the model imported without extents
   * @param dims extents by name
   * @param given the names of the extents that the user chose
   */
  InvalidExtents(
      OnnxModel model,
      Map<String, String> values,
      ImportResult open,
      DecoderDimensions decoder,
      Map<String, Long> dims,
      Collection<String> given) {
    this.model = model;
    this.values = values;
    this.open = open;
    this.decoder = decoder;
    this.dims = dims;
    this.given = new TreeSet<>(given);
    this.given.retainAll(dims.keySet());
  }

  /** The same, for a model that wasn't imported without extents yet. */
  static InvalidExtents of(OnnxModel model, Map<String, String> values, Map<String, Long> dims) {
    ImportResult open = ModelFile.examine(model, Map.of(), values);
    DecoderDimensions decoder =
        open.module()
            .map(DecoderDimensions::of)
            .orElseGet(() -> new DecoderDimensions(new TreeSet<>(), new TreeSet<>()));
    return new InvalidExtents(model, values, open, decoder, dims, dims.keySet());
  }

  /**
   * Imports the model, which fails if extents exceed the rows of a position table. If the extents
   * are at fault, the remedy names others.
   */
  ImportResult explain(ImportResult imported) {
    if (imported.module().isPresent()) {
      return missingRow(imported.module().get())
          .map(why -> imported.refused(List.of(why)))
          .orElse(imported);
    }
    if (given.isEmpty()
        || open.module().isEmpty()
        || imported.diagnostics().stream().noneMatch(InvalidExtents::isAboutExtents)) {
      return imported;
    }
    String remedy = remedy(culprits(this::isImportable));
    return imported.refused(
        imported.diagnostics().stream()
            .map(each -> isAboutExtents(each) ? with(remedy, each) : each)
            .toList());
  }

  private static Diagnostic with(String remedy, Diagnostic each) {
    return new Diagnostic(each.code(), each.where(), each.expected(), each.found(), remedy);
  }

  private Optional<Diagnostic> missingRow(Module module) {
    return PositionTables.of(module.graph())
        .missing(Map.of())
        .map(
            missing ->
                new Diagnostic(
                    EvaluationCode.INDEX_OUT_OF_RANGE,
                    "node \"" + missing.node() + "\"",
                    missing.expected(),
                    missing.found(),
                    given.isEmpty() ? "export the model again" : remedy(culprits(this::hasRows))));
  }

  private boolean hasRows(Map<String, Long> extents) {
    return ModelFile.examine(model, extents, values)
        .module()
        .filter(module -> PositionTables.of(module.graph()).missing(Map.of()).isEmpty())
        .isPresent();
  }

  private boolean isImportable(Map<String, Long> extents) {
    return ModelFile.examine(model, extents, values).module().isPresent();
  }

  private static boolean isAboutExtents(Diagnostic diagnostic) {
    return diagnostic.code() instanceof EvaluationCode
        || diagnostic.code() == ImportCode.MISFIT
        || diagnostic.code() == ImportCode.INVALID_NODE
        || diagnostic.code() == ImportCode.UNSUPPORTED_USE
        || diagnostic.code() == ImportCode.NOT_KNOWN;
  }

  /** The extent without which the model fits; all if there isn't a single one. */
  private Collection<String> culprits(Predicate<Map<String, Long>> fits) {
    for (String name : given) {
      Map<String, Long> others = new LinkedHashMap<>(dims);
      others.remove(name);
      if (fits.test(others)) {
        return List.of(name);
      }
    }
    return given;
  }

  private String remedy(Collection<String> culprits) {
    Map<String, Long> instead = new TreeMap<>();
    for (String name : culprits) {
      OptionalLong number = fitting(name, culprits);
      if (number.isEmpty()) {
        return culprits.stream()
            .map(each -> "--dim " + each + "=" + dims.get(each))
            .collect(Collectors.joining(" ", "leave ", " out"));
      }
      instead.put(name, number.getAsLong());
    }
    return instead.entrySet().stream()
        .map(each -> "--dim " + each.getKey() + "=" + each.getValue())
        .collect(Collectors.joining(" ", "choose ", ""));
  }

  private OptionalLong fitting(String name, Collection<String> culprits) {
    for (Choice choice : open.choices()) {
      if (choice.isDimension() && choice.name().equals(open.symbol(name))) {
        return OptionalLong.of(choice.number());
      }
    }
    Module look = open.module().orElseThrow();
    Map<String, Long> others = new TreeMap<>();
    dims.forEach((each, extent) -> others.put(open.symbol(each), extent));
    culprits.forEach(each -> others.remove(open.symbol(each)));
    return new DefaultExtents(look.graph(), decoder.tokens(), note -> {})
        .mostInPlaceOf(open.symbol(name), dims.get(name), others);
  }
}
