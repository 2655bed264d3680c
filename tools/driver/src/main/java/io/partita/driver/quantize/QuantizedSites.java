package io.partita.driver.quantize;

import io.partita.frontend.onnx.quantize.AttentionSite;
import io.partita.frontend.onnx.quantize.FunctionSite;
import io.partita.frontend.onnx.quantize.Product;
import io.partita.frontend.onnx.quantize.QuantizableModel;
import io.partita.frontend.onnx.quantize.QuantizeCode;
import io.partita.frontend.onnx.quantize.ResidualSite;
import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.type.Divisors;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a request quantizes of a model. */
record QuantizedSites(
    List<Product> products,
    List<AttentionSite> attentions,
    List<FunctionSite> functions,
    List<ResidualSite> residuals) {
  /** The prefixes of the outputs that show inputs and results. */
  static final String INPUT = "partita.input.";

  static final String RESULT = "partita.result.";

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode} if the model has
   *     nothing of what the request names
   */
  static QuantizedSites of(QuantizableModel model, Quantization.Request request) {
    Quantization.Settings settings = request.settings();
    String where = request.model().model().toString();
    requireNames(model, settings.excluded());
    List<Product> products = products(model, where, settings.excluded());
    if (settings.weightBits() < 8) {
      requireGroups(products, settings.group());
    }
    return new QuantizedSites(
        products,
        settings.attention() ? attentions(model, where, settings.excluded()) : List.of(),
        settings.functions() ? functions(model, products, where, settings.excluded()) : List.of(),
        settings.residual() ? residuals(model, where, settings.excluded()) : List.of());
  }

  /** Returns the values whose ranges are measured. */
  List<String> inputs() {
    return Stream.of(
            products.stream().map(Product::input),
            attentions.stream()
                .flatMap(site -> site.measured().stream())
                .map(AttentionSite.Use::value),
            functions.stream().map(FunctionSite::input),
            residuals.stream().map(ResidualSite::output))
        .flatMap(all -> all)
        .distinct()
        .toList();
  }

  /** Returns the outputs of caches that may become integers. */
  Set<String> caches() {
    return attentions.stream()
        .flatMap(site -> site.measured().stream())
        .flatMap(use -> use.cache().stream())
        .map(AttentionSite.Cache::present)
        .collect(Collectors.toSet());
  }

  /** Returns the values whose errors are measured, by the names of the outputs that show them. */
  SequencedMap<String, String> results() {
    SequencedMap<String, String> shown = new LinkedHashMap<>();
    products.forEach(product -> shown.put(RESULT + product.name(), product.output()));
    attentions.forEach(site -> shown.put(RESULT + site.name(), site.output()));
    functions.forEach(site -> shown.put(RESULT + site.name(), site.output()));
    residuals.forEach(site -> shown.put(RESULT + site.name(), site.output()));
    return shown;
  }

  private static void requireNames(QuantizableModel model, List<String> excluded) {
    List<String> names =
        Stream.of(
                model.products().stream().map(Product::name),
                model.attentions().stream().map(AttentionSite::name),
                model.functions().stream().map(FunctionSite::name),
                model.residuals().stream().map(ResidualSite::name))
            .flatMap(all -> all)
            .toList();
    for (String name : excluded) {
      if (!names.contains(name)) {
        throw QuantizeCode.LAYER.at(
            "--float " + name,
            "the name of a MatMul or Gemm with a trained matrix, of an attention's second product,"
                + " of the last node of an activation function, or of a sum with a skip connection",
            name,
            NearestName.of(name, names)
                .map(near -> NearestName.suggestion("--float " + near))
                .orElse("these are " + String.join(", ", names)));
      }
    }
  }

  private static List<Product> products(
      QuantizableModel model, String where, List<String> excluded) {
    List<Product> chosen =
        model.products().stream().filter(product -> !excluded.contains(product.name())).toList();
    if (chosen.isEmpty()) {
      throw QuantizeCode.NO_PRODUCT.at(
          where, "a product to quantize", "--float for each of them", "leave a --float out");
    }
    chosen.forEach(model::requireFinite);
    return chosen;
  }

  private static List<AttentionSite> attentions(
      QuantizableModel model, String where, List<String> excluded) {
    List<AttentionSite> all = model.attentions();
    if (all.isEmpty()) {
      throw QuantizeCode.NO_ATTENTION.at(
          where,
          "the products and the softmax of an attention as nodes of the main graph, and keys and"
              + " values of the past, if there are any, in caches",
          "none",
          "export the model without fused attention, or leave out --attention int8");
    }
    List<AttentionSite> chosen =
        all.stream().filter(site -> !excluded.contains(site.name())).toList();
    if (chosen.isEmpty()) {
      throw QuantizeCode.NO_ATTENTION.at(
          where,
          "an attention to quantize",
          "--float for each of them",
          "leave out --attention int8, or a --float");
    }
    return chosen;
  }

  /** Returns the functions of products that are quantized. */
  private static List<FunctionSite> functions(
      QuantizableModel model, List<Product> products, String where, List<String> excluded) {
    List<FunctionSite> functions =
        model.functions().stream()
            .filter(site -> products.contains(site.source()) && !excluded.contains(site.name()))
            .toList();
    if (functions.isEmpty()) {
      throw QuantizeCode.NO_FUNCTION.at(
          where,
          "an activation function other than ReLU between two quantized products",
          excluded.isEmpty() ? "none" : "none that --float leaves",
          "leave out --functions int8");
    }
    return functions;
  }

  private static List<ResidualSite> residuals(
      QuantizableModel model, String where, List<String> excluded) {
    List<ResidualSite> residuals =
        model.residuals().stream().filter(site -> !excluded.contains(site.name())).toList();
    if (residuals.isEmpty()) {
      throw QuantizeCode.NO_RESIDUAL.at(
          where,
          "an Add of the result of a product and a value that isn't trained",
          excluded.isEmpty() ? "none" : "none that --float leaves",
          "leave out --residual int8");
    }
    return residuals;
  }

  private static void requireGroups(List<Product> products, int group) {
    long common = products.stream().mapToLong(Product::inner).reduce(0, Divisors::greatestCommon);
    for (Product product : products) {
      if (product.inner() % group != 0) {
        throw QuantizeCode.GROUPS.at(
            "product \"" + product.name() + "\", weight \"" + product.weight() + "\"",
            "rows in groups of " + group,
            product.inner() + " rows",
            "choose --group from the divisors of "
                + common
                + ", the greatest number that divides the rows of all matrices, or leave the product float with --float "
                + product.name());
      }
    }
  }
}
