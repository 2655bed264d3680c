package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.AttributeProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** The attributes of a node, with references to attributes of the enclosing function resolved. */
final class Attributes {
  private Attributes() {}

  /**
   * The attributes by name, without references to attributes that the call omits and that have no
   * default.
   */
  static Map<String, AttributeProto> of(NodeProto node, Frame frame) {
    if (node.getAttributeCount() == 0) {
      return Map.of();
    }
    Map<String, AttributeProto> attributes = new LinkedHashMap<>();
    for (AttributeProto attribute : node.getAttributeList()) {
      String reference = attribute.getRefAttrName();
      if (reference.isEmpty()) {
        attributes.put(attribute.getName(), attribute);
      } else if (frame.attributes().containsKey(reference)) {
        attributes.put(attribute.getName(), frame.attributes().get(reference));
      }
    }
    return attributes;
  }

  /** Returns the attributes of a function call: those of the call, and the function's defaults. */
  static Map<String, AttributeProto> withDefaults(
      Map<String, AttributeProto> given, Iterable<AttributeProto> defaults) {
    Map<String, AttributeProto> all = new HashMap<>();
    defaults.forEach(attribute -> all.put(attribute.getName(), attribute));
    all.putAll(given);
    return all;
  }
}
