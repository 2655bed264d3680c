package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.metalium.simulator.StockCompiler;
import io.partita.backend.metalium.simulator.TtnnInstallation;
import io.partita.ir.file.EmittedFile;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.text.PirParser;
import io.partita.passes.program.localize.Localization;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compiles emitted kernels with the headers of the release that they are for, and a stock RISC-V
 * GCC: those that move data for one processor, the others for the three of a Tensix core.
 */
@Tag("thorough")
class CompiledKernelsTest {
  private static final List<String> COMMON =
      List.of(
          "-DIS_NOT_POW2_NUM_DRAM_BANKS=1",
          "-DIS_NOT_POW2_NUM_L1_BANKS=1",
          "-DNUM_DRAM_BANKS=12",
          "-DNUM_L1_BANKS=72",
          "-DPCIE_NOC_X=0",
          "-DPCIE_NOC_Y=3",
          "-DTENSIX_FIRMWARE",
          "-DLOCAL_MEM_EN=0",
          "-DROUTING_FW_ENABLED",
          "-DDISABLE_SFPLOADMACRO",
          "-DPROGRAMMABLE_CORE_TYPE=0",
          "-DARCH_WORMHOLE",
          "-DDISPATCH_MESSAGE_ADDR=4290183304",
          "-DKERNEL_BUILD",
          "-DFULL_KERNEL_NAME=\"kernel\"");

  private static final List<String> INCLUDES =
      List.of(
          "",
          "tt_metal",
          "tt_metal/hw/inc",
          "tt_metal/tt-llk/common",
          "tt_metal/tt-llk/tools/include",
          "tt_metal/hostdevcommon/api",
          "tt_metal/api",
          "tt_metal/hw/ckernels/wormhole_b0/metal/common",
          "tt_metal/hw/ckernels/wormhole_b0/metal/llk_io",
          "tt_metal/hw/ckernels/wormhole_b0/metal/llk_api",
          "tt_metal/hw/ckernels/wormhole_b0/metal/llk_api/llk_sfpu",
          "tt_metal/hw/inc/internal/tt-1xx",
          "tt_metal/hw/inc/internal/tt-1xx/wormhole",
          "tt_metal/hw/inc/internal/tt-1xx/wormhole/wormhole_b0_defines",
          "tt_metal/hw/inc/internal/tt-1xx/wormhole/noc",
          "tt_metal/tt-llk/tt_llk_wormhole_b0/common/inc",
          "tt_metal/tt-llk/tt_llk_wormhole_b0/llk_lib",
          "tt_metal/hw/firmware/src/tt-1xx");

  @TempDir Path scratch;

  /** All kernels of the modules by name; bf16 and f32 differ in those that move elements. */
  private static SortedMap<String, String> kernels(MetaliumOptions options) throws IOException {
    SortedMap<String, String> kernels = new TreeMap<>();
    for (String element : List.of("f32", "bf16")) {
      for (Program program :
          List.of(
              onOne(CentroidsTest.centroids()),
              onOne(EmittedKernelsTest.feedForward(40, element)),
              onOne(EmittedKernelsTest.feedForward(1, element)),
              onOne(EmittedKernelsTest.layerNorm(40, 72, true, element)),
              onOne(EmittedKernelsTest.layerNorm(40, 72, false, element)),
              onOne(EmittedKernelsTest.attention(1, 4, 2, 32, 96, element)),
              onOne(HostNumbersTest.masked(element)),
              onOne(functions(element)),
              onOne(EmittedKernelsTest.columns(element)),
              SeveralChipsTest.layer(element),
              PackedCodesTest.codes(element),
              Bf16MessagesTest.sums(),
              SpeculatingChipsTest.decoder(element))) {
        MetaliumBackend backend =
            new MetaliumBackend(
                TargetLibrary.find("n150:chips=" + program.devices().size()), options);
        for (EmittedFile file : backend.emit(program, Optional.empty()).files()) {
          if (file.path().startsWith("kernels/")) {
            String name = file.path().replace("kernels/", "").replace(".cpp", "");
            kernels.putIfAbsent(name, file.text());
            if (!kernels.get(name).equals(file.text())) {
              kernels.put(name + "_" + element, file.text());
            }
          }
        }
      }
    }
    return kernels;
  }

  /** The templates of kernels, each of which is compiled. */
  private static SortedSet<String> templates() throws IOException {
    SortedSet<String> names = new TreeSet<>();
    Path main = Path.of(URI.create(Templates.class.getResource("metalium.stg").toString()));
    try (Stream<Path> files = Files.list(main.getParent())) {
      for (Path file : files.filter(each -> each.toString().endsWith(".stg")).toList()) {
        Pattern name = Pattern.compile("(?m)^(\\w+_(?:reader|compute|writer))\\(");
        name.matcher(Files.readString(file)).results().forEach(each -> names.add(each.group(1)));
      }
    }
    assertThat(names).hasSizeGreaterThan(30).contains("linear_compute", "attention_writer");
    return names;
  }

  private static Program onOne(Module module) {
    return Localization.of(module, 1);
  }

  /** A module of all functions, each with a kernel of its own. */
  private static Module functions(String element) {
    List<String> nodes = new ArrayList<>();
    List<String> results = new ArrayList<>();
    for (String call :
        List.of(
            "abs(%x)",
            "exp(%x)",
            "gelu(%x)",
            "reciprocal(%x)",
            "relu(%x)",
            "sigmoid(%x)",
            "silu(%x)",
            "sqrt(%x)",
            "tanh(%x)",
            "add(%x, %z)",
            "sub(%x, %z)",
            "mul(%x, %z)",
            "div(%x, %z)",
            "max(%x, %z)",
            "min(%x, %z)",
            "round(%x)")) {
      String name = "%v" + nodes.size();
      nodes.add("    " + name + " = " + call + " : f32[32,32] \"" + nodes.size() + "\"");
      results.add(name);
    }
    String outputs =
        results.stream()
            .map(name -> "\"" + name.substring(1) + "\": f32[32,32]")
            .collect(Collectors.joining(", "));
    return PirParser.parse(
        ("pir 1\nmodule {\n  graph @functions(%x: f32[32,32], %z: f32[32,32]) -> ("
                + outputs
                + ") {\n"
                + String.join("\n", nodes)
                + "\n    return "
                + String.join(", ", results)
                + "\n  }\n}\n")
            .replace("f32", element));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.81.1", "0.77.0"})
  void kernelsCompile(String release) throws IOException, InterruptedException {
    TtnnInstallation ttnn = WithTtsim.ttnnAndStockCompiler(release);
    Path root = StockCompiler.root(ttnn, scratch.resolve("work"));
    SortedMap<String, String> kernels = kernels(new MetaliumOptions(release, WeightFormat.MODEL));
    assertThat(kernels.keySet()).contains("writer", "elementwise_tanh_compute");
    for (String template : templates()) {
      // Names of functions, and of how operands are shared, are between those of a template.
      String name = "(.*_)?" + template.replaceFirst("_(?=[a-z]+$)", "_(.*_)?") + "(_bf16)?";
      assertThat(kernels.keySet())
          .as(template + " of " + kernels.keySet())
          .anyMatch(kernel -> kernel.matches(name));
    }
    List<String> problems = new ArrayList<>();
    for (var kernel : kernels.entrySet()) {
      Path folder = Files.createDirectories(scratch.resolve(kernel.getKey()));
      Path source = Files.writeString(folder.resolve("kernel.cpp"), kernel.getValue());
      write(folder, source);
      if (kernel.getValue().contains("api/compute/")) {
        for (int processor = 0; processor < 3; processor++) {
          String name = List.of("UNPACK", "MATH", "PACK").get(processor);
          if (name.equals("MATH") && needsOtherVectors(release, kernel.getValue())) {
            continue;
          }
          problems.addAll(
              compile(
                  root,
                  folder,
                  "trisck.cc",
                  "-O3",
                  "-mcpu=tt-wh-tensix",
                  "-DPROCESSOR_INDEX=" + (2 + processor),
                  "-DCOMPILE_FOR_TRISC=" + processor,
                  "-DUCK_CHLKC_" + name));
        }
      } else {
        boolean isWriter = kernel.getKey().contains("writer");
        problems.addAll(
            compile(
                root,
                folder,
                isWriter ? "brisck.cc" : "ncrisck.cc",
                "-O2",
                "-mcpu=tt-wh",
                "-DPROCESSOR_INDEX=" + (isWriter ? 0 : 1),
                isWriter ? "-DCOMPILE_FOR_BRISC" : "-DCOMPILE_FOR_NCRISC",
                "-DNOC_INDEX=" + (isWriter ? 1 : 0),
                "-DNOC_MODE=0",
                "-DKERNEL_COMPILE_TIME_ARGS=2,4096"));
      }
    }
    assertThat(problems).isEmpty();
  }

  /**
   * The vector layer for stock compilers has the builtins that headers of the usual release use. In
   * others, the header of silu, sigmoid, tanh and the like takes further ones.
   */
  private static boolean needsOtherVectors(String release, String kernel) {
    return !release.equals(TtnnInstallation.RELEASE)
        && kernel.contains("api/compute/compute_kernel_api.h");
  }

  /** What the runtime writes beside a kernel. */
  private static void write(Path folder, Path source) throws IOException {
    String include = "void kernel_main();\n#include \"" + source + "\"\n";
    Files.createDirectories(folder.resolve("object"));
    Files.writeString(folder.resolve("defines_generated.h"), "");
    Files.writeString(folder.resolve("kernel_includes.hpp"), include);
    for (String part : List.of("unpack", "math", "pack")) {
      Files.writeString(
          folder.resolve("chlkc_" + part + ".cpp"),
          "#define TRISC_"
              + part.toUpperCase(Locale.ROOT)
              + "\n#include \"defines_generated.h\"\n"
              + include);
    }
    StringBuilder text =
        new StringBuilder(
            """
            #pragma once
            #include <cstdint>
            #if defined(UCK_CHLKC_MATH) || defined(UCK_CHLKC_PACK)
            #include "llk_defs.h"
            constexpr ckernel::MathFidelity MATH_FIDELITY = static_cast<ckernel::MathFidelity>(4);
            constexpr bool APPROX = false;
            #endif
            constexpr bool DST_ACCUM_MODE = true;
            #define DST_SYNC_MODE DstSync::SyncHalf
            """);
    for (String side : List.of("unpack", "pack")) {
      for (String name : List.of("src_format", "dst_format", "partial_face", "narrow_tile")) {
        text.append(table("uint8_t", side + "_" + name, 0));
      }
      text.append(table("uint8_t", side + "_tile_num_faces", 4));
      text.append(table("uint8_t", side + "_tile_face_r_dim", 16));
      text.append(table("uint8_t", side + "_tile_r_dim", 32));
      text.append(table("uint8_t", side + "_tile_c_dim", 32));
      text.append(table("uint16_t", side + "_tile_size", 4096));
      text.append(table("uint8_t", side + "_num_faces_r_dim", 2));
      text.append(table("uint8_t", side + "_num_faces_c_dim", 2));
    }
    Files.writeString(folder.resolve("chlkc_descriptors.h"), text);
  }

  private static String table(String type, String name, int value) {
    return "constexpr "
        + type
        + " "
        + name
        + "[32] = {"
        + String.join(", ", Collections.nCopies(32, Integer.toString(value)))
        + "};\n";
  }

  private static List<String> compile(Path root, Path folder, String main, String... options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(root.resolve("runtime/sfpi/compiler/bin/riscv-tt-elf-g++").toString());
    command.addAll(List.of(options));
    command.addAll(COMMON);
    command.addAll(List.of("-ffast-math", "-fno-exceptions", "-fno-rtti", "-I.", "-I.."));
    INCLUDES.forEach(include -> command.add("-I" + root.resolve(include)));
    command.addAll(List.of("-c", "-o", "kernel.o"));
    command.add(root.resolve("tt_metal/hw/firmware/src/tt-1xx").resolve(main).toString());
    Process process =
        new ProcessBuilder(command)
            .directory(folder.resolve("object").toFile())
            .redirectErrorStream(true)
            .start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    String kernel = folder.getFileName() + " for " + options[3] + ": ";
    return process.waitFor() == 0
        ? List.of()
        : Stream.concat(said.lines().filter(line -> line.contains("rror")), Stream.of("failed"))
            .limit(3)
            .map(line -> kernel + line)
            .toList();
  }
}
