package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import java.util.List;
import java.util.Map;

/**
 * The context of nodes that are imported together: the main graph, a subgraph, or a call of a
 * model-local function.
 *
 * @param names the names in scope
 * @param operatorSets versions by domain
 * @param attributes the attributes of the enclosing function call, for references
 * @param declared the declared types of values, by name
 * @param calls the enclosing functions, outermost first
 * @param prefix the prefix of node names: the enclosing calls, each with a trailing slash
 */
record Frame(
    NameScope names,
    Map<String, Integer> operatorSets,
    Map<String, AttributeProto> attributes,
    Map<String, TypeProto> declared,
    List<FunctionKey> calls,
    String prefix) {
  /** The key by which a node calls a model-local function. */
  record FunctionKey(String domain, String name, String overload) {
    @Override
    public String toString() {
      return Domains.display(domain) + "." + name + (overload.isEmpty() ? "" : ":" + overload);
    }
  }

  Frame inside(NameScope inner, Map<String, TypeProto> types) {
    return new Frame(inner, operatorSets, attributes, types, calls, prefix);
  }
}
