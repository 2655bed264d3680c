package io.partita.backend.java.code;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.MethodSpec;
import io.partita.backend.java.JavaOptions;
import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.Storage;
import io.partita.backend.java.plan.WeightsPlan;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.lang.model.element.Modifier;

/** The code that opens the weights file: memory-mapped, in segments that a buffer can address. */
final class WeightCode {
  /** The most constants that one method reads. */
  private static final int READS = 50;

  private final ModulePlan plan;
  private final JavaOptions options;
  private final Kernels kernels;

  private final Optional<RoleCode> role;
  private final Optional<ChunkCode> chunk;

  WeightCode(
      ModulePlan plan,
      JavaOptions options,
      Kernels kernels,
      Optional<RoleCode> role,
      Optional<ChunkCode> chunk) {
    this.role = role;
    this.chunk = chunk;
    this.plan = plan;
    this.options = options;
    this.kernels = kernels;
  }

  List<FieldSpec> constants() {
    List<FieldSpec> constants = new ArrayList<>();
    if (role.isEmpty()) {
      constants.add(
          FieldSpec.builder(
                  ClassName.get(String.class),
                  "WEIGHTS_FILE",
                  Modifier.PUBLIC,
                  Modifier.STATIC,
                  Modifier.FINAL)
              .addJavadoc("The name of the weights file.\n")
              .initializer("$S", options.weightsFile())
              .build());
    }
    constants.add(
        FieldSpec.builder(
                Types.of("long"),
                "WEIGHTS_BYTES",
                Modifier.PRIVATE,
                Modifier.STATIC,
                Modifier.FINAL)
            .initializer("$LL", plan.weights().bytes())
            .build());
    constants.add(
        FieldSpec.builder(
                Types.of("int"),
                "CHECKSUM_BYTES",
                Modifier.PRIVATE,
                Modifier.STATIC,
                Modifier.FINAL)
            .initializer("$L", WeightsPlan.CHECKSUM_BYTES)
            .build());
    return constants;
  }

  List<FieldSpec> fields() {
    List<FieldSpec> fields = new ArrayList<>();
    for (Storage storage : storagesRead()) {
      fields.add(
          FieldSpec.builder(
                  Types.of(buffer(storage) + "[]"),
                  storage.primitive() + "Segments",
                  Modifier.PRIVATE,
                  Modifier.FINAL)
              .build());
    }
    return fields;
  }

  private static String buffer(Storage storage) {
    return switch (storage) {
      case FLOATS -> "FloatBuffer";
      case DOUBLES -> "DoubleBuffer";
      case LONGS -> "LongBuffer";
      case INTS -> "IntBuffer";
      case SHORTS -> "ShortBuffer";
      case BYTES, BOOLEANS -> "ByteBuffer";
    };
  }

  /** The constructor and its methods; must be made before the kernels are printed. */
  List<MethodSpec> opening() {
    List<MethodSpec> reads = constantReads(plan, kernels);
    Set<Storage> read = storagesRead();
    List<MethodSpec> methods = new ArrayList<>();
    methods.add(constructor(read, reads));
    if (role.isEmpty()) {
      methods.add(open());
    }
    methods.addAll(reads);
    return methods;
  }

  /** The storages that are read from the weights file. */
  private Set<Storage> storagesRead() {
    Set<Storage> read = EnumSet.noneOf(Storage.class);
    for (Kernels.Used used : kernels.all()) {
      for (Storage storage : Storage.values()) {
        if (used.kernel().body().contains(storage.primitive() + "Segments")) {
          read.add(storage);
        }
      }
    }
    return read;
  }

  private MethodSpec constructor(Set<Storage> read, List<MethodSpec> reads) {
    MethodSpec.Builder constructor =
        MethodSpec.constructorBuilder()
            .addJavadoc(
                "Maps the weights file that was written with this class, and verifies"
                    + " its checksum\n(CRC-32C, the last four bytes).\n")
            .addParameter(Types.of("Path"), "weights")
            .addException(Body.classNamed("IOException"));
    Body body = new Body();
    role.ifPresentOrElse(
        code -> code.construct(constructor, body), () -> constructor.addModifiers(Modifier.PUBLIC));
    body.open("try (FileChannel file = FileChannel.open(weights))");
    body.open("if (file.size() != WEIGHTS_BYTES + CHECKSUM_BYTES)");
    body.line(
        "throw new IOException(weights + \" has \" + file.size() + \" bytes, not \" +"
            + " (WEIGHTS_BYTES + CHECKSUM_BYTES))");
    body.close();
    segments(body, read);
    body.line(
        "ByteBuffer expected = ByteBuffer.allocate(CHECKSUM_BYTES).order(ByteOrder.LITTLE_ENDIAN)");
    body.line("file.read(expected, WEIGHTS_BYTES)");
    body.open("if (expected.getInt(0) != (int) checksum.getValue())");
    body.line("throw new IOException(weights + \" is damaged: its checksum doesn't match\")");
    body.close();
    body.close();
    reads.forEach(method -> body.line(method.name() + "()"));
    chunk.ifPresent(code -> body.line(code.construction()));
    return constructor.addCode(body.build()).build();
  }

  private static void segments(Body body, Set<Storage> read) {
    long segment = 1L << WeightKernels.SEGMENT_BITS;
    body.line("CRC32C checksum = new CRC32C()");
    body.line(
        "int count = (int) (WEIGHTS_BYTES + "
            + (segment - 1)
            + "L >> "
            + WeightKernels.SEGMENT_BITS
            + ")");
    for (Storage storage : read) {
      body.line("%sSegments = new %s[count]".formatted(storage.primitive(), buffer(storage)));
    }
    body.open(LoopNest.loop("i", "count"));
    body.line("long start = (long) i << " + WeightKernels.SEGMENT_BITS);
    body.line("long size = Math.min(WEIGHTS_BYTES - start, " + segment + "L)");
    body.line(
        "ByteBuffer bytes = file.map(FileChannel.MapMode.READ_ONLY, start, size)"
            + ".order(ByteOrder.LITTLE_ENDIAN)");
    body.line("checksum.update(bytes.duplicate())");
    for (Storage storage : read) {
      boolean isBytes = buffer(storage).equals("ByteBuffer");
      String view = isBytes ? "bytes" : "bytes.as" + buffer(storage) + "()";
      body.line("%sSegments[i] = %s".formatted(storage.primitive(), view));
    }
    body.close();
  }

  private MethodSpec open() {
    ClassName self = ClassName.get(options.packageName(), options.className());
    return MethodSpec.methodBuilder("open")
        .addModifiers(Modifier.PUBLIC, Modifier.STATIC)
        .addJavadoc("Opens the program from the folder of its weights file.\n")
        .addParameter(Types.of("Path"), "folder")
        .addException(Body.classNamed("IOException"))
        .returns(self)
        .addStatement("return new $T(folder.resolve(WEIGHTS_FILE))", self)
        .build();
  }

  /** The methods that read the constants of a plan, using kernels. */
  static List<MethodSpec> constantReads(ModulePlan plan, Kernels kernels) {
    List<ModulePlan.HeapConstant> constants =
        plan.heapConstants().stream().filter(c -> c.entry().data().size() > 0).toList();
    List<MethodSpec> methods = new ArrayList<>();
    for (int from = 0; from < constants.size(); from += READS) {
      Body body = new Body();
      for (ModulePlan.HeapConstant constant :
          constants.subList(from, Math.min(constants.size(), from + READS))) {
        Storage storage = Storage.of(constant.entry().data().element());
        body.line(
            "%s(%sL, %s, 0, %s)"
                .formatted(
                    kernels.use(WeightKernels.reader(storage)),
                    constant.entry().position() / storage.bytes(),
                    constant.field(),
                    constant.entry().data().size()));
      }
      methods.add(
          MethodSpec.methodBuilder("readConstants" + (from == 0 ? "" : from / READS + 1))
              .addModifiers(Modifier.PRIVATE)
              .addCode(body.build())
              .build());
    }
    return methods;
  }
}
