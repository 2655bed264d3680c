package io.partita.driver.quantize;

import io.partita.frontend.onnx.quantize.AttentionSite;
import io.partita.frontend.onnx.quantize.FunctionSite;
import io.partita.frontend.onnx.quantize.Product;
import io.partita.frontend.onnx.quantize.QuantizableModel;
import io.partita.frontend.onnx.quantize.QuantizeCode;
import io.partita.ir.diagnostic.NearestName;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.Stream;

/** What a request quantizes of a model. */
record QuantizedSites(
    List<Product> products, List<AttentionSite> attentions, List<FunctionSite> functions) {
  /** The prefixes of the outputs that show inputs and results. */
  static final String INPUT = "partita.input.";

  static final String RESULT = "partita.result.";

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link QuantizeCode} if the model has
   *     nothing of what the request names
   */
  static QuantizedSites of(QuantizableModel model, Quantization.Request request) {
    List<Product> products = chosen(model, request);
    if (request.settings().weightBits() < 8) {
      requireGroups(products, request.settings().group());
    }
    return new QuantizedSites(
        products, attentions(model, request), functions(model, products, request));
  }

  /** Returns the values whose ranges are measured. */
  List<String> inputs() {
    return Stream.of(
            products.stream().map(Product::input),
            attentions.stream()
                .flatMap(site -> site.measured().stream())
                .map(AttentionSite.Use::value),
            functions.stream().map(FunctionSite::input))
        .flatMap(all -> all)
        .distinct()
        .toList();
  }

  /** Returns the values whose errors are measured, by the names of the outputs that show them. */
  SequencedMap<String, String> results() {
    SequencedMap<String, String> shown = new LinkedHashMap<>();
    products.forEach(product -> shown.put(RESULT + product.name(), product.output()));
    attentions.forEach(site -> shown.put(RESULT + site.name(), site.output()));
    functions.forEach(site -> shown.put(RESULT + site.name(), site.output()));
    return shown;
  }

  private static List<Product> chosen(QuantizableModel model, Quantization.Request request) {
    List<String> names = model.products().stream().map(Product::name).toList();
    for (String excluded : request.settings().excluded()) {
      if (!names.contains(excluded)) {
        throw QuantizeCode.LAYER.at(
            "--float " + excluded,
            "the name of a MatMul or Gemm with a trained matrix",
            excluded,
            NearestName.of(excluded, names)
                .map(near -> NearestName.suggestion("--float " + near))
                .orElse("its products are " + String.join(", ", names)));
      }
    }
    List<Product> chosen =
        model.products().stream()
            .filter(product -> !request.settings().excluded().contains(product.name()))
            .toList();
    if (chosen.isEmpty()) {
      throw QuantizeCode.NO_PRODUCT.at(
          request.model().model().toString(),
          "a product to quantize",
          "--float for each of them",
          "leave a --float out");
    }
    return chosen;
  }

  private static List<AttentionSite> attentions(
      QuantizableModel model, Quantization.Request request) {
    if (!request.settings().attention()) {
      return List.of();
    }
    List<AttentionSite> attentions = model.attentions();
    if (attentions.isEmpty()) {
      throw QuantizeCode.NO_ATTENTION.at(
          request.model().model().toString(),
          "the products and the softmax of an attention as nodes of the main graph",
          "none",
          "export the model without fused attention, or leave out --attention int8");
    }
    return attentions;
  }

  /** Returns the functions of products that are quantized. */
  private static List<FunctionSite> functions(
      QuantizableModel model, List<Product> products, Quantization.Request request) {
    if (!request.settings().functions()) {
      return List.of();
    }
    List<FunctionSite> functions =
        model.functions().stream().filter(site -> products.contains(site.source())).toList();
    if (functions.isEmpty()) {
      throw QuantizeCode.NO_FUNCTION.at(
          request.model().model().toString(),
          "an activation function other than ReLU between two quantized products",
          "none",
          "leave out --functions int8");
    }
    return functions;
  }

  private static void requireGroups(List<Product> products, int group) {
    for (Product product : products) {
      if (product.inner() % group != 0) {
        throw QuantizeCode.GROUPS.at(
            "product \"" + product.name() + "\", weight \"" + product.weight() + "\"",
            "rows in groups of " + group,
            product.inner() + " rows",
            "choose --group from the divisors of "
                + product.inner()
                + ", or leave the product float with --float "
                + product.name());
      }
    }
  }
}
