package io.partita.driver;

import io.partita.frontend.onnx.Choice;
import io.partita.frontend.onnx.ImportCode;
import io.partita.frontend.onnx.ImportResult;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Says which of the extents that a user gives don't fit a model that can be imported without them,
 * and which would.
 */
final class MisfitNumbers {
  private final OnnxModel model;
  private final Map<String, String> values;
  private final ImportResult open;
  private final DecoderDimensions decoder;
  private final Map<String, Long> dims;
  private final Collection<String> given;

  /**
   * @param open the import without extents
   * @param dims extents by name
   * @param given names of those that the user chose
   */
  MisfitNumbers(
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

  /** What is wrong with the import, with other extents as the remedy where those are at fault. */
  PartitaException explain(ImportResult failed) {
    if (given.isEmpty() || failed.diagnostics().stream().noneMatch(MisfitNumbers::isAboutExtents)) {
      return new PartitaException(failed.diagnostics());
    }
    String remedy = remedy(culprits());
    List<Diagnostic> diagnostics = new ArrayList<>();
    for (Diagnostic each : failed.diagnostics()) {
      diagnostics.add(
          isAboutExtents(each)
              ? new Diagnostic(each.code(), each.where(), each.expected(), each.found(), remedy)
              : each);
    }
    return new PartitaException(diagnostics);
  }

  private static boolean isAboutExtents(Diagnostic diagnostic) {
    return diagnostic.code() == ImportCode.MISFIT
        || diagnostic.code() == ImportCode.INVALID_NODE
        || diagnostic.code() == ImportCode.UNSUPPORTED_USE
        || diagnostic.code() == ImportCode.NOT_KNOWN;
  }

  /** The one without which the model can be imported; all where there isn't one such. */
  private Collection<String> culprits() {
    for (String name : given) {
      Map<String, Long> others = new LinkedHashMap<>(dims);
      others.remove(name);
      if (ModelFile.examine(model, others, values).module().isPresent()) {
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
    return new UsualExtents(look.graph(), decoder.tokens(), note -> {})
        .mostInPlaceOf(open.symbol(name), dims.get(name), others);
  }
}
