package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.TypeProto;
import java.util.List;
import java.util.Map;

/**
 * Where nodes stand that are imported together: in the main graph, a subgraph, or the body of a
 * model-local function at one of its calls.
 *
 * @param names what the nodes see
 * @param operatorSets version by domain
 * @param attributes what the call of the function around gives, for attributes by reference
 * @param declared types that the graph states for values, by name
 * @param calls the functions around, outermost first
 * @param prefix for the names of nodes: the calls around, each ending in a slash
 */
record Frame(
    NameScope names,
    Map<String, Integer> operatorSets,
    Map<String, AttributeProto> attributes,
    Map<String, TypeProto> declared,
    List<FunctionKey> calls,
    String prefix) {
  /** What a node calls a model-local function by. */
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
