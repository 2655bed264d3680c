package io.partita.backend.java.code;

import com.palantir.javapoet.ClassName;
import com.palantir.javapoet.FieldSpec;
import com.palantir.javapoet.JavaFile;
import com.palantir.javapoet.MethodSpec;
import com.palantir.javapoet.TypeSpec;
import io.partita.backend.java.JavaOptions;
import io.partita.backend.java.plan.MemoryPlan;
import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.ProgramPlan;
import io.partita.backend.java.plan.Storage;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.lang.model.element.Modifier;

/** Prints the whole class: its interface, the steps, and the kernels that they call. */
public final class ClassPrinter {
  private final ModulePlan plan;
  private final JavaOptions options;
  private final Kernels kernels = new Kernels();
  private final Scratch scratch = new Scratch();

  private final Optional<RoleCode> role;

  private ClassPrinter(ModulePlan plan, JavaOptions options, Optional<RoleCode> role) {
    this.plan = plan;
    this.options = options;
    this.role = role;
  }

  /** Returns the source of a program for one device. */
  public static String print(ModulePlan plan, JavaOptions options) {
    return new ClassPrinter(plan, options, Optional.empty()).print();
  }

  /** Returns the source of a role of a program for several devices. */
  public static String printRole(ProgramPlan program, int role, DeviceClasses classes) {
    ModulePlan plan = program.roles().get(role);
    RoleCode code = new RoleCode(program, plan, classes);
    return new ClassPrinter(plan, classes.roleOptions(role), Optional.of(code)).print();
  }

  private String print() {
    StepMethods steps = StepMethods.of(plan, new StepPrinter(plan, kernels, scratch));
    Optional<ChunkCode> chunk =
        plan.chunk().map(own -> new ChunkCode(own, options, kernels, scratch));
    Optional<TypeSpec> chunkType = chunk.map(ChunkCode::type);
    WeightCode weights = new WeightCode(plan, options, kernels, role, chunk);
    List<MethodSpec> opening = weights.opening();
    ClassName self = ClassName.get(options.packageName(), options.className());
    SignatureCode signature = new SignatureCode(plan.signature(), self);
    CallCode calls = new CallCode(plan, signature, steps.calls(), role.isPresent());
    TypeSpec.Builder type = TypeSpec.classBuilder(options.className()).addModifiers(Modifier.FINAL);
    if (role.isEmpty()) {
      type.addModifiers(Modifier.PUBLIC);
    }
    type.addJavadoc(ClassComment.of(plan, options, scratch, role));
    role.ifPresent(code -> type.addSuperinterface(code.device()));
    signature.constants().forEach(type::addField);
    calls.constants().forEach(type::addField);
    weights.constants().forEach(type::addField);
    role.ifPresent(code -> code.addFields(type));
    weights.fields().forEach(type::addField);
    addArrays(type);
    calls.fields().forEach(type::addField);
    chunk.ifPresent(code -> type.addField(code.field()));
    opening.forEach(type::addMethod);
    role.ifPresent(code -> code.methods().forEach(type::addMethod));
    calls.methods().forEach(type::addMethod);
    chunk.ifPresent(code -> type.addMethod(code.call()));
    signature.outputs().ifPresent(type::addType);
    chunkType.ifPresent(type::addType);
    steps.methods().forEach(type::addMethod);
    kernels.all().forEach(used -> type.addMethod(KernelPrinter.print(used)));
    return text(options, type.build());
  }

  static String text(JavaOptions options, TypeSpec type) {
    return JavaFile.builder(options.packageName(), type)
        .skipJavaLangImports(true)
        .indent("  ")
        .build()
        .toString();
  }

  /** The constants and buffers of a plan. */
  static List<FieldSpec> arrays(ModulePlan plan) {
    List<FieldSpec> fields = new ArrayList<>();
    for (ModulePlan.HeapConstant constant : plan.heapConstants()) {
      TensorType of = constant.entry().data().type();
      fields.add(
          array(Storage.of(of.element()), constant.field(), of.shape().elements())
              .addJavadoc("$L\n", Comments.javadoc(constant.entry().name() + ": " + of))
              .build());
    }
    for (MemoryPlan.Buffer buffer : plan.memory().buffers()) {
      int tenants = plan.memory().tenants(buffer);
      fields.add(
          array(buffer.storage(), buffer.field(), buffer.elements())
              .addJavadoc(
                  "Holds $L, under $L in the methods of steps.\n",
                  tenants == 1 ? "one value" : tenants + " values, one after the other",
                  tenants == 1 ? "its own name" : "their own names")
              .build());
    }
    return fields;
  }

  private void addArrays(TypeSpec.Builder type) {
    arrays(plan).forEach(type::addField);
    for (Scratch.Array array : scratch.arrays()) {
      type.addField(array(array.storage(), array.field(), array.elements()).build());
    }
    for (String real : List.of("double", "float")) {
      if (kernels.usesTile(real)) {
        type.addField(tile(real, "Tiles", "[][]", "[4][4 * 256]"));
        type.addField(tile(real, "Sums", "[][]", "[64][256]"));
      }
    }
    for (String integer : List.of("byte", "short")) {
      String tile = integer + "Tile";
      if (kernels.all().stream().anyMatch(used -> used.kernel().body().contains(tile))) {
        type.addField(tile(integer, "Tile", "[]", "[4 * 256]"));
      }
    }
  }

  private static FieldSpec tile(String primitive, String name, String dimensions, String size) {
    return FieldSpec.builder(
            Types.of(primitive + dimensions), primitive + name, Modifier.PRIVATE, Modifier.FINAL)
        .initializer("new $L$L", primitive, size)
        .build();
  }

  static FieldSpec.Builder array(Storage storage, String field, long elements) {
    return FieldSpec.builder(
            Types.of(storage.primitive() + "[]"), field, Modifier.PRIVATE, Modifier.FINAL)
        .initializer("new $L[$L]", storage.primitive(), elements);
  }

  /** The representation of 16-bit, 4-bit and unsigned elements in arrays, for callers. */
  static String note(ElementType element) {
    return switch (element) {
      case F16, BF16 -> ", as raw bits";
      case I4, U4 -> ", one element per byte";
      case U64, U32, U16, U8 -> ", as unsigned bits";
      case F64, F32, I64, I32, I16, I8, BOOL -> "";
    };
  }

  static String shapeText(TensorType type) {
    return type + note(type.element());
  }
}
