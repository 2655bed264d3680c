package io.partita.tests.hostile;

import static io.partita.tests.hostile.Onnx.FLOAT;
import static io.partita.tests.hostile.Onnx.INT64;
import static io.partita.tests.hostile.Onnx.branch;
import static io.partita.tests.hostile.Onnx.call;
import static io.partita.tests.hostile.Onnx.function;
import static io.partita.tests.hostile.Onnx.graph;
import static io.partita.tests.hostile.Onnx.integer;
import static io.partita.tests.hostile.Onnx.integers;
import static io.partita.tests.hostile.Onnx.longs;
import static io.partita.tests.hostile.Onnx.model;
import static io.partita.tests.hostile.Onnx.node;
import static io.partita.tests.hostile.Onnx.opset;
import static io.partita.tests.hostile.Onnx.raw;
import static io.partita.tests.hostile.Onnx.real;
import static io.partita.tests.hostile.Onnx.subgraph;
import static io.partita.tests.hostile.Onnx.text;
import static io.partita.tests.hostile.Onnx.value;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ModelProto;
import ai.onnx.proto.OnnxMl.NodeProto;
import ai.onnx.proto.OnnxMl.TensorProto;
import java.util.LinkedHashMap;
import java.util.Map;

/** Models that can't be compiled, each for one reason. */
final class HostileModels {
  /** It is valid with some sizes. */
  static final String POLYNOMIALS = "polynomials that explode";

  private static final long TERA = 1_000_000_000_000L;

  private final Map<String, ModelProto.Builder> models = new LinkedHashMap<>();

  private HostileModels() {}

  /** Returns the models by their error. */
  static Map<String, ModelProto.Builder> all() {
    HostileModels all = new HostileModels();
    all.names();
    all.headers();
    all.tensors();
    all.externalData();
    all.shapes();
    all.bombs();
    all.nodes();
    all.scales();
    all.cache();
    all.nesting();
    return all.models;
  }

  private void add(String name, GraphProto.Builder graph) {
    models.put(name, model(graph));
  }

  private static NodeProto.Builder relu() {
    return node("Relu", "x->y");
  }

  private void names() {
    add("a cycle", graph(node("Add", "x,b->y"), node("Relu", "c->b"), node("Neg", "b->c")));
    add("a node that reads itself", graph(node("Add", "x,y->y").setName("self")));
    add("an output name given twice", graph(relu(), node("Neg", "x->y")));
    add("an output named as an input", graph(node("Neg", "x->x"), relu()));
    add("an input given twice", graph(relu()).addInput(value("x", FLOAT, 2, 3)));
    add("a graph output given twice", graph(relu()).addOutput(value("y", FLOAT)));
    add(
        "an initializer given twice",
        graph(node("Add", "x,w->y")).addInitializer(real("w", 1)).addInitializer(real("w", 2)));
    add("an output that nothing gives", graph(node("Relu", "x->z")));
    add("an operand that nothing gives", graph(node("Add", "x,nobody->y")));
    add("a name in other letters", graph(node("Add", "x,größe→№\u202e->y").setName("節点")));
    add("an endless name", graph(node("Nothing", "x->y").setName("n".repeat(1_000_000))));
  }

  private void headers() {
    models.put("no operator set", model(graph(relu())).clearOpsetImport());
    models.put("operator set 0", model(graph(relu())).setOpsetImport(0, opset("", 0)));
    models.put("operator set 99", model(graph(relu())).setOpsetImport(0, opset("", 99)));
    models.put("a negative operator set", model(graph(relu())).setOpsetImport(0, opset("", -1)));
    models.put("no graph", ModelProto.newBuilder().setIrVersion(8).addOpsetImport(opset("", 18)));
  }

  private void tensors() {
    NodeProto.Builder add = node("Add", "x,w->y");
    add("raw data of too few bytes", graph(add).addInitializer(raw("w", FLOAT, 23, 2, 3)));
    add("raw data of too many bytes", graph(add).addInitializer(raw("w", FLOAT, 28, 2, 3)));
    add("raw data of nine nibbles", graph(add).addInitializer(raw("w", 22, 4, 3, 3)));
    add("too few typed numbers", graph(add).addInitializer(real("w", 1).addDims(6)));
    add("a negative extent of a tensor", graph(add).addInitializer(raw("w", FLOAT, 0, -2, 3)));
    add(
        "a tensor of 2^64 elements",
        graph(add).addInitializer(raw("w", FLOAT, 0, 1L << 32, 1L << 32)));
    add("a tensor of strings", graph(add).addInitializer(raw("w", 8, 0, 0)));
    add("a tensor of an unknown type", graph(add).addInitializer(raw("w", 99, 0, 0)));
    TensorProto.Builder deep = raw("w", FLOAT, 4);
    for (int i = 0; i < 100; i++) {
      deep.addDims(1);
    }
    add("a tensor of 100 dimensions", graph(add).addInitializer(deep));
  }

  private void externalData() {
    NodeProto.Builder add = node("Add", "x,w->y");
    external("data above the folder", add, "location", "../secret");
    external("data above the folder, behind a folder", add, "location", "inner/../../secret");
    external("data at an absolute path", add, "location", "/etc/passwd");
    external("data behind a link out of the folder", add, "location", "link");
    external("data in a folder", add, "location", "inner");
    external("data that isn't there", add, "location", "nothing.bin");
    external("data without a location", add, "offset", "0");
    external("data with a zero in its name", add, "location", "a\0b");
    external("data past the end", add, "location", "data.bin", "offset", "1000");
    external("data at a negative offset", add, "location", "data.bin", "offset", "-8");
    external(
        "data at an overflowing offset", add, "location", "data.bin", "offset", "" + (-1L >>> 1));
    external("data at a word", add, "location", "data.bin", "offset", "here");
    external("data of another length", add, "location", "data.bin", "length", "20");
  }

  private void external(String name, NodeProto.Builder node, String... entries) {
    add(name, graph(node).addInitializer(Onnx.external("w", entries)));
  }

  private void shapes() {
    add("a negative extent", graph(relu()).setInput(0, value("x", FLOAT, -2, 3)));
    add("extents that overflow", graph(relu()).setInput(0, value("x", FLOAT, 1L << 40, 1L << 40)));
    add("an input of no type", graph(relu()).setInput(0, value("x", FLOAT).clearType()));
    add("an input of strings", graph(relu()).setInput(0, value("x", 8, 2)));
    add(
        "operands that don't broadcast",
        graph(node("Add", "x,w->y")).addInitializer(longs("w", 1)));
    add(
        "a reshape to other elements",
        graph(node("Reshape", "x,s->y")).addInitializer(longs("s", 7, 5)));
    add(
        "a reshape to 2^62",
        graph(node("Reshape", "x,s->y")).addInitializer(longs("s", 1L << 62, 1L << 62)));
    add("a reshape to -5", graph(node("Reshape", "x,s->y")).addInitializer(longs("s", -5)));
    add(
        "a reshape with two -1",
        graph(node("Reshape", "x,s->y")).addInitializer(longs("s", -1, -1)));
    add(
        "a shape that is computed",
        graph(node("Reshape", "x,s->y")).addInput(value("s", INT64, 2)));
  }

  private void bombs() {
    fill("a tensor of 10^24 elements", TERA, TERA);
    fill("a tensor of -1 elements", -1);
    add(
        "an expansion to 10^24 elements",
        graph(node("Expand", "x,s->y")).addInitializer(longs("s", TERA, TERA, 2, 3)));
    add(
        "tiles of 10^24 elements",
        graph(node("Tile", "x,s->y")).addInitializer(longs("s", TERA, TERA)));
    add(
        "padding of 2^62 elements",
        graph(node("Pad", "x,s->y")).addInitializer(longs("s", 0, 0, 1L << 62, 1L << 62)));
    add(
        "a range beyond all numbers",
        graph(node("Range", "a,b,c->y"))
            .addInitializer(longs("a", Long.MIN_VALUE))
            .addInitializer(longs("b", Long.MAX_VALUE))
            .addInitializer(longs("c", 1)));
    add(
        "a range of 10^12 floats",
        graph(node("Range", "a,b,c->y"))
            .addInitializer(real("a", 0))
            .addInitializer(real("b", 1e12f))
            .addInitializer(real("c", 1)));
    add(
        "a range by steps of NaN",
        graph(node("Range", "a,b,c->y"))
            .addInitializer(real("a", 0))
            .addInitializer(real("b", 1))
            .addInitializer(real("c", Float.NaN)));
    GraphProto.Builder doubling = graph();
    String last = "x";
    for (int i = 0; i < 80; i++) {
      String next = i == 79 ? "y" : "t" + i;
      doubling.addNode(node("Concat", last + "," + last + "->" + next, integer("axis", 0)));
      last = next;
    }
    add("doubling 80 times", doubling);
    add(POLYNOMIALS, polynomials());
  }

  /** Repeatedly adds the shape of x f32[a,b,c,d] to itself and multiplies it with itself. */
  private static GraphProto.Builder polynomials() {
    GraphProto.Builder graph = GraphProto.newBuilder().setName("g");
    var input = value("x", FLOAT);
    for (String symbol : new String[] {"a", "b", "c", "d"}) {
      input
          .getTypeBuilder()
          .getTensorTypeBuilder()
          .getShapeBuilder()
          .addDimBuilder()
          .setDimParam(symbol);
    }
    graph.addInput(input).addOutput(value("y", FLOAT));
    graph.addInitializer(longs("axes", 0)).addInitializer(real("one", 1));
    graph.addNode(node("Shape", "x->s"));
    graph.addNode(node("ReduceSum", "s,axes->p0"));
    for (int i = 0; i < 40; i++) {
      graph.addNode(node("Mul", "p" + i + ",p" + i + "->p" + (i + 1)));
    }
    return graph.addNode(node("Expand", "one,p40->y"));
  }

  private void fill(String name, long... extents) {
    add(name, graph(node("ConstantOfShape", "s->y")).addInitializer(longs("s", extents)));
  }

  private void nodes() {
    add("an unknown operator", graph(node("Frobnicate", "x->y").setName("f")));
    add("an unknown domain", graph(node("Relu", "x->y").setDomain("nowhere")));
    add("a node without operands", graph(node("Add", "->y")));
    add("a node without an operator", graph(node("", "x->y")));
    add("an attribute of the wrong kind", graph(node("Softmax", "x->y", text("axis", "last"))));
    add("a missing attribute", graph(node("Cast", "x->y")));
    add("an axis out of range", graph(node("Softmax", "x->y", integer("axis", 2))));
    add("a permutation with a hole", graph(node("Transpose", "x->y", integers("perm", 0, 0))));
    add("a cast to nothing", graph(node("Cast", "x->y", integer("to", 77))));
    add(
        "a split of other sizes",
        graph(node("Split", "x,s->y,z")).addInitializer(longs("s", 5, -3)));
    add("a split of too few sizes", graph(node("Split", "x,s->y,z")).addInitializer(longs("s", 2)));
    add("top 2^40", graph(node("TopK", "x,k->y,i")).addInitializer(longs("k", 1L << 40)));
    add("top -1", graph(node("TopK", "x,k->y,i")).addInitializer(longs("k", -1)));
    add(
        "an index out of range",
        graph(node("Shape", "x->s"), node("Gather", "s,i->d"), node("Expand", "x,d->y"))
            .addInitializer(longs("i", 9)));
    add("more outputs than there are", graph(node("Relu", "x->y,z")));
    add(
        "a convolution by stride 0",
        graph(node("Conv", "i,w->y", integers("strides", 0, 0)))
            .setInput(0, value("i", FLOAT, 1, 1, 4, 4))
            .addInitializer(raw("w", FLOAT, 4, 1, 1, 1, 1)));
    add(
        "a convolution in 0 groups",
        graph(node("Conv", "i,w->y", integer("group", 0)))
            .setInput(0, value("i", FLOAT, 1, 1, 4, 4))
            .addInitializer(raw("w", FLOAT, 4, 1, 1, 1, 1)));
    add("an equation of nonsense", graph(node("Einsum", "x->y", text("equation", "…->$"))));
    add(
        "depth to space by blocks of 0",
        graph(node("DepthToSpace", "i->y", integer("blocksize", 0)))
            .setInput(0, value("i", FLOAT, 1, 4, 2, 2)));
  }

  /** Past keys of 6 positions and past values of 32, which don't fit. */
  private void cache() {
    GraphProto.Builder graph =
        graph(
            node(
                    "GroupQueryAttention",
                    "q,q,q,k,v,l,n->y,a,b",
                    integer("num_heads", 1),
                    integer("kv_num_heads", 1))
                .setDomain("com.microsoft"));
    graph.setInput(0, value("q", FLOAT, 2, 1, 8)).addInput(value("k", FLOAT, 2, 1, 6, 8));
    graph.addInput(value("v", FLOAT, 2, 1, 32, 8));
    graph.addInput(value("l", 6, 2));
    graph.addInitializer(TensorProto.newBuilder().setName("n").setDataType(6).addInt32Data(3));
    add("a cache with more values than keys", graph);
  }

  private void scales() {
    for (float scale : new float[] {Float.NaN, 0, -1}) {
      add(
          "quantising by a scale of " + scale,
          graph(node("QuantizeLinear", "x,s,z->y"))
              .addInitializer(real("s", scale))
              .addInitializer(raw("z", 3, 1)));
    }
    add(
        "dequantising by a scale of NaN",
        graph(node("DequantizeLinear", "q,s->y"))
            .addInitializer(raw("q", 3, 6, 2, 3))
            .addInitializer(real("s", Float.NaN)));
  }

  private void nesting() {
    add("a condition without branches", graph(node("If", "c->y")).addInput(value("c", 9)));
    add("a condition that is a float", graph(choice("x", branch("x"), branch("x"))));
    models.put(
        "a function that calls itself",
        model(graph(call("f", "x->y")))
            .addOpsetImport(opset("local", 1))
            .addFunctions(function("f", call("f", "a->b"))));
    models.put(
        "functions that call one another",
        model(graph(call("f", "x->y")))
            .addOpsetImport(opset("local", 1))
            .addFunctions(function("f", call("g", "a->b")))
            .addFunctions(function("g", call("f", "a->b"))));
  }

  private static NodeProto.Builder choice(
      String condition, GraphProto.Builder then, GraphProto.Builder otherwise) {
    return node(
        "If", condition + "->y", subgraph("then_branch", then), subgraph("else_branch", otherwise));
  }
}
