package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.SparseTensorProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import java.util.function.Supplier;

/** The initializers of a graph or a subgraph. */
final class Initializers {
  private final ModelImport model;

  Initializers(ModelImport model) {
    this.model = model;
  }

  /**
   * Binds their names.
   *
   * @param prefix the location of the graph
   */
  void bind(GraphProto proto, NameScope names, String prefix) {
    for (TensorProto initializer : proto.getInitializerList()) {
      String where = prefix + "initializer \"" + initializer.getName() + "\"";
      bind(names, initializer.getName(), where, () -> model.tensors().read(where, initializer));
    }
    for (SparseTensorProto initializer : proto.getSparseInitializerList()) {
      String name = initializer.getValues().getName();
      String where = prefix + "sparse initializer \"" + name + "\"";
      bind(names, name, where, () -> model.tensors().read(where, initializer));
    }
  }

  private void bind(NameScope names, String name, String where, Supplier<Tensor> data) {
    if (names.isDefinedHere(name)) {
      model.report(
          new Diagnostic(
              ImportCode.DUPLICATE,
              where,
              "unique initializer names",
              "two",
              "rename one of them"));
      return;
    }
    try {
      model.builder().at(name);
      names.bind(name, model.builder().constant(data.get()));
    } catch (PartitaException failure) {
      model.report(failure);
      names.bind(name, new NameScope.Unknown());
    }
  }
}
